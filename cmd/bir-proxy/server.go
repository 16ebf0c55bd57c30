package main

import (
	"context"
	"os"
	"sync"

	"github.com/bir-run/bir/relay/stdio"
)

// server is the child behind the relay: the first, or the one that took its place.
type server struct {
	cfg stdio.Config

	mu  sync.Mutex // guards now
	now *stdio.Process
}

// start starts the child, or another after it.
func (s *server) start(ctx context.Context) (*stdio.Process, error) {
	next, err := stdio.Start(ctx, s.cfg)
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

func (s *server) current() *stdio.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *server) signal(sig os.Signal) { s.current().Signal(sig) }

// status is how the last child ended; ok is false while it runs.
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
