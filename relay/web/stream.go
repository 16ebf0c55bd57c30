package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/bir-run/bir/relay/origin"
	"github.com/bir-run/bir/relay/sse"
)

const (
	// lingerTimeout is how long a stream may stay open behind its answer.
	lingerTimeout = 5 * time.Second
	// maxBarren is how often in a row a stream is resumed without an event.
	maxBarren = 5
	// maxBackoff bounds the wait before a stream is opened again.
	maxBackoff = 30 * time.Second
	// minBackoff keeps a server that says "retry: 0" and closes from being called all
	// the time.
	minBackoff = 10 * time.Millisecond
)

// place is how far a stream was read, over all its connections (R23).
type place struct {
	lastID string
	retry  time.Duration
	asked  bool // the server named the retry
	barren int  // connections in a row that brought nothing
}

func (p *place) note(r *sse.Reader, event bool) {
	if id := r.LastEventID(); id != p.lastID && id != "" {
		p.lastID, event = id, true
	}
	if retry, ok := r.Retry(); ok {
		p.retry, p.asked = retry, true
	}
	if event {
		p.barren = 0
	}
}

// backoff is the wait before a stream is opened again: what the server asked for,
// or ever longer while nothing comes.
type backoff struct{ first time.Duration }

// pause waits; false means that ctx ended.
func (b backoff) pause(ctx context.Context, p *place) bool {
	wait := p.retry
	if !p.asked {
		wait = min(b.first<<min(p.barren, 10), maxBackoff)
	}
	p.barren++
	timer := time.NewTimer(max(wait, minBackoff))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// message passes an event on.
func (s *streamable) message(f *flight, e sse.Event) {
	if e.Type != "" || len(e.Data) == 0 { // data may be empty where only the id matters
		return
	}
	if !s.u.deliver(f, e.Data) {
		s.u.log.Warn("upstream sent an event that is no JSON-RPC message", "bytes", e.Size)
	}
}

// follow passes on the stream that answers a flight, event by event (R18). When it
// ends too early it is resumed where the server made that possible.
func (s *streamable) follow(ctx context.Context, f *flight, res *http.Response) error {
	var at place
	err := s.read(ctx, f, res, &at)
	for f.owes() && resumable(f, at, err) && s.backoff.pause(ctx, &at) {
		t, _ := s.session.current()
		var next *http.Response
		if next, err = s.get(ctx, at.lastID, t); err != nil {
			continue
		}
		if isStream(next) {
			err = s.read(ctx, f, next, &at)
			continue
		}
		origin.Discard(next)
		if err = failf(origin.CodeLost, "upstream ended its stream before the answer"); !passing(next) {
			return err
		}
	}
	return err
}

// passing says whether a refusal may be over the next time.
func passing(res *http.Response) bool {
	return res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500 && res.StatusCode != http.StatusNotImplemented
}

// resumable says whether it makes sense to ask for the rest of a stream. The modern
// era has no such thing.
func resumable(f *flight, at place, err error) bool {
	var why *failure
	lost := errors.As(err, &why) && (why.Code == origin.CodeLost || why.Code == origin.CodeUnreachable)
	return lost && f.version == "" && !f.isCancelled() && at.lastID != "" && at.barren < maxBarren
}

// read reads one connection of a flight's stream. Behind the answer it goes on for a
// moment: the connection can be used again only if the server ends it.
func (s *streamable) read(ctx context.Context, f *flight, res *http.Response, at *place) error {
	defer res.Body.Close()
	var linger *time.Timer
	err := s.u.events(ctx, res.Body, at, func(e sse.Event) bool {
		s.message(f, e)
		if linger == nil && !f.owes() {
			linger = time.AfterFunc(lingerTimeout, func() { res.Body.Close() })
		}
		return false
	})
	if linger != nil {
		linger.Stop()
	}
	return err
}

// get opens a stream, at its beginning or behind an event.
func (s *streamable) get(ctx context.Context, lastID string, t terms) (*http.Response, error) {
	h := s.origin.NewHeader(acceptStream)
	t.setOn(h)
	if lastID != "" {
		h.Set(headerLastEventID, lastID)
	}
	return s.origin.Do(ctx, http.MethodGet, s.origin.URL, h, nil)
}

func isStream(res *http.Response) bool {
	return res.StatusCode == http.StatusOK && mediaType(res) == "text/event-stream"
}

// run keeps the stream open on which the server speaks unasked, in each session and
// as long as the server offers it.
func (s *streamable) run(ctx context.Context) {
	for ctx.Err() == nil {
		t, changed := s.session.current()
		if t.open {
			s.listen(ctx, t, changed)
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// listen reads the stream of one session. It returns when that is another's turn, or
// when the server offers none.
func (s *streamable) listen(ctx context.Context, t terms, changed <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Ends with ctx.
	go func() {
		select {
		case <-changed:
			cancel()
		case <-ctx.Done():
		}
	}()
	var at place
	for s.listenOnce(ctx, t, &at) && s.backoff.pause(ctx, &at) {
	}
}

func (s *streamable) listenOnce(ctx context.Context, t terms, at *place) (offered bool) {
	res, err := s.get(ctx, at.lastID, t)
	s.session.listens(t.epoch)
	if err != nil {
		var why *failure
		return errors.As(err, &why) && why.Code != origin.CodeRefused
	}
	defer res.Body.Close()
	if !isStream(res) {
		origin.Discard(res)
		return passing(res)
	}
	err = s.u.events(ctx, res.Body, at, func(e sse.Event) bool {
		s.message(nil, e)
		return false
	})
	s.u.log.Debug("upstream's own stream ended", "error", err)
	return true
}

// bye ends the session (R23).
func (s *streamable) bye(ctx context.Context) {
	t, _ := s.session.current()
	if t.id == "" {
		return
	}
	h := s.origin.NewHeader("*/*")
	t.setOn(h)
	res, err := s.origin.Do(ctx, http.MethodDelete, s.origin.URL, h, nil)
	if err != nil {
		s.u.log.Debug("end the session", "error", err)
		return
	}
	origin.Discard(res) // 405 means that the server keeps its sessions
}
