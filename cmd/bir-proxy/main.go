// Command bir-proxy stands between an MCP host and one MCP server, which it starts as
// a child or reaches over HTTP. It passes every
// byte both ways unchanged and records the tool calls. It must never be the reason
// that a host's session fails: without a recorder it is a pump.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/bir-run/bir/cmd/internal/env"
)

var version = "dev"

// softMemoryLimit is when the collector starts to work harder. A host starts one
// proxy for each server; what passes is in the kernel's pipes, not here. Some 4 MiB of
// the program itself are resident besides: together they stay under 24.
const softMemoryLimit = 20 << 20

func main() { os.Exit(run()) }

func run() int {
	debug.SetMemoryLimit(softMemoryLimit)
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	environment, err := env.Process()
	if err != nil {
		log.Warn("environment: the default is in force", "error", err)
	}
	cfg, err := parseFlags(os.Args[1:])
	if err != nil {
		return cfg.explain(err, os.Stdout, os.Stderr)
	}
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0] // bir is then looked for on the PATH
	}
	dir, err := os.Getwd()
	if err != nil {
		log.Warn("find the working directory; the record goes without it", "error", err)
	}
	if cfg.URL == "" && startsOff(environment, dir, log) {
		return become(cfg, environment, [3]*os.File{os.Stdin, os.Stdout, os.Stderr})
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, forwarded()...)
	// Without this a host that goes away would end us, by a signal, in the middle of
	// ending the server, and a record over the user's limit of a file in the middle of
	// the conversation.
	signal.Notify(make(chan os.Signal, 1), failedWrites()...)

	in, restoreIn := polled(os.Stdin)
	defer restoreIn() // the relay's own close may come too late
	out, restoreOut := polled(os.Stdout)
	defer restoreOut()
	p := proxy{
		config: cfg, env: environment, executable: executable, dir: dir, log: log,
		in: hostInput{in, restoreIn}, out: out, err: os.Stderr, signals: signals,
	}
	return p.run(context.Background())
}
