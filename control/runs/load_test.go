package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/recorder"
)

// running opens a book with its Run, and stops both at the end.
func running(t testing.TB, k recorder.Recorder, now func() time.Time) *Book {
	t.Helper()
	b, err := Open(Config{
		Journal: filepath.Join(t.TempDir(), "journal"), Recorder: k, FingerprintKey: "00ff",
		Alive: func(int) bool { return true }, Now: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }() // ends with ctx, and is waited for below
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, b.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return b
}

// send posts a hook event of a session as text, the quickest way to make one.
func send(t testing.TB, b *Book, name, session string, fields string) {
	payload := fmt.Sprintf(`{"hook_event_name":%q,"session_id":%q,"prompt_id":"p-%s"%s}`, name, session, session, fields)
	if answer := b.Hook(context.Background(), name, []byte(payload)); !json.Valid(answer) {
		t.Errorf("%s was answered %q", name, answer)
	}
}

// call plays one call of a server through hooks and proxy.
func call(t testing.TB, b *Book, session string, server, n int, report func(client.StepReport)) {
	t.Helper()
	use := fmt.Sprintf("%s-%d-%d", session, server, n)
	tool := fmt.Sprintf(`,"tool_name":"mcp__srv%d__echo","tool_use_id":%q,"tool_input":{"n":%d}`, server, use, n)
	send(t, b, "PreToolUse", session, tool)
	began := b.cfg.Now()
	report(client.StepReport{
		ID: "rep_" + use, ProxyID: fmt.Sprint("prx_", session, server), ServerName: fmt.Sprint("srv", server), ToolName: "echo", ToolUseID: use,
		Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Result: json.RawMessage(`{"content":[]}`), Status: recorder.StatusOK,
		StartedAt: began, DurationMS: 0.001,
	})
	send(t, b, "PostToolUse", session, tool+`,"tool_response":"shown","duration_ms":1`)
}

func TestManySessionsAtOnce(t *testing.T) {
	const sessions, servers, calls = 8, 3, 15
	k := newKept()
	// A clock that only questions move: however slow the machine, no grace ends.
	var asked atomic.Int64
	b := running(t, k, func() time.Time { return time.UnixMicro(1e15 + 10*asked.Add(1)) })
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range sessions {
		session := fmt.Sprint("s", i)
		all.Go(func() {
			<-start
			send(t, b, "UserPromptSubmit", session, `,"prompt":"go"`)
			var each, late sync.WaitGroup
			for server := range servers {
				b.Register(client.Register{ProxyID: fmt.Sprint("prx_", session, server), ServerName: fmt.Sprint("srv", server), SessionID: session, PID: 1})
				each.Go(func() {
					for n := range calls {
						call(t, b, session, server, n, func(r client.StepReport) {
							late.Go(func() { // a report overtakes its hook, or is overtaken
								if err := b.Step(r); err != nil {
									t.Error(err)
								}
							})
						})
					}
				})
			}
			each.Wait()
			late.Wait()
			send(t, b, "Stop", session, `,"last_assistant_message":"done"`)
			send(t, b, "SessionEnd", session, "")
		})
	}
	close(start)
	all.Wait()
	runs := k.all()
	if len(runs) != sessions {
		t.Fatalf("%d runs", len(runs))
	}
	for _, r := range runs {
		last := time.Time{}
		for _, s := range r.steps(t) {
			if end := s.StartedAt.Add(s.Duration); end.Before(last) {
				t.Errorf("%s ended before the call that stands before it", s.ID)
			} else {
				last = end
			}
			if !strings.HasPrefix(s.ID, r.Metadata.SessionID+"-") || s.Status != recorder.StatusOK || string(s.Result) != `{"content":[]}` {
				t.Errorf("%+v", s)
			}
		}
		if r.finish == nil || len(r.calls) != servers*calls || r.finish.Lossy {
			t.Errorf("%d calls, end %+v", len(r.calls), r.finish)
		}
	}
}

// A run that nothing more comes of ends by itself.
func TestTimeEndsARun(t *testing.T) {
	k := &ended{kept: newKept(), finished: make(chan struct{})}
	b := running(t, k, time.Now)
	send(t, b, "UserPromptSubmit", "s", `,"prompt":"go"`)
	send(t, b, "Stop", "s", `,"last_assistant_message":"done"`)
	select {
	case <-k.finished:
	case <-time.After(time.Minute):
		t.Fatal("the run did not end")
	}
}

type ended struct {
	*kept
	finished chan struct{}
}

func (e *ended) FinishRun(id string, end recorder.Finish) {
	e.kept.FinishRun(id, end)
	close(e.finished)
}

// Whatever the payload, the answer is JSON and the book goes on.
func FuzzHook(f *testing.F) {
	for _, e := range event.All() {
		f.Add(e.Name, `{"session_id":"s","tool_use_id":"t","tool_name":"mcp__a__b","tool_input":{"a":1}}`)
	}
	f.Add("PreToolUse", `{"session_id":1,"tool_input":[],"tool_name":{}}`)
	f.Add("PostToolBatch", `{"session_id":"s","tool_calls":{"a":[1]}}`)
	f.Add("PostToolBatch", `{"session_id":"s","tool_calls":[null,{"tool_use_id":"t","tool_response":"<tool_use_error>"}]}`)
	f.Add("Stop", `{"session_id":"s","background_tasks":[{"id":1},{"id":"x","status":"running"}]}`)
	f.Add("UserPromptSubmit", `{"session_id":"s","prompt":"<task-notification><task-id></task-id>"}`)
	f.Add("UserPromptSubmit", `[`)
	f.Add("Nonsense", `{}`)
	f.Fuzz(func(t *testing.T, name, payload string) {
		dir := t.TempDir()
		k := newKept()
		cfg := Config{Journal: filepath.Join(dir, "journal"), Recorder: k, CallIDs: true, Now: newClock().Now}
		b, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		b.Register(client.Register{ProxyID: "prx", ServerName: "a"})
		hook := func(name, payload string) {
			if strings.Contains(payload, "transcript_path") {
				return // files are not what is tested here
			}
			if answer := b.Hook(t.Context(), name, []byte(payload)); !json.Valid(answer) {
				t.Fatalf("%s was answered %q", name, answer)
			}
		}
		hook("UserPromptSubmit", `{"session_id":"s","prompt":"go"}`)
		hook("PreToolUse", `{"session_id":"s","tool_use_id":"t","tool_name":"mcp__a__b","tool_input":{}}`)
		hook(name, payload)
		hook(name, payload)
		if err := b.journal.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := Open(cfg) // what was written can be read
		if err != nil {
			t.Fatal(err)
		}
		defer again.journal.Close()
		if len(again.state.Runs) != len(b.state.Runs) || len(again.state.Sessions) != len(b.state.Sessions) {
			t.Errorf("%d runs and %d sessions came back of %d and %d", len(again.state.Runs), len(again.state.Sessions), len(b.state.Runs), len(b.state.Sessions))
		}
	})
}

// nobody is a recorder that keeps nothing.
type nobody struct{}

func (nobody) StartRun(recorder.Run)             {}
func (nobody) RecordCall(string, recorder.Call)  {}
func (nobody) FinishRun(string, recorder.Finish) {}
func (nobody) Flush(context.Context) error       { return nil }

// BenchmarkTenThousandSteps is one run of ten thousand calls: what an event costs, and
// what is held when all are over but the run.
func BenchmarkTenThousandSteps(b *testing.B) {
	const steps = 10_000
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		book := running(b, nobody{}, time.Now)
		send(b, book, "UserPromptSubmit", "s", `,"prompt":"go"`)
		book.Register(client.Register{ProxyID: "prx_s0", ServerName: "srv0", SessionID: "s", PID: 1})
		began := time.Now()
		for n := range steps {
			call(b, book, "s", 0, n, func(r client.StepReport) {
				if err := book.Step(r); err != nil {
					b.Fatal(err)
				}
			})
		}
		took := time.Since(began)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(took.Nanoseconds())/(3*steps), "ns/event")
		b.ReportMetric(float64(after.HeapAlloc-min(before.HeapAlloc, after.HeapAlloc)), "bytes-held")
		send(b, book, "SessionEnd", "s", "")
	}
}
