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
	modern    bool // it came with the per-request _meta of 2026-07-28
	cancelled bool
	started   time.Time
	tool      *toolCall // nil for other methods, and where nothing is recorded
	next      *call     // the next request under the same id, sent before this was answered
}

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
	last := t.open[key]
	if last == nil {
		t.open[key] = c
		return
	}
	for last.next != nil {
		last = last.next
	}
	last.next = c
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
		if c.tool != nil {
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

// cancel notes that the host gave up on what is in flight under an id. An answer
// may still come.
func (t *table) cancel(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := t.open[key]; c != nil; c = c.next {
		c.cancelled = true
	}
}

// pending lists what is in flight, oldest first.
func (t *table) pending() []call {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []call
	for _, c := range t.open {
		for ; c != nil; c = c.next {
			all = append(all, *c)
		}
	}
	slices.SortFunc(all, func(a, b call) int { return cmp.Compare(a.order, b.order) })
	return all
}

// drain empties the table.
func (t *table) drain() []call {
	all := t.pending()
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.open)
	return all
}
