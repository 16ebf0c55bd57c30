package client

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
)

// serve starts a service for the test and returns a client of it.
func serve(t *testing.T, handle http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return New(Config{BaseURL: server.URL + "/", Token: "secret", HTTP: server.Client()})
}

// TestRoutes is one piece: a table of every route.
func TestRoutes(t *testing.T) {
	body, seven := "return 1", 7
	run := recorder.Run{
		ID: "run_1", Framework: "mcp", Input: "hi", StartedAt: time.Unix(0, 0).UTC(),
		State: recorder.StateOpen, StepCount: 3, Metadata: recorder.Metadata{Recorder: "bir"},
	}
	for _, c := range []struct {
		want string // method, path and body
		call func(c *Client) error
	}{
		{`POST /recordings/runs {"id":"run_1","framework":"mcp","input":"hi","metadata":{"recorder":"bir","tier":"","host":{"app":""},"lossy":false},"startedAt":"1970-01-01T00:00:00Z"}`,
			func(c *Client) error { return c.CreateRun(t.Context(), run) }},
		{`GET /recordings/runs?cursor=c&limit=5&q=a+b%26c`, func(c *Client) error { _, _, err := c.Runs(t.Context(), "a b&c", "c", 5); return err }},
		{`GET /recordings/runs`, func(c *Client) error { _, _, err := c.Runs(t.Context(), "", "", 0); return err }},
		{`GET /recordings/runs/..%2Fx`, func(c *Client) error { _, err := c.Run(t.Context(), "../x"); return err }},
		{`PATCH /recordings/runs/run_1 {"input":"token=[redacted]"}`, func(c *Client) error {
			input := "token=abc"
			return c.PatchRun(t.Context(), "run_1", Patch{Input: &input})
		}},
		{`DELETE /recordings/runs/run_1`, func(c *Client) error { return c.DeleteRun(t.Context(), "run_1") }},
		{`POST /recordings/runs/run_1/steps {"id":"step_1","stepIndex":0,"type":"final_answer","answer":"x"}`, func(c *Client) error {
			return c.AddStep(t.Context(), "run_1", recorder.Step{ID: "step_1", Type: recorder.StepAnswer, Answer: "x"})
		}},
		{`PATCH /recordings/runs/run_1/steps/step_1 {"context":"return 1"}`, func(c *Client) error {
			return c.PatchStep(t.Context(), "run_1", "step_1", StepPatch{Context: &body})
		}},
		{`POST /recordings/runs/run_1/finish {"output":"x","finishedAt":"1970-01-01T00:00:00Z"}`, func(c *Client) error {
			return c.Finish(t.Context(), "run_1", recorder.Finish{Output: "x", FinishedAt: time.Unix(0, 0).UTC()})
		}},
		{`POST /recordings/runs/run_1/calculate`, func(c *Client) error { _, err := c.Calculate(t.Context(), "run_1", Recalculate{}); return err }},
		{`POST /recordings/runs/run_1/calculate?discardEdits=1&force=1`, func(c *Client) error {
			_, err := c.Calculate(t.Context(), "run_1", Recalculate{Force: true, DiscardEdits: true})
			return err
		}},
		{`GET /recordings/runs/run_1/scenario`, func(c *Client) error { _, err := c.ScenarioOfRun(t.Context(), "run_1"); return err }},
		{`GET /scenarios`, func(c *Client) error { _, err := c.Scenarios(t.Context()); return err }},
		{`GET /scenarios/scn_1`, func(c *Client) error { _, err := c.Scenario(t.Context(), "scn_1"); return err }},
		{`POST /scenarios/scn_1/steps/2/check {"inputLogic":"return 1"}`, func(c *Client) error {
			_, err := c.Check(t.Context(), "scn_1", 2, Change{InputLogic: &body})
			return err
		}},
		{`PATCH /scenarios/scn_1/steps/2 {"force":true,"note":"n","expectedRevision":7,"outputLogic":"return 1","freeze":true}`, func(c *Client) error {
			_, err := c.Edit(t.Context(), "scn_1", 2, Change{Consent: Consent{Force: true, Note: "n", ExpectedRevision: &seven}, OutputLogic: &body, Freeze: true})
			return err
		}},
		{`GET /scenarios/scn_1/edits`, func(c *Client) error { _, err := c.Edits(t.Context(), "scn_1"); return err }},
		{`POST /scenarios/scn_1/edits/sedit_1/revert {"note":"n"}`, func(c *Client) error {
			_, err := c.Revert(t.Context(), "scn_1", RevertTarget{Edit: "sedit_1"}, Consent{Note: "n"})
			return err
		}},
		{`POST /scenarios/scn_1/edits/latest/revert?step=2 {}`, func(c *Client) error {
			_, err := c.Revert(t.Context(), "scn_1", RevertTarget{Step: 2}, Consent{})
			return err
		}},
		{`GET /healthz`, func(c *Client) error { _, err := c.Health(t.Context()); return err }},
		{`POST /shutdown`, func(c *Client) error { return c.Shutdown(t.Context()) }},
	} {
		t.Run(c.want, func(t *testing.T) {
			var got string
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
				if r.Header.Get("Authorization") != "Bearer secret" {
					t.Error("the request carries no token")
				}
				io.WriteString(w, `{}`)
			})
			if err := c.call(client); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnswersAreDecoded(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/recordings/runs":
			io.WriteString(w, `{"runs":[{"id":"run_1"}],"nextCursor":"n"}`)
		case "/recordings/runs/run_1":
			io.WriteString(w, `{"run":{"id":"run_1"},"steps":[{"id":"step_1","toolOutput":"1.0"}]}`)
		default:
			io.WriteString(w, `{"n":9007199254740993}`)
		}
	})
	runs, next, err := c.Runs(t.Context(), "", "", 0)
	if err != nil || next != "n" || len(runs) != 1 || runs[0].ID != "run_1" {
		t.Errorf("Runs: %v %q %v", runs, next, err)
	}
	run, err := c.Run(t.Context(), "run_1")
	if err != nil || run.Run.ID != "run_1" || run.Steps[0].ToolOutput != "1.0" {
		t.Errorf("Run: %v %v", run, err)
	}
	raw, err := c.Scenario(t.Context(), "scn_1")
	if err != nil || string(raw) != `{"n":9007199254740993}` {
		t.Errorf("Scenario: %s %v", raw, err)
	}
}

