package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/jsontext"
	"github.com/bir-run/bir/recorder/recordertest"
)

const patience = recordertest.Patience

// recordEnv turns the test binary into a process that records until it is killed.
const recordEnv = "BIR_TEST_RECORD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(recordEnv); dir != "" {
		recordForever(dir)
	}
	goleak.VerifyTestMain(recordertest.Settle(m))
}

// fakeService keeps what it takes, each id once, in the order of arrival. fail
// says what to do with a write instead of taking it: a status, or 0.
type fakeService struct {
	server *httptest.Server

	mu       sync.Mutex // guards what follows
	fail     func(write string) int
	writes   []string // "start run_1", "step run_1 3", "finish run_1 lossy"
	seen     map[string]bool
	raw      strings.Builder // every body that came
	steps    []recorder.Step
	noLists  bool // answer 400 to a list of steps
	requests int  // that were taken
	runs     []newRun
	ends     []recorder.Finish
	connects int
	tries    int
	finished chan string
}

func newFake(t *testing.T) *fakeService {
	t.Helper()
	f := &fakeService{seen: map[string]bool{}, finished: make(chan string, 64)}
	f.server = httptest.NewServer(f)
	t.Cleanup(func() { f.server.Close() })
	return f
}

func (f *fakeService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/recordings/runs"), "/")
	f.mu.Lock()
	fail := f.fail
	f.tries++
	f.mu.Unlock()
	writes := f.read(parts, body)
	if body[0] == '[' && f.noLists {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, each := range writes {
		if fail == nil {
			break
		}
		if status := fail(each.name); status != 0 { // may block
			w.WriteHeader(status)
			return
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.raw.Write(body)
	f.requests++
	for _, each := range writes {
		if !f.seen[each.id] {
			f.seen[each.id] = true
			f.writes = append(f.writes, each.name)
			each.keep()
		}
	}
	w.WriteHeader(http.StatusCreated)
}

// write is what a request asks for, under which id it is booked, and how.
type write struct {
	name, id string
	keep     func()
}

func (f *fakeService) read(parts []string, body []byte) []write {
	switch {
	case len(parts) == 1:
		var run newRun
		mustDecode(body, &run)
		return []write{{"start " + run.ID, run.ID, func() { f.runs = append(f.runs, run) }}}
	case parts[2] == "steps":
		return f.readSteps(parts[1], body)
	}
	var end recorder.Finish
	mustDecode(body, &end)
	name := "finish " + parts[1]
	if end.Lossy {
		name += " lossy"
	}
	return []write{{name, "finish " + parts[1], func() {
		f.ends = append(f.ends, end)
		f.finished <- parts[1]
	}}}
}

func (f *fakeService) readSteps(run string, body []byte) (writes []write) {
	steps := make([]recorder.Step, 1)
	if body[0] == '[' {
		steps = nil
		jsontext.Members(body, func(_, step []byte) {
			steps = append(steps, recorder.Step{})
			mustDecode(plain(step), &steps[len(steps)-1])
		})
	} else {
		mustDecode(body, &steps[0])
	}
	for _, step := range steps {
		writes = append(writes, write{fmt.Sprintf("step %s %d", run, step.StepIndex), step.ID, func() { f.steps = append(f.steps, step) }})
	}
	return writes
}

func mustDecode(body []byte, v any) {
	if err := json.Unmarshal(body, v); err != nil {
		panic(err)
	}
}

func (f *fakeService) setFail(fail func(write string) int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = fail
}

func (f *fakeService) connect(context.Context) (*Client, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.connects++
	return New(Config{BaseURL: f.server.URL, HTTP: f.server.Client()}), nil
}

func (f *fakeService) taken() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.writes...)
}

// waitFinished waits until the service has the end of a run.
func (f *fakeService) waitFinished(t *testing.T) {
	t.Helper()
	select {
	case <-f.finished:
	case <-time.After(patience):
		t.Fatalf("the run was not finished; the service has %v", f.taken())
	}
}

// restart puts another server, on another port, in the place of the one that ran.
func (f *fakeService) restart() {
	server := httptest.NewServer(f)
	f.mu.Lock()
	old := f.server
	f.server = server
	f.mu.Unlock()
	old.CloseClientConnections()
	old.Close()
}

// config is for tests that run against the clock: short pauses.
func (f *fakeService) config(t *testing.T) RecorderConfig {
	return RecorderConfig{
		Connect: f.connect, SpoolDir: t.TempDir(), SendTimeout: patience,
		RetryMin: 5 * time.Millisecond, RetryMax: 20 * time.Millisecond,
	}
}

// open returns a recorder that the test's end closes.
func open(t *testing.T, cfg RecorderConfig) *StreamRecorder {
	t.Helper()
	s := NewRecorder(cfg)
	t.Cleanup(func() { closeNow(t, s) })
	return s
}

func closeNow(t *testing.T, s *StreamRecorder) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

func call(n int) recorder.Call {
	return recorder.Call{
		ID: fmt.Sprintf("toolu_%d", n), ServerName: "fleet", ToolName: "get",
		Args: fmt.Appendf(nil, `{"n":%d}`, n), Result: json.RawMessage(`{"content":[]}`),
	}
}

func recordCalls(s recorder.Recorder, from, to int) {
	for n := from; n < to; n++ {
		s.RecordCall("run_1", call(n))
	}
}

// wanted is what a run of so many calls leaves at the service.
func wanted(calls int, end string) []string {
	writes := []string{"start run_1"}
	for i := range 2 * calls {
		writes = append(writes, fmt.Sprintf("step run_1 %d", i))
	}
	return append(writes, end)
}
