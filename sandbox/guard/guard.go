// Package guard hosts guards: WebAssembly modules that may forbid what bir is
// about to pin, derive or send. It finds them in two folders and among the
// built-in ones, compiles them ahead, asks each of them, and denies whenever one of
// them denies or cannot answer. It never opens a file, a socket or the environment
// for a module, never writes an argument's value to a log, and lets nothing that a
// module does widen what is allowed. It is the only importer of wazero.
//
// Why look at the folders on every check instead of watching them? A watcher is
// told of a change after it is made, so a check could still miss a rule that is
// installed already, and on network folders it is not told at all. A look is never
// late, and costs 15 us and 3 to 9 us a module (BenchmarkLook), less than one call.
//
// Why rewrite modules before they are compiled? See package harden.
//
// Why is a removed file not a denial? Whoever may delete the file may also run
// `bir guard remove`. The removal is logged, and the digest stays pinned, so a
// weaker module under the same name does not slip in later.
package guard

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

const (
	defaultCallTimeout = 250 * time.Millisecond
	defaultMemoryMB    = 16
)

// Config says where guards are and how they run.
type Config struct {
	HomeDir    string // BIR_HOME/guards; empty: no such folder
	ProjectDir string // <project>/.bir/guards; empty: no such folder
	CacheDir   string // compiled code; empty, or not usable: compiled again in each process
	PinFile    string // digests by name and scope; empty: pinned for this process only
	CountsFile string // calls and denials by name and scope, for people; empty: for this process only
	BuiltIns   bool   // also ask the modules that bir carries

	// CompileWait is how long Check may wait for a module that is not compiled yet
	// before it denies with guard_not_ready. Zero: not at all.
	CompileWait time.Duration
	CallTimeout time.Duration // for one call of one module; zero: 250 ms
	Logger      *slog.Logger  // nil: discard
	Trace       bool          // also log, for debugging, verdicts that allow and what modules print
}

// Host asks guards. All its methods may be called at once.
type Host struct {
	cfg       Config
	log       *slog.Logger
	pins      *pinFile
	tallies   *tallies
	machine   *machine
	scanning  chan struct{} // holds one token: folders are read by one caller at a time, in order
	compiling chan struct{} // one token a compilation that may run at the same time
	jobs      sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	entries []*entry   // in the order of asking
	closed  bool
}

// New makes a host that has looked at nothing yet.
func New(cfg Config) *Host {
	if cfg.CallTimeout == 0 {
		cfg.CallTimeout = defaultCallTimeout
	}
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Host{
		cfg:       cfg,
		log:       log,
		pins:      &pinFile{path: cfg.PinFile},
		tallies:   &tallies{path: cfg.CountsFile},
		machine:   &machine{cacheDir: cfg.CacheDir, log: log},
		scanning:  make(chan struct{}, 1),
		compiling: make(chan struct{}, runtime.NumCPU()),
	}
}

// Load finds and compiles every guard, and returns when each is ready or refused.
// It is for installing and starting, where the seconds of a first compilation are
// expected. progress may be nil. A refused module of the user is no error here: it
// is in Modules, and denies.
func (h *Host) Load(ctx context.Context, progress func(done, total int, name string)) error {
	if progress == nil {
		progress = func(int, int, string) {}
	}
	entries, err := h.refresh(ctx)
	if err != nil {
		return err
	}
	for i, e := range entries {
		progress(i, len(entries), e.name)
		select {
		case <-e.loaded:
		case <-ctx.Done():
			return ctx.Err()
		}
		if e.scope == ScopeBuiltIn && e.module.State != StateReady {
			return errors.New("load built-in guard " + e.name + ": " + e.module.Problem)
		}
	}
	progress(len(entries), len(entries), "")
	return nil
}

// Modules lists what the host knows since it last looked, in the order of asking.
func (h *Host) Modules() []Module {
	h.mu.Lock()
	entries := h.entries
	h.mu.Unlock()
	tallies := h.tallies.all()
	modules := make([]Module, 0, len(entries))
	for _, e := range entries {
		m := e.describe()
		sum := tallies[h.pinKey(e.sighting)]
		m.Counts = sum.counts()
		modules = append(modules, m)
	}
	return modules
}

// SaveCounts adds this process's counts to the file that all processes share. Close
// does so, too; a process that lives long calls it between two pieces of work.
func (h *Host) SaveCounts() error { return h.tallies.save() }

// Trust pins the changed module of that name as Modules shows it now. A file that
// changes once more afterwards is again not trusted.
func (h *Host) Trust(ctx context.Context, name string) error {
	entries, err := h.refresh(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.name != name || e.scope == ScopeBuiltIn {
			continue
		}
		select {
		case <-e.loaded:
		case <-ctx.Done():
			return ctx.Err()
		}
		switch e.module.State {
		case StateReady:
			return nil
		case StateRejected:
			return errors.New("guard " + name + " is refused: " + e.module.Problem)
		}
		if err := h.pins.set(h.pinKey(e.sighting), e.digests); err != nil {
			return err
		}
		h.forgetEntry(e)
		return h.Load(ctx, nil)
	}
	return errors.New("no guard is named " + name)
}

// Forget drops the digest and the counts of a module that was removed on purpose, so
// that another of the same name is again seen for the first time.
func (h *Host) Forget(name string) error {
	for _, scope := range []Scope{ScopeHome, ScopeProject} {
		key := h.pinKey(sighting{name: name, scope: scope})
		if err := errors.Join(h.pins.drop(key), h.tallies.forget(key)); err != nil {
			return err
		}
	}
	return nil
}

// Close stops the modules and waits for running calls and compilations. A
// compilation cannot be broken off: if ctx ends before it does, Close gives up and
// leaves the rest to the end of the process.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	entries := h.entries
	h.entries = nil
	h.jobs.Add(len(entries))
	h.mu.Unlock()
	for _, e := range entries {
		go h.retire(context.WithoutCancel(ctx), e) // ends with the module's last call, which has a deadline
	}
	idle := make(chan struct{})
	go func() { // ends with the last job, and so can outlive this call
		h.jobs.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		if err := h.tallies.save(); err != nil {
			h.log.Warn("guard.counts", "error", err.Error()) // they are for people only
		}
		return h.machine.close(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pinKey tells apart modules of one name in the home folder and in projects.
func (h *Host) pinKey(s sighting) pinKey {
	if s.scope != ScopeProject {
		return pinKey{Name: s.name, Scope: string(s.scope)}
	}
	dir, err := filepath.Abs(h.cfg.ProjectDir)
	if err != nil {
		dir = h.cfg.ProjectDir // no working directory: the path as given still names the project
	}
	return pinKey{Name: s.name, Scope: string(ScopeProject) + ":" + dir}
}
