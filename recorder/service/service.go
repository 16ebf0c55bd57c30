// Package service is the embedded service: the HTTP API of recordings and
// scenarios over a store. It owns its process from the lock that keeps a second
// one away to the file through which it is found. It never runs a body itself,
// never saves one that was not checked, and never listens beyond loopback.
//
// Why is the store opened here and not by the caller? Ten processes may start at
// once. Only the one with the lock may touch the database; the others must leave
// before they have opened, or migrated, anything.
//
// Why is a forced edit kept ready? The owner forced it in order to replay it. The
// step says forced, which sends its body to the stricter evaluator.
package service

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder/launch"
	"github.com/bir-run/bir/recorder/store"
)

// ErrAlreadyRunning says that another process of this user serves.
var ErrAlreadyRunning = errors.New("the service is already running")

const (
	// drainTimeout bounds how long requests under way may take once the service
	// is told to stop.
	drainTimeout = 5 * time.Second
	// readTimeout bounds the arrival of a request. Answers have no bound:
	// calculating a long run takes as long as its bodies do.
	readTimeout = 30 * time.Second
	// keepAlive is how long an idle connection is kept.
	keepAlive = 2 * time.Minute

	maxHeaderBytes = 64 << 10
	tokenBytes     = 32
)

// Config says what to serve.
type Config struct {
	Home    string // BIR_HOME: the lock and the service file are here
	Version string
	// OpenStore is called once this process is the one that serves; Run closes
	// what it gave.
	OpenStore func(context.Context) (store.Store, error)
	Evaluator engine.Evaluator
	Addr      string        // loopback; "127.0.0.1:0" when empty
	Idle      time.Duration // stop after so long without a request; 0: never
	Logger    *slog.Logger  // nil: discard
}

// Run serves until ctx ends, POST /shutdown asks for it, or nobody has asked for
// anything during Config.Idle. Requests under way are finished first.
// ErrAlreadyRunning when another process serves.
func Run(ctx context.Context, cfg Config) (err error) {
	release, err := acquire(cfg.Home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	st, err := cfg.OpenStore(ctx)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer func() { err = errors.Join(err, st.Close()) }()

	listener, err := listen(ctx, cfg.Addr)
	if err != nil {
		return err
	}
	s := newServer(cfg, st, newToken())
	file := launch.File{
		URL:       "http://" + listener.Addr().String(),
		Token:     s.token,
		PID:       os.Getpid(),
		Version:   cfg.Version,
		StartedAt: s.started,
	}
	if err := launch.Write(cfg.Home, file); err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, launch.Remove(cfg.Home, file.PID)) }()
	return s.serve(ctx, listener)
}

// acquire takes the lock that only the serving process holds.
func acquire(home string) (release func() error, err error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	lock := launch.ServeLock(home)
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	if !held {
		return nil, ErrAlreadyRunning
	}
	return lock.Close, nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	if !loopback(addr) {
		return nil, fmt.Errorf("listen on %s: not a loopback address", addr)
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", addr)
}

func newToken() string {
	token := make([]byte, tokenBytes)
	_, _ = rand.Read(token) // documented never to fail
	return hex.EncodeToString(token)
}

// serve answers until something ends it, then lets requests under way finish.
func (s *server) serve(ctx context.Context, listener net.Listener) error {
	srv := &http.Server{
		Handler:        s.handler(),
		ReadTimeout:    readTimeout,
		IdleTimeout:    keepAlive,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		// A request outlives the order to stop, up to drainTimeout.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }() // ends with drain, or on its own error
	s.log.LogAttrs(ctx, slog.LevelInfo, "serving", slog.String("address", listener.Addr().String()))

	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	case <-s.stop:
	case <-s.idle.expired():
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "stopping")
	err := drain(ctx, srv)
	<-failed
	return err
}

func drain(ctx context.Context, srv *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("drain: %w", err), srv.Close())
	}
	return nil
}
