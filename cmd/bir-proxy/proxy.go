package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay"
	"github.com/bir-run/bir/relay/stdio"
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
	upstream, err := stdio.Start(ctx, stdio.Config{
		Command: p.config.Command, Name: p.config.ServerName, Stderr: p.err,
	})
	if err != nil {
		return p.refuse(ctx, err)
	}
	defer upstream.Close()
	winding, windDown := context.WithCancel(ctx)
	defer windDown()
	// Ends with the server.
	go p.passSignals(upstream, windDown, kill)

	record, closeRecord := p.record()
	defer closeRecord()
	r := relay.New(relay.Config{
		HostIn: p.in, HostOut: p.out, Upstream: upstream,
		Name: p.config.ServerName, Log: p.log, Record: record,
	})
	if err := r.Run(winding); err != nil {
		p.log.Warn("relay ended early", "error", err)
	}
	select {
	case <-upstream.Exited():
		return upstream.Status()
	default:
		p.log.Error("the server did not end", "server", p.config.ServerName)
		return exitFailed
	}
}

// passSignals hands the first signal on and starts the shutdown. A host that is in
// a hurry sends another: a different one is handed on too, the same one again kills
// the server at once.
func (p *proxy) passSignals(upstream *stdio.Process, windDown, kill func()) {
	var seen []os.Signal
	for {
		select {
		case <-upstream.Exited():
			return
		case sig := <-p.signals:
			for _, earlier := range seen {
				if sig == earlier {
					kill()
				}
			}
			seen = append(seen, sig)
			upstream.Signal(sig)
			windDown()
		}
	}
}

// refuse ends a proxy whose server could not be started, once it has told a host
// that already waits.
func (p *proxy) refuse(ctx context.Context, err error) int {
	fmt.Fprintf(p.err, "bir-proxy: %s\n", err)
	ctx, cancel := context.WithTimeout(ctx, refuseTimeout)
	defer cancel()
	relay.Refuse(ctx, p.in, p.out, p.config.ServerName, false)
	_ = p.in.Close()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return exitNotFound
	}
	return exitFailed
}

// record says what is recorded, and where; the function waits until it is safe.
func (p *proxy) record() (relay.Record, func()) {
	if p.config.NoRecord || p.env.Off {
		return relay.Record{}, func() {}
	}
	rec, closeRecorder := newRecorder(p)
	return relay.Record{
		Recorder: rec, Tier: recorder.TierStandalone, CWD: p.dir,
		Server: recorder.Server{Transport: "stdio", Command: p.config.Command, CWD: p.dir},
	}, closeRecorder
}
