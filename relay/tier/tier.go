// Package tier decides, call by call, who records what a proxy sees: the control
// server of the project (bound), the proxy's own run (standalone) or nobody
// (passthrough). It owns the reports that wait, and the polling for calls that the
// control server wants made. It must never make the conversation wait, start a second
// run of its own, or let a call be lost without saying so.
//
//	         found                      gone
//	seeking ───────► bound ◄──────────────────────► lost
//	   │ 10 s          ▲  found, every 15 s           │ 10 s: tier.downgrade
//	   ▼               │                              ▼
//	standalone, or passthrough for an entry that may not record here
//
// Why do calls wait in seeking and in lost? A host starts its servers before, or while,
// its hook starts the control server, and a control server that was killed is back
// within a second. What waited is then part of the run that it belongs to.
//
// Why does a full buffer end the wait? The other choice is to drop what was seen. Only
// an entry that may not record for itself drops the oldest.
//
// Why may a call be in two runs after a loss? A control server that dies in the middle
// of an answer may have booked it. The run of the proxy's own says that it is lossy.
package tier

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

const (
	// window is how long calls wait for a control server, and lookAgain how often one is
	// looked for after that.
	window    = 10 * time.Second
	lookAgain = 15 * time.Second
	// Within the window it is looked for after a pause that doubles.
	firstPause = 50 * time.Millisecond
	longPause  = 250 * time.Millisecond

	registerTimeout = 2 * time.Second
	stepTimeout     = 5 * time.Second
	// drainTimeout bounds the wait for a control server at the end. A host does not wait
	// much longer before it kills us.
	drainTimeout = time.Second
)

// Link is a control server. *client.Client satisfies it.
type Link interface {
	Register(context.Context, client.Register) (client.Registered, error)
	Step(context.Context, client.StepReport) error
	Steps(context.Context, []client.StepReport) (client.Taken, error)
	Poll(context.Context, client.Poll) (client.Dispatch, error)
	Result(context.Context, client.Result) error
	Close()
}

// Recorder takes a run of the proxy's own. recorder.Recorder satisfies it.
type Recorder interface {
	StartRun(run recorder.Run)
	RecordCall(runID string, call recorder.Call)
	FinishRun(runID string, end recorder.Finish)
	Flush(ctx context.Context) error
}

// Call makes a call on the upstream of the proxy. Its errors are those of relay/call.
type Call func(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error)

// Config says who the proxy is and what it may do. Recorder and Find are needed.
type Config struct {
	Self     client.Register // as it registers; the ProxyID is made here
	Recorder Recorder
	// Find names the control servers that there may be, the best first. It dials nothing.
	Find func() []Link
	// Revive starts a control server that died, and says whether that need not be tried
	// again. nil never does.
	Revive func() bool
	// SetUp says whether a control server is to be expected here; nil never does.
	SetUp func() bool
	// Paused says that bir is switched off for now; nil never does.
	Paused func() bool

	Standalone bool         // never look for a control server
	NoOwnRun   bool         // passthrough in the place of standalone
	Log        *slog.Logger // nil discards
}

type state int

const (
	seeking state = iota
	bound
	lost
	standalone
	passthrough
)

// waits says whether calls wait for a control server to be found.
func (s state) waits() bool { return s == seeking || s == lost }

// Tier is what the relay of one proxy reports to: a relay.Recorder.
type Tier struct {
	cfg  Config
	log  *slog.Logger
	wake chan struct{} // has a token when there is something to send
	// calls are those that a control server wanted made.
	calls sync.WaitGroup

	mu         sync.Mutex // guards all below. The Recorder's own locks come after it
	state      state
	self       client.Register
	registered client.Registered
	unsaid     bool // the control server has not heard who the host is
	wasBound   bool
	revived    bool // or need not be, since the last loss
	downgraded bool
	waiting    []item
	bytes      int
	dropped    int // calls that the control server will not get
	idle       chan struct{}

	run     recorder.Run // the proxy's own, as it would begin
	started bool         // it has begun
	end     recorder.Finish
	over    bool // FinishRun was called
}

