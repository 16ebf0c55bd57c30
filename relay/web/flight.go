package web

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bir-run/bir/relay/jsonrpc"
)

// flight is one message of the host that is owed answers.
type flight struct {
	message
	stop context.CancelFunc // ends its exchange
	done chan struct{}      // closed when nothing is owed any more
	// session is the id that came with the answer to initialize; the exchange's own.
	session string

	mu        sync.Mutex // guards all below; owed too
	cancelled bool       // by the host, which waits for no answer then
	grace     *time.Timer
}

// settle takes an id off what is owed. It reports whether it was owed.
func (f *flight) settle(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.owed, func(o owed) bool { return o.key == key })
	if i < 0 {
		return false
	}
	f.owed = slices.Delete(f.owed, i, i+1)
	if len(f.owed) == 0 {
		close(f.done)
	}
	return true
}

// abandon takes what is still owed, for one who will answer it. It is empty where
// the host gave up.
func (f *flight) abandon() []owed {
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := f.owed
	if f.owed = nil; len(rest) > 0 {
		close(f.done)
	}
	if f.cancelled {
		return nil
	}
	return rest
}

func (f *flight) owes() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.owed) > 0
}

func (f *flight) isCancelled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cancelled
}

func (f *flight) endGrace() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.grace != nil {
		f.grace.Stop()
	}
}

// flights are the messages that are owed answers.
type flights struct {
	mu   sync.Mutex // guards all below; taken before a flight's own
	open []*flight
	held int // bytes of their messages
}

func (t *flights) add(f *flight) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = append(t.open, f)
	t.held += len(f.raw)
}

func (t *flights) remove(f *flight) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.open, f); i >= 0 {
		t.open = slices.Delete(t.open, i, i+1)
		t.held -= len(f.raw)
	}
}

// bytes is what the messages hold together.
func (t *flights) bytes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held
}

// find is the oldest flight that owes an answer under the id.
func (t *flights) find(key string) *flight {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.open {
		f.mu.Lock()
		has := slices.ContainsFunc(f.owed, func(o owed) bool { return o.key == key })
		f.mu.Unlock()
		if has {
			return f
		}
	}
	return nil
}

func (t *flights) all() []*flight {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.open)
}

// deliver passes one message of the server on to the host. The flight is the one
// whose exchange it came in, nil for a stream of its own. It reports false for what
// is no message.
func (u *Upstream) deliver(f *flight, line []byte) bool {
	m := jsonrpc.Head(line)
	switch m.Kind {
	case jsonrpc.Noise, jsonrpc.Blank:
		return false
	case jsonrpc.Response:
		u.settle(f, m.ID, line)
	case jsonrpc.Batch:
		for _, element := range m.Elements() {
			if element.Kind == jsonrpc.Response {
				u.settle(f, element.ID, element.Raw)
			}
		}
	}
	u.emit(line)
	return true
}

// settle notes an answer before it is passed on. With the answer to tools/list that
// matters: the host may call a tool as soon as it has it.
func (u *Upstream) settle(f *flight, id, answer []byte) {
	key, ok := jsonrpc.Key(id)
	if !ok {
		return
	}
	if f == nil || !f.owesTo(key) {
		if f = u.flights.find(key); f == nil {
			return // late, or an answer to nothing: the host's to judge
		}
	}
	switch f.method {
	case methodTools:
		members, _ := jsonrpc.Object(f.params, "cursor")
		u.tools.Learn(answer, members[0] == nil)
	case methodInitialize:
		u.carrier.welcomed(f, answer)
	}
	f.settle(key)
}

func (f *flight) owesTo(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.owed, func(o owed) bool { return o.key == key })
}

// emit writes a line to the host, and waits until it is read. An error means that
// nobody reads any more.
func (u *Upstream) emit(line []byte) {
	if bytes.IndexByte(line, '\n') >= 0 {
		line = oneLine(line)
	}
	_, _ = u.out.Write(append(line, '\n')) // in one piece: others write too
}

// fail answers what a flight still owes with an error (R19).
func (u *Upstream) fail(f *flight, err *failure) {
	for _, o := range f.abandon() {
		u.emit(errorLine(o.id, err))
	}
}
