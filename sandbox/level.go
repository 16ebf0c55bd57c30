package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
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

// level is where a body should run.
func (p *Pool) level(body Body) Level {
	switch {
	case p.config.Level == LevelWasm:
		return LevelWasm
	case p.config.Level == LevelAuto && body.Unproved && p.config.CacheDir != "":
		return LevelWasm
	}
	return LevelProcess
}

// notCompiled gets a worker where level wasm is not ready. A pool at that level compiles
// it, however long the caller has to wait. One at level auto does not: it serves hooks,
// and takes what `bir up` and `bir setup` have compiled ahead.
func (p *Pool) notCompiled(ctx context.Context) (*process, error) {
	if p.config.Level == LevelWasm {
		if err := Prepare(ctx, p.config, nil); err != nil {
			return nil, unusable(err.Error())
		}
		return p.start(ctx, LevelWasm)
	}
	p.config.Logger.Warn("sandbox.level", "level", LevelProcess, "instead_of", LevelWasm, "reason", errNotCompiled.Message)
	return p.worker(ctx, LevelProcess)
}
