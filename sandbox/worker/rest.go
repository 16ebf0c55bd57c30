package worker

import (
	"runtime/debug"
	"sync/atomic"
	"time"
)

// restAfter is how long a worker waits before it gives back what it has no use for: the
// garbage of small evaluations, up to collectAbove.
const restAfter = time.Second

// rest sees to it that a worker at rest is small. It looks once in a while, since a timer
// set anew after each evaluation would wake a thread each time.
type rest struct {
	last    atomic.Int64 // Unix nanoseconds, of the last answer
	looking atomic.Bool
}

func (r *rest) answered() {
	r.last.Store(time.Now().UnixNano())
	if r.looking.CompareAndSwap(false, true) {
		time.AfterFunc(restAfter, r.look)
	}
}

func (r *rest) look() {
	if left := restAfter - time.Since(time.Unix(0, r.last.Load())); left > 0 {
		time.AfterFunc(left, r.look)
		return
	}
	r.looking.Store(false)
	debug.FreeOSMemory() // an evaluation that begins now shares the machine with it for a moment
}
