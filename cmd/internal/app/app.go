// Package app wires the parts together for the commands: the service's client,
// the sandbox pool and the guards, each opened when it is first needed.
package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/cmd/internal/reach"
	"github.com/bir-run/bir/recorder/client"
	"github.com/bir-run/bir/recorder/launch"
	"github.com/bir-run/bir/sandbox"
)

// App is what every command gets from main.
type App struct {
	cli.Streams
	Env        env.Env
	Version    string
	Executable string // our own path: the other binaries stand beside it
	Log        *slog.Logger
}

// Service finds the service, or starts the embedded one.
func (a *App) Service(ctx context.Context) (*client.Client, error) {
	c, err := reach.Service(ctx, a.Env, a.Executable, a.Log)
	if err != nil {
		return nil, cli.Hint(fmt.Errorf("reach the service: %w", err),
			"see %s, or run `bir serve` in a terminal of its own", filepath.Join(a.Env.Home, "logs", "service.log"))
	}
	// What a proxy could not send before it ended has waited for this.
	if err := client.Drain(ctx, launch.SpoolDir(a.Env.Home, a.Env.AuthURL), c); err != nil {
		a.Log.Warn("send what waits in the spool", "error", err)
	}
	return c, nil
}

// Limits of evaluations; zero takes what the environment says.
type Limits struct {
	Timeout     time.Duration
	MemoryBytes int64
	Level       sandbox.Level
}

// Pool makes a pool of evaluators. The caller closes it.
func (a *App) Pool() (*sandbox.Pool, error) { return a.PoolWith(Limits{}) }

// PoolWith makes a pool with limits of its own.
func (a *App) PoolWith(l Limits) (*sandbox.Pool, error) {
	config, err := a.sandboxConfig()
	if err != nil {
		return nil, err
	}
	config.Timeout = cmp.Or(l.Timeout, config.Timeout)
	config.MemoryBytes = cmp.Or(l.MemoryBytes, config.MemoryBytes)
	config.Level = cmp.Or(l.Level, config.Level)
	return sandbox.NewPool(config), nil
}

// Binary finds another of bir's binaries.
func (a *App) Binary(name string) (string, error) { return reach.Binary(a.Executable, name) }
