package relay

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/bir-run/bir/relay/jsonrpc"
)

// call is one request of the host that has no answer yet.
type call struct {
	order     int
	id        string // raw JSON text, for an answer of ours
	method    string
	line      int64 // of the host's stream
	modern    bool  // it came with the per-request _meta of 2026-07-28
	batched   bool  // it came in a batch, and so will its answer
	cancelled bool
	started   time.Time
	tool      *toolCall // nil for other methods, and where nothing is recorded
	task      string    // of which this asks what became, likewise
	next      *call     // the next request under the same id, sent before this was answered
}

// reports says whether the answer is one to report.
func (c *call) reports() bool { return c.tool != nil || c.task != "" }

// table holds the requests in flight, by the key of their id.
type table struct {
	mu    sync.Mutex // guards all below
	open  map[string]*call
	count int
}

// add notes a request.
func (t *table) add(key string, c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count++
	c.order = t.count
	t.open[key] = chain(t.open[key], c)
}

// records says whether the answer with this raw id may be one to report.
func (t *table) records(id []byte) bool {
	key, ok := jsonrpc.Key(id)
	if !ok {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := t.open[key]; c != nil; c = c.next {
		if c.reports() {
			return true
		}
	}
	return false
}

// take removes the request that an answer belongs to; nil when there is none. Where
// several requests under one id could have it, none of them will be recorded and
// told is false. That is not so when the answer had been read before the second was
// sent: a host may use an id again as soon as it has the answer, which can be before
// the answer is noted here.
func (t *table) take(key string, readAt time.Time) (c *call, told bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c = t.open[key]
	if c == nil {
		return nil, true
	}
	told = true
	if c.next != nil && !readAt.Before(c.next.started) {
		for twin := c; twin != nil; twin = twin.next {
			told = told && twin.tool == nil
			twin.tool = nil
		}
	}
	if c.next == nil {
		delete(t.open, key)
	} else {
		t.open[key] = c.next
	}
	return c, told
}

// has says whether a request of the host is open under an id.
func (t *table) has(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[key] != nil
}

// asks says whether an answer belongs to a request of a method.
func (t *table) asks(id []byte, method string) bool {
	key, ok := jsonrpc.Key(id)
	if !ok {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := t.open[key]; c != nil; c = c.next {
		if c.method == method {
			return true
		}
	}
	return false
}

// cancel notes that the host gave up on what is in flight under an id, and returns
// the calls to report for that. An answer may still come; it is owed to nobody.
func (t *table) cancel(key string) (ended []call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := t.open[key]; c != nil; c = c.next {
		c.cancelled = true
		ended = append(ended, *c)
		c.tool = nil
	}
	return ended
}

// takeIf removes the requests for which gone holds, oldest first.
func (t *table) takeIf(gone func(*call) bool) []*call {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*call
	for key, first := range t.open {
		var kept *call
		for c := first; c != nil; {
			next := c.next
			c.next = nil
			if gone(c) {
				all = append(all, c)
			} else {
				kept = chain(kept, c)
			}
			c = next
		}
		if kept == nil {
			delete(t.open, key)
		} else {
			t.open[key] = kept
		}
	}
	slices.SortFunc(all, func(a, b *call) int { return cmp.Compare(a.order, b.order) })
	return all
}

// chain puts c behind the last of the requests under its id.
func chain(first, c *call) *call {
	if first == nil {
		return c
	}
	last := first
	for last.next != nil {
		last = last.next
	}
	last.next = c
	return first
}
