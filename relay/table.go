package relay

import (
	"cmp"
	"maps"
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
	// twins counts the other requests that are in flight under the same id. Nothing
	// tells their answers apart, so none of them is recorded.
	twins   int
	started time.Time
	tool    *toolCall // nil for other methods, and where nothing is recorded
}

// table holds the requests in flight, by the key of their id.
type table struct {
	mu    sync.Mutex // guards all below
	open  map[string]*call
	count int
}

// add notes a request; it reports whether its id was free.
func (t *table) add(key string, c *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if first, taken := t.open[key]; taken {
		first.twins++
		first.tool = nil
		return false
	}
	t.count++
	c.order = t.count
	t.open[key] = c
	return true
}

// records says whether the answer with this raw id is one to report.
func (t *table) records(id []byte) bool {
	key, ok := jsonrpc.Key(id)
	if !ok {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.open[key]
	return c != nil && c.tool != nil
}

// take removes the request that an answer belongs to; nil when there is none, or
// when there are several.
func (t *table) take(key string) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.open[key]
	if c == nil {
		return nil
	}
	if c.twins > 0 {
		c.twins--
		return nil
	}
	delete(t.open, key)
	return c
}

// cancel notes that the host gave up on a request. An answer may still come.
func (t *table) cancel(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.open[key]; c != nil {
		c.cancelled = true
	}
}

// pending lists what is in flight, oldest first.
func (t *table) pending() []call {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []call
	for _, c := range t.open {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b call) int { return cmp.Compare(a.order, b.order) })
	return all
}

// drain empties the table.
func (t *table) drain() []call {
	all := t.pending()
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.open, func(string, *call) bool { return true })
	return all
}
