package tier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay/relaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(relaytest.Settle(m)) }

// server is a control server that a test starts and kills.
type server struct {
	mu         sync.Mutex // guards all below
	up         bool
	paths      int // how often it was looked for
	registered []client.Register
	steps      []client.StepReport
	results    []client.Result
	answer     client.Registered
	hangs      bool  // takes no step and says nothing
	lists      []int // how long those were that it was told
	refuseList error // for every list
	refuse     func(client.StepReport) error
	death      chan struct{} // closed when it dies
	work       chan client.Dispatch
	polled     int
	pollAnswer func() (client.Dispatch, error) // in the place of waiting
}

func newServer() *server {
	return &server{work: make(chan client.Dispatch), answer: client.Registered{Lists: true}}
}

func (s *server) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up, s.death = true, make(chan struct{})
}

func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up = false
	close(s.death)
}

// set changes how the server behaves.
func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// looks is how often it was looked for, and polls how often polled.
func (s *server) looks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paths
}

func (s *server) polls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.polled
}

func (s *server) isHung() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hangs
}

func (s *server) told() []client.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.results)
}

// find is a discovery file that is always there.
func (s *server) find() []Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paths++
	return []Link{link{s}}
}

func (s *server) reports() []client.StepReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.steps)
}

// listed is how long the lists were that it was told.
func (s *server) listed() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lists)
}

func (s *server) registrations() []client.Register {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.registered)
}

type link struct{ *server }

func (l link) Close() {}

func (l link) Register(_ context.Context, r client.Register) (client.Registered, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.up {
		return client.Registered{}, client.ErrUnreachable
	}
	l.registered = append(l.registered, r)
	return l.answer, nil
}

func (l link) Step(ctx context.Context, r client.StepReport) error {
	if l.isHung() {
		<-ctx.Done()
		return client.ErrUnreachable
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.up {
		return client.ErrUnreachable
	}
	if l.refuse != nil {
		if err := l.refuse(r); err != nil {
			return err
		}
	}
	l.steps = append(l.steps, r)
	return nil
}

func (l link) Steps(ctx context.Context, reports []client.StepReport) (taken client.Taken, err error) {
	l.mu.Lock()
	l.lists = append(l.lists, len(reports))
	refuseList := l.refuseList
	l.mu.Unlock()
	if refuseList != nil {
		return taken, refuseList
	}
	for i, r := range reports {
		var refused *client.Refused
		err := l.Step(ctx, r)
		if err != nil && !errors.As(err, &refused) {
			return client.Taken{}, err
		}
		if err != nil {
			taken.Refused = append(taken.Refused, client.Untaken{Index: i, Why: err.Error()})
		}
	}
	return taken, nil
}

func (l link) Poll(ctx context.Context, p client.Poll) (client.Dispatch, error) {
	l.mu.Lock()
	death, answer := l.death, l.pollAnswer
	l.polled++
	l.mu.Unlock()
	if answer != nil {
		return answer()
	}
	select {
	case d := <-l.work:
		return d, nil
	case <-death:
		return client.Dispatch{}, client.ErrUnreachable
	case <-ctx.Done():
		return client.Dispatch{}, ctx.Err()
	case <-time.After(time.Duration(p.WaitMS) * time.Millisecond):
		return client.Dispatch{}, nil
	}
}

func (l link) Result(_ context.Context, r client.Result) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.results = append(l.results, r)
	return nil
}

// own is the recorder of the proxy's own run.
type own struct {
	mu    sync.Mutex // guards all below
	runs  []recorder.Run
	calls []recorder.Call
	ends  []recorder.Finish
}

func (o *own) StartRun(run recorder.Run) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.runs = append(o.runs, run)
}

func (o *own) RecordCall(_ string, call recorder.Call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, call)
}

func (o *own) FinishRun(_ string, end recorder.Finish) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ends = append(o.ends, end)
}

func (o *own) Flush(context.Context) error { return nil }

// tools are the names of the calls in the run, in order.
func (o *own) tools() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var names []string
	for _, c := range o.calls {
		names = append(names, c.ToolName)
	}
	return names
}

// begun and ended are what was started and finished.
func (o *own) begun() []recorder.Run {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.runs)
}

func (o *own) ended() []recorder.Finish {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.ends)
}

func toolsOf(reports []client.StepReport) []string {
	var names []string
	for _, r := range reports {
		names = append(names, r.ToolName)
	}
	return names
}

// stage is a tier in a bubble of fake time.
type stage struct {
	*Tier
	t      *testing.T
	server *server
	own    *own
	ended  bool
}

// play runs a test in a bubble, with a tier that runs.
func play(t *testing.T, change func(*Config), call Call, script func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, server: newServer(), own: &own{}}
		cfg := Config{Self: client.Register{ServerName: "fleet"}, Recorder: s.own, Find: s.server.find}
		if change != nil {
			change(&cfg)
		}
		s.Tier = New(cfg)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { s.Run(ctx, call) })
		s.StartRun(recorder.Run{ID: "run_1"})
		script(s)
		if !s.ended {
			s.finish()
		}
		cancel()
		running.Wait()
	})
}

// call reports a call that ended.
func (s *stage) call(tool string) {
	s.RecordCall("run_1", recorder.Call{ID: "toolu_" + tool, ServerName: "fleet", ToolName: tool,
		Args: json.RawMessage(`{"n":1.0}`), Result: json.RawMessage(`{}`), Status: recorder.StatusOK})
}

func (s *stage) calls(n int) {
	for i := range n {
		s.call(fmt.Sprint("t", i))
	}
}

// after lets time go by, and all that is due in it happen.
func (s *stage) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (s *stage) finish() {
	s.ended = true
	s.FinishRun("run_1", recorder.Finish{})
	if err := s.Flush(s.t.Context()); err != nil {
		s.t.Error(err)
	}
}

func (s *stage) is(want state) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != want {
		s.t.Errorf("state %d, want %d", s.state, want)
	}
}
