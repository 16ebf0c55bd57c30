// Command bir is what the user types: it reads runs and scenarios, edits and tests
// bodies, replays jobs, and serves the embedded service.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/charmbracelet/colorprofile"
	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/cmd/internal/env"
)

var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	environment, err := env.Process()
	if err != nil {
		cli.Report(os.Stderr, cli.Usage("%w", err))
		return cli.ExitUsage
	}
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0] // the other binaries are then looked for on the PATH
	}
	root := newRoot(&app.App{
		// Colours are taken out again where nobody would see them.
		Streams:    cli.Streams{In: os.Stdin, Out: colorprofile.NewWriter(os.Stdout, environment.Vars), Err: os.Stderr},
		Env:        environment,
		Version:    version,
		Executable: executable,
		Log:        slog.New(slog.NewTextHandler(logFile(environment.Home), nil)),
	})
	err = root.ExecuteContext(ctx)
	cli.Report(os.Stderr, err)
	return cli.CodeOf(err)
}

// logFile keeps what a command says for the record, guards' denials above all: what
// people must read, the command prints. It is opened at the first line.
func logFile(home string) *lumberjack.Logger {
	return &lumberjack.Logger{Filename: filepath.Join(home, "logs", "bir.log"), MaxSize: 5, MaxBackups: 2}
}
