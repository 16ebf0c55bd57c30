package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/sandbox/guard"
)

// guardsCloseTimeout bounds the wait for a compilation that runs when the server ends:
// it cannot be broken off.
const guardsCloseTimeout = 2 * time.Second

// guards makes this user's and this project's guards ready in the background, so that
// no hook ever waits for a compiler: it compiles them into the cache, tries each, and
// lets them go. Loading them from there takes a quarter of a second, which a plan that
// is armed has; kept loaded they would take 56 MB, which a project that only records
// has no use for.
type guards struct {
	cfg    guard.Config
	log    *slog.Logger
	making sync.WaitGroup

	mu    sync.Mutex // guards state
	state string
}

func newGuards(e env.Env, root string, log *slog.Logger) *guards {
	return &guards{log: log, state: "not started", cfg: guard.Config{
		HomeDir:    filepath.Join(e.Home, "guards"),
		ProjectDir: filepath.Join(root, ".bir", "guards"),
		CacheDir:   filepath.Join(e.Home, "cache", "wazero"),
		PinFile:    filepath.Join(e.Home, "guards.json"),
		CountsFile: filepath.Join(e.Home, "guard-counts.json"),
		BuiltIns:   true,
		Logger:     log,
		Trace:      e.GuardTrace,
	}}
}

// start begins to make them ready.
func (g *guards) start(ctx context.Context) {
	g.set("compiling")
	// Ends when all are compiled and tried, or soon after ctx.
	g.making.Go(func() {
		begun := time.Now()
		state := g.make(ctx)
		debug.FreeOSMemory() // compiling takes ten times what the rest of the server does
		g.set(state)
		g.log.Info("control.guards", "state", g.health(), "after", time.Since(begun))
	})
}

// make returns "ready", or what is wrong.
func (g *guards) make(ctx context.Context) string {
	host := guard.New(g.cfg)
	err := host.Load(ctx, nil)
	modules := host.Modules()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), guardsCloseTimeout)
	defer cancel()
	if err := errors.Join(err, host.Close(closing)); err != nil {
		return err.Error()
	}
	var wrong []string
	for _, m := range modules {
		if m.State != guard.StateReady {
			wrong = append(wrong, m.Name+": "+m.Problem)
		}
	}
	if len(wrong) > 0 {
		return strings.Join(wrong, "; ")
	}
	return "ready"
}

func (g *guards) set(state string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = state
}

// health is "ready", "compiling", or what is wrong.
func (g *guards) health() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state
}
