package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Level says what a body runs in.
type Level string

// The levels (DESIGN section 5). A pool at level auto runs what was calculated and
// proved at level process, and at level wasm what was not.
const (
	LevelAuto    Level = "auto"
	LevelProcess Level = "process" // a confined process
	LevelWasm    Level = "wasm"    // WebAssembly in a confined process
)

// command starts a worker of a level.
func (c Config) command(level Level) []string {
	if level != LevelWasm {
		return c.Command
	}
	return append(slices.Clone(c.Command), "--level", string(LevelWasm), "--cache", c.CacheDir)
}

const progressEvery = 200 * time.Millisecond

// Prepare compiles level wasm into config.CacheDir, which takes about ten seconds of
// a core, once for each version of bir. The compiler is a process of its own, whose
// memory goes with it. progress, which may be nil, hears from time to time how long it has
// been at it, and nothing when there is nothing to do.
func Prepare(ctx context.Context, config Config, progress func(time.Duration)) error {
	config = config.withDefaults()
	if config.CacheDir == "" {
		return errors.New("level wasm needs a folder for what it compiles")
	}
	command := append(config.command(LevelWasm), "--compile")
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = []string{}
	cmd.Stderr = &said
	cmd.SysProcAttr = ownProcessGroup()
	cmd.WaitDelay = closeTimeout
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("compile level wasm: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the process, which ends with ctx
	if err := await(ended, started, progress); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("compile level wasm: %w", ctx.Err())
		}
		return fmt.Errorf("compile level wasm: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return nil
}

func await(ended <-chan error, started time.Time, progress func(time.Duration)) error {
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case now := <-ticker.C:
			if progress != nil {
				progress(now.Sub(started))
			}
		}
	}
}

// preparer makes level wasm ready for a pool when a body first needs it.
type preparer struct {
	config Config

	mu      sync.Mutex // guards current, closed and cancel
	current *preparation
	closed  bool
	cancel  context.CancelFunc
	jobs    sync.WaitGroup
}

// preparation is one attempt.
type preparation struct {
	started time.Time
	done    chan struct{} // closed when err is set
	err     error
}

// begin starts an attempt, or joins the one that there is.
func (p *preparer) begin(ctx context.Context) *preparation {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil {
		return p.current
	}
	now := &preparation{started: time.Now(), done: make(chan struct{})}
	if p.closed {
		now.err = ErrClosed
		close(now.done)
		return now
	}
	p.current = now
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx)) // others wait for it, too; close ends it
	p.jobs.Go(func() {
		defer close(now.done)
		if now.err = Prepare(ctx, p.config, nil); now.err != nil {
			p.config.Logger.Warn("sandbox.not_compiled", "error", now.err)
		}
	})
	return now
}

// again forgets an attempt: what it compiled has gone.
func (p *preparer) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.current = nil
}

func (p *preparer) close() {
	p.mu.Lock()
	p.closed = true
	if p.cancel != nil {
		p.cancel()
	}
	p.mu.Unlock()
	p.jobs.Wait()
}

// level decides where a body runs. At level auto one that belongs to level wasm waits
// for the compiler as long as a body may run, counted from the compiler's start, and
// then runs at level process: a hook must not wait for ten seconds.
func (p *Pool) level(ctx context.Context, body Body) (Level, error) {
	switch {
	case p.config.Level == LevelProcess || p.config.Level == LevelAuto && !body.Unproved:
		return LevelProcess, nil
	case p.config.Level == LevelAuto && p.config.CacheDir == "":
		return LevelProcess, nil
	}
	attempt := p.preparer.begin(ctx)
	patience := ctx
	if p.config.Level == LevelAuto {
		var cancel context.CancelFunc
		patience, cancel = context.WithDeadline(ctx, attempt.started.Add(p.config.Timeout))
		defer cancel()
	}
	var reason error
	select {
	case <-attempt.done:
		reason = attempt.err
	case <-p.closing:
		return "", ErrClosed
	case <-patience.Done():
		reason = errors.New("still compiling")
	}
	switch {
	case reason == nil:
		return LevelWasm, nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("wait for level wasm: %w", ctx.Err())
	case p.config.Level == LevelWasm:
		return "", unusable(reason.Error())
	}
	p.config.Logger.Warn("sandbox.level_process", "reason", reason, "instead_of", LevelWasm)
	return LevelProcess, nil
}
