package service

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/enginetest"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/store"
	"github.com/bir-run/bir/recorder/store/sqlite"
	"github.com/bir-run/bir/sandbox"
)

// homeVariable makes the test binary a service of its own, for the tests that
// need processes.
const homeVariable = "BIR_SERVICE_TEST_HOME"

var pool *sandbox.Pool

func TestMain(m *testing.M) {
	if home := os.Getenv(homeVariable); home != "" {
		os.Exit(serveForTest(home))
	}
	before := goleak.IgnoreCurrent()
	code := enginetest.Run(m, func(p *sandbox.Pool) { pool = p })
	for until := time.Now().Add(patience); code == 0; { // goleak's own half a second is little on a busy machine
		err := goleak.Find(before)
		if err == nil {
			break
		}
		if time.Now().After(until) {
			os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

// at opens the database of a home.
func at(home string) func(context.Context) (store.Store, error) {
	return func(ctx context.Context) (store.Store, error) {
		return sqlite.Open(ctx, filepath.Join(home, "bir.db"))
	}
}

// caller is a client of a service under test.
type caller struct {
	testing.TB
	url, token string
	client     *http.Client
}

// serving is the API over a new database, without a process around it.
func serving(t testing.TB, ev engine.Evaluator) caller {
	t.Helper()
	st, err := at(t.TempDir())(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return servingOn(t, st, ev)
}

func servingOn(t testing.TB, st store.Store, ev engine.Evaluator) caller {
	s := newServer(Config{Evaluator: ev, Version: "test"}, st, "secret")
	web := httptest.NewServer(s.handler())
	t.Cleanup(func() {
		web.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return caller{t, web.URL, s.token, web.Client()}
}

// send makes a request. Body is JSON text, or a value to encode.
func (a caller) send(method, path string, body any, more ...func(*http.Request)) (*http.Response, []byte) {
	a.Helper()
	var payload io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		payload = strings.NewReader(b)
	default:
		data, err := json.Marshal(b)
		if err != nil {
			a.Fatal(err)
		}
		payload = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(a.Context(), method, a.url+path, payload)
	if err != nil {
		a.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	for _, change := range more {
		change(req)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		a.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		a.Fatal(err)
	}
	return resp, data
}

// call wants a status and decodes the answer into out.
func (a caller) call(method, path string, body any, status int, out any) {
	a.Helper()
	resp, data := a.send(method, path, body)
	if resp.StatusCode != status {
		a.Fatalf("%s %s: %d %s, want %d", method, path, resp.StatusCode, data, status)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(data, out); err != nil {
		a.Fatalf("%s %s: %v in %s", method, path, err, data)
	}
}

// told is a problem document with the report of a check.
type told struct {
	api.Problem
	Report *CheckReport `json:"report"`
}

// refused wants a problem document with a code, and the status of that code.
func (a caller) refused(method, path string, body any, code api.Code, more ...func(*http.Request)) told {
	a.Helper()
	resp, data := a.send(method, path, body, more...)
	var doc told
	if err := json.Unmarshal(data, &doc); err != nil {
		a.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, data)
	}
	if doc.Code != code || resp.StatusCode != problems.Problem(api.Refusal{Code: code}).Status || doc.Status != resp.StatusCode ||
		doc.Title == "" || doc.Type == "" || resp.Header.Get("Content-Type") != "application/problem+json" {
		a.Errorf("%s %s: %d %s, want %s", method, path, resp.StatusCode, data, code)
	}
	return doc
}

// recordedAt is when the runs of these tests began.
var recordedAt = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

func openRun() recorder.Run {
	return recorder.Run{
		ID: recorder.NewID("run"), Framework: "mcp", Input: "Restart the device P7", StartedAt: recordedAt,
		Metadata: recorder.Metadata{Recorder: "bir", Tier: recorder.TierBound, Host: recorder.App{App: "claude-code"}},
	}
}

// rows are the two rows of a call.
func rows(index int, tool, input, output string) []recorder.Step {
	base := recorder.Step{
		CallID: recorder.NewID("call"), ToolName: "mcp__fleet__" + tool, ServerName: "fleet", UpstreamTool: tool,
		StartedAt: recordedAt,
	}
	selected, response := base, base
	selected.ID, selected.StepIndex, selected.Type, selected.ToolInput = recorder.NewID("step"), index, recorder.StepSelected, input
	response.ID, response.StepIndex, response.Type = recorder.NewID("step"), index+1, recorder.StepResponse
	response.ToolOutput, response.Status, response.DurationMS = output, recorder.StatusOK, 12.5
	return []recorder.Step{selected, response}
}

// record books a finished run: a device is looked up by the name in the prompt,
// and restarted by the id that was found.
func (a caller) record() recorder.Run {
	a.Helper()
	run := openRun()
	a.call("POST", "/recordings/runs", run, http.StatusCreated, nil)
	steps := append(
		rows(0, "find_device", `{"name":"P7"}`, enginetest.TextResult(`{"id":"dev-41","name":"P7"}`)),
		rows(2, "restart", `{"id":"dev-41"}`, enginetest.TextResult(`{"ok":true}`))...)
	for _, step := range steps {
		a.call("POST", "/recordings/runs/"+run.ID+"/steps", step, http.StatusCreated, nil)
	}
	a.call("POST", "/recordings/runs/"+run.ID+"/finish",
		recorder.Finish{Output: "P7 was restarted", FinishedAt: recordedAt.Add(time.Minute)}, http.StatusOK, nil)
	return run
}

// calculated is a scenario of such a run.
func (a caller) calculated() engine.Scenario {
	a.Helper()
	var scn engine.Scenario
	a.call("POST", "/recordings/runs/"+a.record().ID+"/calculate", nil, http.StatusOK, &scn)
	return scn
}
