package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/runs"
	"github.com/bir-run/bir/recorder"
)

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// books is a recorder that keeps what it is told by its id, as the service does. What
// is told again must be the same.
type books struct {
	t     failer
	mu    sync.Mutex
	order []string
	runs  map[string]*booked
}

type booked struct {
	run    recorder.Run
	calls  map[int]recorder.Call // by the index of their first row
	finish *recorder.Finish
}

func (b *books) StartRun(r recorder.Run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.runs[r.ID]; known != nil {
		b.same(known.run, r)
		return
	}
	b.runs[r.ID] = &booked{run: r, calls: map[int]recorder.Call{}}
	b.order = append(b.order, r.ID)
}

func (b *books) RecordCall(id string, c recorder.Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[id]
	if r == nil {
		b.t.Fatalf("a call of a run that was not started")
	}
	if known, ok := r.calls[c.Place.Index]; ok {
		b.same(known, c)
	}
	r.calls[c.Place.Index] = c
}

func (b *books) FinishRun(id string, end recorder.Finish) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.runs[id].finish; known != nil {
		b.same(*known, end)
	}
	b.runs[id].finish = &end
}

func (b *books) Flush(context.Context) error { return nil }

func (b *books) same(was, is any) {
	b.t.Helper()
	if diff := difference(was, is); diff != "" {
		b.t.Fatalf("told again, it is another (-was +is):\n%s", diff)
	}
}

// result is what a run says, without ids and times.
type result struct {
	Input   string                    `json:"input"`
	Session string                    `json:"session"`
	Tier    recorder.Tier             `json:"tier"`
	Host    recorder.App              `json:"host"`
	Wrapped []string                  `json:"wrapped"`
	Steps   []step                    `json:"steps"`
	Output  string                    `json:"output"`
	Usage   map[string]recorder.Usage `json:"usage"`
	Lossy   bool                      `json:"lossy"`
}

type step struct {
	ID       string          `json:"id"`
	Server   string          `json:"server,omitempty"`
	Tool     string          `json:"tool"`
	Status   recorder.Status `json:"status"`
	Args     json.RawMessage `json:"args,omitempty"`
	Asked    json.RawMessage `json:"asked,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`
	Context  string          `json:"context,omitempty"`
	Agent    string          `json:"agent,omitempty"`
	Type     string          `json:"agentType,omitempty"`
	Attempts int             `json:"attempts,omitempty"`
}

// results are the runs in the order in which they began.
func (b *books) results() (out []result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ids := slices.Clone(b.order)
	slices.SortFunc(ids, func(x, y string) int { return b.runs[x].run.StartedAt.Compare(b.runs[y].run.StartedAt) })
	for _, id := range ids {
		r := b.runs[id]
		if r.finish == nil {
			b.t.Fatalf("the run %q did not end", r.run.Input)
		}
		m := r.run.Metadata
		one := result{
			Input: r.run.Input, Session: m.SessionID, Tier: m.Tier, Host: m.Host, Wrapped: m.WrappedServers,
			Output: r.finish.Output, Usage: r.finish.Usage, Lossy: r.finish.Lossy,
		}
		for n := range len(r.calls) {
			c, ok := r.calls[2*n]
			if !ok {
				b.t.Fatalf("%d calls leave a gap at %d", len(r.calls), n)
			}
			one.Steps = append(one.Steps, stepOf(c))
		}
		out = append(out, one)
	}
	return out
}

func stepOf(c recorder.Call) step {
	id := c.ID
	if strings.HasPrefix(id, "call_") {
		id = "call_" // made up of the run's, which differs
	}
	return step{
		ID: id, Server: c.ServerName, Tool: c.ToolName, Status: c.Status, Args: compact(c.Args), Asked: compact(c.Asked),
		Result: compact(c.Result), Error: c.Error, Context: c.Context, Agent: c.AgentID, Type: c.AgentType, Attempts: c.Attempts,
	}
}

func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// replay plays a script to a book.
type replay struct {
	t     failer
	s     *session
	dir   string
	books *books
	book  *runs.Book
	cfg   runs.Config
	now   time.Time
	wrote map[string]int // lines of each transcript
	lag   time.Duration  // of the transcripts
}

func newReplay(t failer, dir string, s *session) *replay {
	st := &replay{t: t, s: s, dir: dir, books: &books{t: t, runs: map[string]*booked{}}, wrote: map[string]int{}, now: s.events[0].at}
	st.cfg = runs.Config{
		Root: "/home/dev/fleet", Home: dir, Journal: filepath.Join(dir, "journal"), Recorder: st.books,
		Now: func() time.Time { return st.now }, Version: "test", FingerprintKey: "00ff",
	}
	st.open()
	return st
}

func (st *replay) open() {
	book, err := runs.Open(st.cfg)
	if err != nil {
		st.t.Fatalf("open: %v", err)
	}
	st.book = book
	st.register()
}

// register is what a proxy does at its start, and again after every change.
func (st *replay) register() {
	st.book.Register(client.Register{
		ProxyID: "prx_1", ServerName: st.s.server, PID: 1, SessionID: st.s.id, CWD: "/home/dev/fleet",
		Host: recorder.App{App: "claude-code", Version: "2.1.332"}, Server: recorder.Server{Transport: "stdio", Command: []string{"server"}},
	})
}

// kill leaves the book as kill -9 would, and starts another.
func (st *replay) kill() { st.open() }

func (st *replay) play(events []scripted) {
	for _, e := range events {
		st.tell(e)
	}
	st.end()
}

func (st *replay) tell(e scripted) {
	if e.at.After(st.now) {
		st.now = e.at
	}
	if e.report != nil {
		if err := st.book.Step(*e.report); err != nil {
			st.t.Fatalf("step: %v", err)
		}
		return
	}
	late := st.lag
	if e.name == "Stop" || e.name == "SubagentStop" || e.name == "SessionEnd" || e.name == "UserPromptSubmit" {
		late = 0 // then the transcript was seen to be whole
	}
	st.grow(st.now.Add(-late))
	payload := bytes.ReplaceAll(e.payload, []byte(`"`+placeholder), []byte(`"`+filepath.ToSlash(st.dir)))
	if answer := st.book.Hook(context.Background(), e.name, payload); string(answer) != "{}" {
		st.t.Fatalf("%s was answered %s", e.name, answer)
	}
}

// grow writes the lines of the transcripts up to a moment.
func (st *replay) grow(until time.Time) {
	for _, g := range st.s.files {
		path := filepath.Join(st.dir, filepath.FromSlash(g.name))
		n := st.wrote[g.name]
		var text []byte
		for ; n < len(g.lines) && !g.at[n].After(until); n++ {
			text = append(append(text, g.lines[n]...), '\n')
		}
		if len(text) == 0 {
			continue
		}
		st.wrote[g.name] = n
		if err := appendFile(path, text); err != nil {
			st.t.Fatalf("write transcript: %v", err)
		}
	}
}

func appendFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// end lets everything run out that is waited for.
func (st *replay) end() {
	for range 3 {
		st.now = st.now.Add(time.Hour)
		st.book.Tick(st.now)
	}
	if err := st.book.Close(context.Background()); err != nil {
		st.t.Fatalf("close: %v", err)
	}
}

func golden(t *testing.T, name string, got []result) {
	t.Helper()
	path := filepath.Join("testdata", name+".json")
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
