package runs

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/runs/journal"
	"github.com/bir-run/bir/control/runs/machine"
	"github.com/bir-run/bir/control/transcript"
	"github.com/bir-run/bir/recorder"
)

// Config says what a Book works with.
type Config struct {
	Root     string // of the project
	Home     string // BIR_HOME
	Journal  string // file in which open runs outlive the process
	Recorder recorder.Recorder
	Logger   *slog.Logger     // nil discards
	Now      func() time.Time // nil is the clock
	// CallIDs lets hooks inject an id into calls of servers behind a proxy.
	CallIDs bool
	Off     func() bool        // whether bir is turned off here; nil: never
	Alive   func(pid int) bool // whether a process runs; nil: always
	Version string             // of the control server
	// FingerprintKey keys the fingerprints of calls, hexadecimal.
	FingerprintKey string
}

// Book keeps the open runs of a project.
type Book struct {
	cfg Config

	mu       sync.Mutex // guards what follows, and orders the journal
	state    *machine.State
	journal  *journal.Journal
	events   int                      // in the journal since its snapshot
	ledgers  map[string]*reader       // of open runs
	proxies  map[string]*client.Proxy // by id
	seen     map[string]*client.Seen
	broken   bool          // the journal cannot be written; said once
	changed  chan struct{} // something was applied
	unsaved  chan struct{} // and written
	lastLive time.Time     // when processes were last looked at
}

// reader is the ledger of a run, for one at a time.
type reader struct {
	mu sync.Mutex // above no other lock of this package
	l  *transcript.Ledger
}

// Open reads the journal and goes on with the runs that were open.
func Open(cfg Config) (*Book, error) {
	cfg = cfg.withDefaults()
	j, was, err := journal.Open(cfg.Journal)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	b := &Book{
		cfg: cfg, state: was.State, journal: j, events: was.Events,
		ledgers: map[string]*reader{}, proxies: map[string]*client.Proxy{}, seen: map[string]*client.Seen{},
		changed: make(chan struct{}, 1), unsaved: make(chan struct{}, 1),
	}
	b.resume(was)
	return b, nil
}

// resume reports what may not have been reported, and marks what is lost.
func (b *Book) resume(was journal.Recovered) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range append(was.Begun, was.Unsent...) {
		b.emit(c)
	}
	// The other end of what is open may have seen its calls; a call that was missed
	// meanwhile is found in the transcript when the turn ends.
	for id, p := range b.state.Proxies {
		b.proxies[id] = &client.Proxy{Register: p, LastSeen: b.cfg.Now()}
	}
	notify(b.unsaved)
	if was.Torn && len(b.state.Runs) > 0 {
		b.cfg.Logger.Warn("the end of the journal is lost; runs that were open are marked lossy")
		b.applyLocked(machine.Event{Kind: machine.KindTorn, At: b.cfg.Now()})
	}
}

func (cfg Config) withDefaults() Config {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Off == nil {
		cfg.Off = func() bool { return false }
	}
	if cfg.Alive == nil {
		cfg.Alive = func(int) bool { return true }
	}
	return cfg
}

// applyLocked writes an event down, applies it and reports what follows. Written
// first: what is reported can always be reported again.
func (b *Book) applyLocked(e machine.Event) {
	if err := b.journal.Write(journal.Entry{Event: &e}); err != nil {
		if !b.broken { // recording goes on; a crash now would lose the open runs
			b.cfg.Logger.Warn("the journal cannot be written", "err", err)
		}
		b.broken = true
	} else {
		b.broken = false
		b.events++
	}
	for _, c := range b.state.Apply(e) {
		b.emit(c)
	}
	notify(b.changed)
	notify(b.unsaved)
}

// notify tells Run, if it has not been told.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// emit hands a change to the recorder, none of whose methods waits.
func (b *Book) emit(c machine.Change) {
	switch {
	case c.Start != nil:
		b.cfg.Recorder.StartRun(*c.Start)
	case c.Call != nil:
		b.cfg.Recorder.RecordCall(c.Run, *c.Call)
	case c.Finish != nil:
		b.cfg.Recorder.FinishRun(c.Run, *c.Finish)
		delete(b.ledgers, c.Run)
	}
}

// Close leaves the runs that are open to the journal.
func (b *Book) Close(ctx context.Context) error {
	err := b.save(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	if cerr := b.journal.Close(); err == nil {
		err = cerr
	}
	return err
}