// New makes a tier; Run makes it look for a control server.
func New(cfg Config) *Tier {
	t := &Tier{cfg: cfg, log: cfg.Log, wake: make(chan struct{}, 1), self: cfg.Self.Clean()}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.self.ProxyID = recorder.NewID("prx")
	if cfg.Standalone {
		t.state = standalone
	}
	return t
}

// Run looks for control servers and speaks to them until ctx ends. call makes the
// calls that they want made; nil polls for none. It is called once.
func (t *Tier) Run(ctx context.Context, call Call) {
	if t.cfg.Standalone {
		return
	}
	defer t.calls.Wait()
	for ctx.Err() == nil {
		link := t.seek(ctx)
		if link == nil {
			return
		}
		t.serve(ctx, link, call)
		link.Close()
	}
}

// Declares says whether lists of tools declare the call id: where a control server may
// inject one, and where one is expected, so that a cold start and a warm one show the
// model the same.
func (t *Tier) Declares() bool {
	t.mu.Lock()
	now, told := t.state, t.registered.CallIDs
	t.mu.Unlock()
	switch now {
	case bound, lost:
		return told
	case seeking:
		return t.cfg.SetUp != nil && t.cfg.SetUp()
	}
	return false
}

// Host is told who the host is.
func (t *Tier) Host(host recorder.App) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.self.Host = host
	t.unsaid = true
	t.poke()
}

// Lost is told that a call could not be reported.
func (t *Tier) Lost() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wasBound || t.state == seeking {
		t.dropped++
	}
}

// StartRun implements relay.Recorder, as do the three methods below: the run is begun
// when there is a call that no control server takes.
func (t *Tier) StartRun(run recorder.Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.run = run
}

// RecordCall takes a call that ended.
func (t *Tier) RecordCall(_ string, call recorder.Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch t.state {
	case standalone:
		t.keepLocked(call)
	case passthrough:
	default:
		t.pushLocked(call)
	}
}

// FinishRun says that there will be no more calls.
func (t *Tier) FinishRun(_ string, end recorder.Finish) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end, t.over = end, true
}

// Flush waits until everything is with the control server, within a bound, or else
// with the Recorder.
func (t *Tier) Flush(ctx context.Context) error {
	t.drain(ctx)
	t.mu.Lock()
	if len(t.waiting) > 0 {
		t.settleLocked()
	}
	if t.over && t.started {
		t.end.Lossy = t.end.Lossy || t.downgraded
		t.cfg.Recorder.FinishRun(t.run.ID, t.end)
		t.started = false
	}
	t.mu.Unlock()
	return t.cfg.Recorder.Flush(ctx)
}

// drain waits while a control server takes what waits.
func (t *Tier) drain(ctx context.Context) {
	t.mu.Lock()
	if len(t.waiting) == 0 || t.state != bound {
		t.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	t.idle = idle
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// keepLocked records a call in the proxy's own run.
func (t *Tier) keepLocked(call recorder.Call) {
	if !t.started {
		t.started = true
		run := t.run
		run.StartedAt = call.StartedAt
		t.cfg.Recorder.StartRun(run)
	}
	t.cfg.Recorder.RecordCall(t.run.ID, call)
	if t.wasBound {
		t.dropped++ // the run that it belongs to lacks it
	}
}

// settle ends the wait for a control server.
func (t *Tier) settle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.waits() {
		t.settleLocked()
	}
}

func (t *Tier) settleLocked() {
	calls := t.waiting
	t.waiting, t.bytes = nil, 0
	if t.wasBound {
		t.downgraded = true
	} else {
		t.dropped = 0 // no control server has a run that lacks them
	}
	was := t.state
	if t.state = standalone; t.cfg.NoOwnRun {
		t.state = passthrough
	}
	t.logSettled(was, len(calls))
	for _, waited := range calls {
		if t.state == standalone {
			t.keepLocked(waited.call)
		}
	}
}

func (t *Tier) logSettled(was state, calls int) {
	name := "tier.standalone"
	if t.state == passthrough {
		name = "tier.passthrough"
	}
	if was == seeking {
		t.log.Info(name, "server", t.self.ServerName, "waited", calls)
		return
	}
	t.log.Warn("tier.downgrade", "server", t.self.ServerName, "to", name, "waited", calls)
}

func (t *Tier) poke() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}
