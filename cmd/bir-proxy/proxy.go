package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/relay"
	"github.com/bir-run/bir/relay/call"
	"github.com/bir-run/bir/relay/stdio"
	"github.com/bir-run/bir/relay/web"
)

// refuseTimeout bounds the wait for the request that is told that the server could
// not be started.
const refuseTimeout = time.Second

// proxy is one run of the program.
type proxy struct {
	config     config
	env        env.Env
	executable string
	dir        string
	log        *slog.Logger
	in         io.ReadCloser
	out        io.Writer
	err        io.Writer
	signals    <-chan os.Signal
}

// run starts the server, relays until it has ended and returns the exit status.
func (p *proxy) run(ctx context.Context) int {
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	if p.config.Front {
		return p.serve(ctx)
	}
	if p.config.Lazy {
		in, sig := firstWord(p.in, p.signals)
		if sig != nil {
			return signalStatus(sig)
		}
		if in == nil {
			return 0
		}
		p.in = in
	}
	server := &server{open: p.open}
	up, err := server.start(ctx)
	if err != nil {
		return p.refuse(ctx, err)
	}
	defer server.close()
	winding, windDown := context.WithCancel(ctx)
	defer windDown()
	// Ends with kill.
	go p.passSignals(ctx, server, windDown, kill)

	record := p.record()
	defer record.close()
	r := relay.New(p.relay(ctx, server, up, record))
	record.start(ctx, r.Call)
	if err := r.Run(winding); err != nil {
		p.log.Warn("relay ended early", "error", err)
	}
	status, ended := server.status()
	if !ended {
		p.log.Error("the server did not end", "server", p.config.ServerName)
		return exitFailed
	}
	return status
}

// open starts the server, or gets ready to reach it.
func (p *proxy) open(ctx context.Context) (upstream, error) {
	if p.config.URL != "" {
		return web.Open(ctx, p.web())
	}
	return stdio.Start(ctx, stdio.Config{Command: p.config.Command, Env: p.env.Vars, Name: p.config.ServerName, Stderr: p.err})
}

func (p *proxy) relay(ctx context.Context, server *server, up upstream, record *recording) relay.Config {
	cfg := relay.Config{
		HostIn: p.in, HostOut: p.out, Upstream: up,
		Name: p.config.ServerName, Log: p.log, Record: record.Record,
		CallIDs: p.env.CallIDs && !p.config.NoCorrelation && record.tier != nil,
		Self:    call.Info{Name: "bir", Version: version},
		StayUp:  p.env.StayUp,
	}
	if record.tier != nil {
		cfg.Declares = record.tier.Declares
	}
	if p.config.URL == "" { // a remote upstream has answers of its own for what is too large
		cfg.MaxMessageBytes = p.env.MaxMessageBytes
	}
	if p.config.Restart && p.config.URL == "" {
		cfg.Restart = func(context.Context) (relay.Upstream, error) { return server.start(ctx) }
	}
	return cfg
}

// passSignals hands the first signal on and starts the shutdown. A host that is in
// a hurry sends another: a different one is handed on too, the same one again kills
// the server at once.
func (p *proxy) passSignals(ctx context.Context, server *server, windDown, kill func()) {
	var seen []os.Signal
	for {
		select {
		case <-ctx.Done():
			return
		case sig := <-p.signals:
			if slices.Contains(seen, sig) {
				kill()
			}
			seen = append(seen, sig)
			server.signal(sig)
			windDown()
		}
	}
}

// refuse ends a proxy whose server could not be started, once it has told a host
// that already waits.
func (p *proxy) refuse(ctx context.Context, err error) int {
	fmt.Fprintf(p.err, "bir-proxy: %s\n", err)
	if !p.env.StayUp {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, refuseTimeout)
		defer cancel()
	}
	ctx, stop := p.signalled(ctx)
	defer stop()
	relay.Refuse(ctx, p.in, p.out, p.config.ServerName, p.env.StayUp)
	_ = p.in.Close()
	return startFailure(err)
}

// startFailure is the exit status of a server that could not be started.
func startFailure(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return exitNotFound
	}
	return exitFailed
}

// signalled is a context that a signal ends.
func (p *proxy) signalled(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	// Ends with the first signal or the context.
	go func() {
		select {
		case <-p.signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
