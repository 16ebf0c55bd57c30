// Command bir-control is the control server of one project: hooks and proxies report
// to it, and it makes one ordered run of each prompt. It is wiring only; what it does
// is in control, control/daemon and control/runs.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/control/daemon"
	"github.com/bir-run/bir/control/discover"
)

var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	flags, err := parseFlags(os.Args[1:])
	if err != nil {
		return explain(err, os.Stdout, os.Stderr)
	}
	environment, err := env.Process()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bir-control: environment: the default is in force:", err)
	}
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0] // the other binaries are then looked for on the PATH
	}
	// A closed terminal ends nobody's recording.
	signal.Ignore(syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := program{flags: flags, env: environment, executable: executable}
	p.log = slog.New(slog.NewTextHandler(&lumberjack.Logger{
		Filename: discover.LogPath(environment.Home, flags.root), MaxSize: maxLogMiB, MaxBackups: logBackups,
	}, nil))
	err = p.run(ctx)
	switch {
	case errors.Is(err, daemon.ErrRunning):
		fmt.Fprintln(os.Stderr, "bir-control:", err)
		return exitRunning
	case errors.Is(err, daemon.ErrStopped):
		fmt.Fprintf(os.Stderr, "bir-control: %v (`bir up` starts it)\n", err)
		return exitStopped
	case err != nil:
		p.log.Error("control.failed", "error", err)
		fmt.Fprintln(os.Stderr, "bir-control:", err)
		return exitFailed
	}
	return exitOK
}
