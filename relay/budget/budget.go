// Package budget bounds the memory that messages hold together while they are read.
// It is pure bookkeeping. It must never make everyone wait: one message at a time
// may go beyond the budget, so that there is always one that can be read to its end.
package budget

import (
	"context"
	"sync"
)

const (
	// freeBytes of each message are not counted.
	freeBytes = 64 << 10
	// DefaultBytes is the budget of one connection to a host.
	DefaultBytes = 64 << 20
)

// Budget is shared by messages. What they hold together is at most its size, one
// message more, and the little that is not counted.
type Budget struct {
	beyond chan struct{} // holds a token while one message goes beyond
	mu     sync.Mutex    // guards all below
	free   int
	freed  chan struct{} // closed, and replaced, when some is given back
}

// New makes a budget.
func New(bytes int) *Budget {
	return &Budget{beyond: make(chan struct{}, 1), free: bytes, freed: make(chan struct{})}
}

// Lease is one message's part of a budget. It belongs to one goroutine.
type Lease struct {
	Of     *Budget
	held   int
	beyond bool
}

// Grow waits until the message may hold so much in all.
func (l *Lease) Grow(ctx context.Context, bytes int) error {
	for bytes > freeBytes && bytes > l.held && !l.beyond {
		freed := l.Of.take(l, bytes)
		if freed == nil {
			return nil
		}
		select {
		case l.Of.beyond <- struct{}{}:
			l.beyond = true
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// take gives the lease what it wants, or a channel to wait on.
func (b *Budget) take(l *Lease, bytes int) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if more := bytes - l.held; b.free >= more {
		b.free -= more
		l.held = bytes
		return nil
	}
	return b.freed
}

// End gives everything back. The lease can be used again.
func (l *Lease) End() {
	if l.held == 0 && !l.beyond {
		return
	}
	l.Of.mu.Lock()
	l.Of.free += l.held
	close(l.Of.freed)
	l.Of.freed = make(chan struct{})
	l.Of.mu.Unlock()
	if l.beyond {
		<-l.Of.beyond
	}
	l.held, l.beyond = 0, false
}
