package sandbox

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

const (
	strikesAllowed = 2
	quarantineFor  = 10 * time.Minute
	maxQuarantined = 1024
)

// quarantine remembers bodies that took a worker down, so that one bad scenario
// does not keep a pool busy with starting processes.
type quarantine struct {
	now func() time.Time

	mu     sync.Mutex // guards bodies
	bodies map[[sha256.Size]byte]*strikes
}

// strikes are those of one body, forgotten after a while.
type strikes struct {
	count int
	last  *Error
	until time.Time
}

func newQuarantine() *quarantine {
	return &quarantine{now: time.Now, bodies: map[[sha256.Size]byte]*strikes{}}
}

func key(body Body) [sha256.Size]byte {
	// An unproved body may run at level wasm, which is slower; another time may be enough.
	return sha256.Sum256(fmt.Appendf(nil, "%s\x00%t\x00%d\x00%s", body.Kind, body.Unproved, body.Timeout, body.Source))
}

// refusal is the error that the body ended with, if it may not run now.
func (q *quarantine) refusal(body Body) *Error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.bodies) == 0 {
		return nil // the usual case: no hash to compute
	}
	s := q.bodies[key(body)]
	if s == nil || s.count < strikesAllowed || !q.now().Before(s.until) {
		return nil
	}
	refused := *s.last
	return &refused
}

func (q *quarantine) strike(body Body, err *Error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	q.forgetLocked(now)
	s := q.bodies[key(body)]
	if s == nil {
		s = &strikes{}
		q.bodies[key(body)] = s
	}
	s.count++
	s.last, s.until = err, now.Add(quarantineFor)
}

// forgetLocked drops what has expired, and everything when bodies are made up
// faster than that: then each is new, and remembering them helps nobody.
func (q *quarantine) forgetLocked(now time.Time) {
	for k, s := range q.bodies {
		if !now.Before(s.until) {
			delete(q.bodies, k)
		}
	}
	if len(q.bodies) >= maxQuarantined {
		clear(q.bodies)
	}
}
