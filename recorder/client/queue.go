package client

import (
	"slices"
	"sync"
	"time"

	"github.com/bir-run/bir/recorder"
)

// report is one call of a Recorder method. One of start, call, finish and flushed
// is set.
type report struct {
	run     string
	start   *recorder.Run
	call    *recorder.Call
	finish  *recorder.Finish
	flushed chan struct{} // closed when everything before it is sent or spooled

	bytes  int
	missed bool // calls of this run were dropped before this report
}

// queue is what waits for the worker. When it holds too many calls, or too many
// bytes of them, the oldest call is dropped and its run marked. Starts and ends of
// runs are never dropped: they are few, and a run without them is worth nothing.
type queue struct {
	maxCalls, maxBytes int
	wake               chan struct{} // has a token when there is something to take at once
	timer              *time.Timer   // fires when there is something to take
	// While the timer runs, calls collect: waking for each costs more than the call.

	mu      sync.Mutex // guards what follows
	reports []report
	calls   int
	bytes   int
	missed  map[string]bool
	closed  bool
}

const (
	// collectTime is how long a call waits for others, unless so many, or so many
	// bytes of them, have come before.
	collectTime  = 5 * time.Millisecond
	collectCalls = maxRows / 2
	collectBytes = maxRowBytes / 2
)

func newQueue(maxCalls, maxBytes int) *queue {
	q := &queue{maxCalls: maxCalls, maxBytes: maxBytes, wake: make(chan struct{}, 1), timer: time.NewTimer(collectTime), missed: map[string]bool{}}
	q.timer.Stop()
	return q
}

// push adds a report, false when the queue is closed.
func (q *queue) push(r report) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.reports = append(q.reports, r)
	if r.call == nil {
		q.signal()
		return true
	}
	q.calls++
	q.bytes += r.bytes
	q.boundLocked()
	switch {
	case q.calls == min(collectCalls, q.maxCalls), q.bytes >= collectBytes:
		q.signal()
	case q.calls == 1:
		q.timer.Reset(collectTime)
	}
	return true
}

// boundLocked drops the oldest calls until the queue is within its bounds. One
// call is always kept, however large.
func (q *queue) boundLocked() {
	for q.calls > q.maxCalls || q.bytes > q.maxBytes && q.calls > 1 {
		oldest := slices.IndexFunc(q.reports, func(r report) bool { return r.call != nil })
		r := q.reports[oldest]
		q.calls--
		q.bytes -= r.bytes
		q.missed[r.run] = true
		copy(q.reports[1:], q.reports[:oldest]) // what is before it is little
		q.reports[0] = report{}
		q.reports = q.reports[1:]
	}
}

// take returns everything that waits, and whether more can come.
func (q *queue) take() ([]report, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.reports
	for i := range taken {
		if run := taken[i].run; q.missed[run] {
			taken[i].missed = true
			delete(q.missed, run)
		}
	}
	q.reports, q.calls, q.bytes = nil, 0, 0
	return taken, !q.closed
}

// waiting says whether there is something to take.
func (q *queue) waiting() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.reports) > 0
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

// signal never blocks: one token says all there is to say.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
