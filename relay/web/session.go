package web

import (
	"context"
	"net/http"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/relay/headers"
	"github.com/bir-run/bir/relay/origin"
)

const (
	headerSession     = "Mcp-Session-Id"
	headerLastEventID = "Last-Event-Id"

	acceptBoth   = "application/json, text/event-stream"
	acceptStream = "text/event-stream"
)

// session is what the legacy handshake agreed on, and the host's part of it, to
// agree anew when the server has forgotten it (R22).
type session struct {
	renewing chan struct{} // holds a token while someone renews

	mu      sync.Mutex // guards all below
	now     terms
	hello   []byte        // the host's initialize
	ready   []byte        // the host's notifications/initialized
	changed chan struct{} // closed, and replaced, when the terms are others
	heard   chan struct{} // closed when the server has answered the first GET of the terms
}

// terms are what a request of the legacy era says in its headers.
type terms struct {
	epoch   int    // how often there was a handshake
	id      string // of the session; empty where the server keeps none
	version string
	open    bool // the server knows that the handshake is over
}

func newSession() *session {
	return &session{renewing: make(chan struct{}, 1), changed: make(chan struct{})}
}

func (s *session) current() (terms, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.changed
}

// begin notes a handshake whose initialize was answered.
func (s *session) begin(hello []byte, id, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hello = hello
	s.now = terms{epoch: s.now.epoch + 1, id: id, version: version}
	s.change()
}

// opened notes that the server took notifications/initialized.
func (s *session) opened(ready []byte, epoch int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready = ready; s.now.epoch == epoch {
		s.now.open = true
		s.heard = make(chan struct{})
		s.change()
	}
}

// listening is closed when the server has answered the first GET of the session, and
// so knows where to say what it says unasked.
func (s *session) listening() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

// listens notes that it is so.
func (s *session) listens(epoch int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.epoch != epoch || s.heard == nil {
		return
	}
	select {
	case <-s.heard:
	default:
		close(s.heard)
	}
}

func (s *session) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *session) handshake() (hello, ready []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hello, s.ready
}

// setOn writes the terms into the headers of a request.
func (t terms) setOn(h http.Header) {
	if t.version != "" {
		h[headers.Version] = []string{t.version}
	}
	if t.id != "" {
		h[headerSession] = []string{t.id}
	}
}

// renew makes sure that the terms are others than those of epoch. Of many who ask
// one does it.
func (s *session) renew(ctx context.Context, epoch int, shake func(ctx context.Context, hello, ready []byte) error) error {
	select {
	case s.renewing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.renewing }()
	if now, _ := s.current(); now.epoch != epoch {
		return nil
	}
	hello, ready := s.handshake()
	if hello == nil {
		return failf(origin.CodeRefused, "upstream has no such session (HTTP 404)")
	}
	return shake(ctx, hello, ready)
}

// agreedVersion is the revision in the answer to initialize; empty for an error.
func agreedVersion(answer []byte) string {
	return gjson.GetBytes(answer, "result.protocolVersion").Str
}
