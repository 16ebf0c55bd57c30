package main

import (
	"context"
	"os"
	"sync"

	"github.com/bir-run/bir/relay"
)

// upstream is a server: a child, or one that is reached over HTTP.
type upstream interface {
	relay.Upstream
	Exited() <-chan struct{}
	Status() int // holds once Exited is closed
	Signal(os.Signal)
	Close() error
}

// server is the upstream behind the relay: the first, or the one that took its place.
type server struct {
	open func(ctx context.Context) (upstream, error)

	mu  sync.Mutex // guards now
	now upstream
}

// start opens the upstream, or another after it.
func (s *server) start(ctx context.Context) (upstream, error) {
	next, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		_ = s.now.Close() // it has ended, and its output was read
	}
	s.now = next
	return next, nil
}

func (s *server) current() upstream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *server) signal(sig os.Signal) { s.current().Signal(sig) }

// status is how the last one ended; ok is false while it runs.
func (s *server) status() (status int, ok bool) {
	p := s.current()
	select {
	case <-p.Exited():
		return p.Status(), true
	default:
		return 0, false
	}
}

func (s *server) close() { _ = s.current().Close() }