func TestProblemsAreDecoded(t *testing.T) {
	for _, c := range []struct {
		name, body, message string
		want                Problem
	}{
		{"document", `{"type":"urn:x","title":"there is no such thing","status":404,"code":"not_found","detail":"run_1"}`,
			"there is no such thing: run_1", Problem{Type: "urn:x", Status: 404, Code: "not_found", Title: "there is no such thing", Detail: "run_1"}},
		{"a page", `<html>`, "the service answered 404 Not Found", Problem{Status: 404, Title: "the service answered 404 Not Found"}},
		{"nothing", ``, "the service answered 404 Not Found", Problem{Status: 404, Title: "the service answered 404 Not Found"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNotFound)
				io.WriteString(w, c.body)
			})
			_, err := client.Run(t.Context(), "run_1")
			var p *Problem
			if !errors.As(err, &p) {
				t.Fatalf("Run: %v", err)
			}
			c.want.Body = []byte(c.body)
			if diff := cmp.Diff(&c.want, p); diff != "" || p.Error() != c.message || errors.Is(err, ErrUnreachable) {
				t.Errorf("%q %s", p, diff)
			}
		})
	}
}

func TestNobodyListeningIsToldFromAnError(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	_, err := New(Config{BaseURL: server.URL}).Health(t.Context())
	if !errors.Is(err, ErrUnreachable) {
		t.Errorf("refused: %v", err)
	}
	c := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if _, err := c.Health(t.Context()); err == nil || errors.Is(err, ErrUnreachable) {
		t.Errorf("cut off: %v", err)
	}
}

func TestAnswerThatIsNoJSONIsAnError(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") })
	if _, err := c.Health(t.Context()); err == nil {
		t.Error("a page was taken for an answer")
	}
	var syntax *json.SyntaxError
	if _, err := c.Scenarios(t.Context()); !errors.As(err, &syntax) {
		t.Errorf("Scenarios: %v", err)
	}
}
