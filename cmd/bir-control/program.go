package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/cmd/internal/reach"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/daemon"
	"github.com/bir-run/bir/control/discover"
	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/off"
	"github.com/bir-run/bir/control/runs"
	"github.com/bir-run/bir/recorder/client"
	"github.com/bir-run/bir/recorder/launch"
	"github.com/bir-run/bir/recorder/process"
)

const (
	maxLogMiB  = 5
	logBackups = 2
	// sendTimeout bounds the wait for the service at the end. What it has not taken by
	// then waits in the spool.
	sendTimeout = 3 * time.Second
	// Every session of the project waits in one queue for a service that is slow for a
	// moment, so that it holds more than a proxy's; the bytes bound it.
	maxQueueCalls = 50_000
	maxQueueBytes = 24 << 20
)

// program is one run of the binary.
type program struct {
	flags      flags
	env        env.Env
	executable string
	log        *slog.Logger
}

func (p *program) run(ctx context.Context) error {
	if p.env.Home == "" { // not into whatever folder we are run in
		return errors.New("no home folder is known; set BIR_HOME")
	}
	if p.flags.detach {
		return p.detach(ctx)
	}
	return p.serve(ctx)
}

func (p *program) detach(ctx context.Context) error {
	_, _, err := daemon.Starter{
		Home: p.env.Home, Root: p.flags.root, Version: version, Replace: p.flags.replace,
		Command: []string{p.executable}, Environ: p.env.Vars,
	}.Ensure(ctx)
	return err
}

func (p *program) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	guards := newGuards(p.env, p.flags.root, p.log)
	defer guards.making.Wait()
	defer cancel()
	return daemon.Run(ctx, daemon.Config{
		Home: p.env.Home, Root: p.flags.root, Version: version, Replace: p.flags.replace,
		Open: func(key string) (daemon.Book, error) {
			guards.start(ctx) // not before this process is the one that serves
			return p.openBook(key)
		},
		Guards:    guards.health,
		Announced: p.tellHooks,
		Idle:      p.env.ControlIdle,
		Logger:    p.log,
	})
}

// tellHooks writes into the client's settings where this server is, for hooks over
// HTTP. A client whose settings cannot be written goes on as if no server were there.
func (p *program) tellHooks(file locate.File) {
	// Ends when the files are written, or with the process: an installation that runs
	// has their lock, and may wait for this server.
	go func() {
		in := hosts.Installer{Home: p.env.Home, Version: version, NowMS: time.Now().UnixMilli()}
		if err := in.Refresh(file.Root, file.URL, file.Token); err != nil {
			p.log.Warn("control.hooks", "error", err)
		}
	}()
}

// book is the book of runs and the recorder that it reports to.
type book struct {
	*runs.Book
	recorder *client.StreamRecorder
}

func (p *program) openBook(key string) (daemon.Book, error) {
	stream := client.NewRecorder(client.RecorderConfig{
		Connect: func(ctx context.Context) (*client.Client, error) {
			return reach.Service(ctx, p.env, p.executable, p.log)
		},
		QueueCalls: maxQueueCalls,
		QueueBytes: maxQueueBytes,
		SpoolDir:   launch.SpoolDir(p.env.Home, p.env.AuthURL),
		Logger:     p.log,
	})
	open, err := runs.Open(runs.Config{
		Root: p.flags.root, Home: p.env.Home, Version: version,
		Journal:        discover.Journal(p.env.Home, p.flags.root),
		Recorder:       stream,
		CallIDs:        p.env.CallIDs,
		FingerprintKey: key,
		Off:            p.offSwitch(),
		Alive:          process.Alive,
		Logger:         p.log,
	})
	if err != nil {
		ctx, cancel := context.WithTimeout(context.Background(), sendTimeout)
		defer cancel()
		return nil, errors.Join(err, stream.Close(ctx))
	}
	return book{open, stream}, nil
}

// Close implements daemon.Book: the next server may have the runs only once nothing
// of them is written here any more.
func (b book) Close(ctx context.Context) error {
	err := b.Book.Close(ctx)
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return errors.Join(err, b.recorder.Close(ctx))
}

// offSwitch looks at the switch for this project; many requests may at once.
func (p *program) offSwitch() func() bool {
	var mu sync.Mutex // guards watch
	watch := off.Watch{Home: p.env.Home, Dir: p.flags.root}
	return func() bool {
		mu.Lock()
		defer mu.Unlock()
		return watch.Off(time.Now())
	}
}
