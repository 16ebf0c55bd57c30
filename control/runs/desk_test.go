package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/recordertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(recordertest.Settle(m)) }

// kept is a recorder that keeps what it is told, by id, as the service does: what is
// told twice counts once.
type kept struct {
	mu       sync.Mutex
	runs     map[string]*keptRun
	order    []string
	flushErr error
}

type keptRun struct {
	recorder.Run
	calls  map[string]recorder.Call // by their first row
	finish *recorder.Finish
	told   int
}

func newKept() *kept { return &kept{runs: map[string]*keptRun{}} }

func (k *kept) StartRun(r recorder.Run) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs[r.ID] == nil {
		k.runs[r.ID] = &keptRun{Run: r, calls: map[string]recorder.Call{}}
		k.order = append(k.order, r.ID)
	}
}

func (k *kept) RecordCall(id string, c recorder.Call) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.runs[id]; r != nil {
		r.told++
		if _, ok := r.calls[c.Place.RowIDs[0]]; !ok {
			r.calls[c.Place.RowIDs[0]] = c
		}
	}
}

func (k *kept) FinishRun(id string, end recorder.Finish) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.runs[id]; r != nil && r.finish == nil {
		r.finish = &end
	}
}

func (k *kept) Flush(context.Context) error { return k.flushErr }

// at gives the calls of a run in their order.
func (r *keptRun) steps(t *testing.T) []recorder.Call {
	t.Helper()
	out := make([]recorder.Call, len(r.calls))
	for _, c := range r.calls {
		n := c.Place.Index / 2
		if c.Place.Index%2 != 0 || n >= len(out) || out[n].ID != "" {
			t.Fatalf("the rows of %d calls leave gaps or overlap at %d", len(r.calls), c.Place.Index)
		}
		out[n] = c
	}
	return out
}

func (k *kept) all() []*keptRun {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []*keptRun
	for _, id := range k.order {
		out = append(out, k.runs[id])
	}
	return out
}

// clock is a time that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// desk is a book with what a test needs around it.
type desk struct {
	t       *testing.T
	dir     string
	book    *Book
	kept    *kept
	clock   *clock
	session string
	prompt  string
	reports int
	cfg     Config
}

func newDesk(t *testing.T, change ...func(*Config)) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), kept: newKept(), clock: newClock(), session: "s1", prompt: "p1"}
	d.cfg = Config{
		Root: d.dir, Home: d.dir, Journal: filepath.Join(d.dir, "control", "k.journal"),
		Recorder: d.kept, Now: d.clock.Now, Version: "test", FingerprintKey: "00ff",
	}
	for _, c := range change {
		c(&d.cfg)
	}
	d.open()
	t.Cleanup(func() { _ = d.book.journal.Close() }) // of a book that a test killed
	return d
}

func (d *desk) open() {
	d.t.Helper()
	b, err := Open(d.cfg)
	if err != nil {
		d.t.Fatal(err)
	}
	d.book = b
}

// kill leaves the book as a process leaves it that is killed, and opens another.
func (d *desk) kill() {
	d.t.Helper()
	if err := d.book.journal.Close(); err != nil {
		d.t.Fatal(err)
	}
	d.open()
}

type obj map[string]any

// hook sends an event of the desk's session, 10 ms after the one before.
func (d *desk) hook(name string, fields obj) string {
	d.t.Helper()
	d.clock.add(10 * time.Millisecond)
	p := obj{
		"hook_event_name": name, "session_id": d.session, "prompt_id": d.prompt, "cwd": "/home/dev/fleet",
		"transcript_path": filepath.Join(d.dir, d.session+".jsonl"), "permission_mode": "default",
	}
	for k, v := range fields {
		p[k] = v
	}
	text, err := json.Marshal(p)
	if err != nil {
		d.t.Fatal(err)
	}
	answer := d.book.Hook(d.t.Context(), name, text)
	if !json.Valid(answer) {
		d.t.Fatalf("%s was answered %q", name, answer)
	}
	return string(answer)
}

func (d *desk) ask(prompt string) { d.t.Helper(); d.hook("UserPromptSubmit", obj{"prompt": prompt}) }

func (d *desk) pre(id, tool string, input obj) string {
	d.t.Helper()
	return d.hook("PreToolUse", obj{"tool_use_id": id, "tool_name": tool, "tool_input": input})
}

func (d *desk) post(id, tool string, input obj, response any) {
	d.t.Helper()
	d.hook("PostToolUse", obj{"tool_use_id": id, "tool_name": tool, "tool_input": input, "tool_response": response, "duration_ms": 5})
}

func (d *desk) stop(answer string) {
	d.t.Helper()
	d.hook("Stop", obj{"last_assistant_message": answer})
}

// proxy registers one.
func (d *desk) proxy(server string) {
	d.t.Helper()
	d.book.Register(client.Register{
		ProxyID: "prx_" + server, ServerName: server, PID: 1, SessionID: d.session, Version: "test",
		Host: recorder.App{App: "claude-code", Version: "2.1.332"}, Server: recorder.Server{Transport: "stdio", Command: []string{"node", server}},
	})
}

// wire reports a call that ended now.
func (d *desk) wire(server, tool, use string, change ...func(*client.StepReport)) {
	d.t.Helper()
	d.reports++
	r := client.StepReport{
		ID: fmt.Sprint("rep_", d.reports), ProxyID: "prx_" + server, ServerName: server, ToolName: tool, ToolUseID: use,
		Args: json.RawMessage(`{"message":"x"}`), Result: json.RawMessage(`{"content":[{"type":"text","text":"from the wire"}]}`),
		Status: recorder.StatusOK, StartedAt: d.clock.Now().Add(-4 * time.Millisecond), DurationMS: 4,
	}
	for _, c := range change {
		c(&r)
	}
	if err := d.book.Step(r); err != nil {
		d.t.Fatal(err)
	}
}

// wait lets time pass, as Run does.
func (d *desk) wait(by time.Duration) { d.book.Tick(d.clock.add(by)) }

// one is the only run, which must have ended.
func (d *desk) one() *keptRun {
	d.t.Helper()
	runs := d.kept.all()
	if len(runs) != 1 || runs[0].finish == nil {
		d.t.Fatalf("%d runs", len(runs))
	}
	return runs[0]
}
