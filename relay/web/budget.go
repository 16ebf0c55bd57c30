package web

import (
	"context"
	"sync"
)

const (
	// freeBytes of each message are not counted.
	freeBytes = 64 << 10
	// budgetBytes is what the messages that are being read may hold together.
	budgetBytes = 64 << 20
)

// budget bounds the memory of the messages that are being read. One message at a
// time may go beyond it, so that there is always one that can be read to its end:
// what all hold together is at most the budget and one message.
type budget struct {
	beyond chan struct{} // holds a token while one message goes beyond
	mu     sync.Mutex    // guards all below
	free   int
	freed  chan struct{} // closed, and replaced, when some is given back
}

func newBudget(bytes int) *budget {
	return &budget{beyond: make(chan struct{}, 1), free: bytes, freed: make(chan struct{})}
}

// lease is one message's part of the budget.
type lease struct {
	of     *budget
	held   int
	beyond bool
}

// grow waits until the message may hold so much in all.
func (l *lease) grow(ctx context.Context, bytes int) error {
	for bytes > freeBytes && bytes > l.held && !l.beyond {
		freed := l.of.take(l, bytes)
		if freed == nil {
			return nil
		}
		select {
		case l.of.beyond <- struct{}{}:
			l.beyond = true
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// take gives the lease what it wants, or a channel to wait on.
func (b *budget) take(l *lease, bytes int) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if more := bytes - l.held; b.free >= more {
		b.free -= more
		l.held = bytes
		return nil
	}
	return b.freed
}

// end gives everything back.
func (l *lease) end() {
	if l.held == 0 && !l.beyond {
		return
	}
	l.of.mu.Lock()
	l.of.free += l.held
	close(l.of.freed)
	l.of.freed = make(chan struct{})
	l.of.mu.Unlock()
	if l.beyond {
		<-l.of.beyond
	}
	l.held, l.beyond = 0, false
}
