package service

import (
	"net/http"
	"sync"
	"time"
)

// idleTimer tells when no request has been under way for a while.
type idleTimer struct {
	after time.Duration
	timer *time.Timer // nil: never expires

	mu     sync.Mutex // guards active, and the timer's state with it
	active int
}

func newIdleTimer(after time.Duration) *idleTimer {
	t := &idleTimer{after: after}
	if after > 0 {
		t.timer = time.NewTimer(after)
	}
	return t
}

// expired is ready once the time is over.
func (t *idleTimer) expired() <-chan time.Time {
	if t.timer == nil {
		return nil
	}
	return t.timer.C
}

// track counts the requests that go through next.
func (t *idleTimer) track(next http.Handler) http.Handler {
	if t.timer == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.add(1)
		defer t.add(-1)
		next.ServeHTTP(w, r)
	})
}

func (t *idleTimer) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active += n
	if t.active == 0 {
		t.timer.Reset(t.after)
	} else {
		t.timer.Stop()
	}
}
