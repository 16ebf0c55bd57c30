package worker

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

const (
	heapMetric  = "/memory/classes/heap/objects:bytes"
	sampleEvery = 3 * time.Millisecond
	// runawayAfter is how long a body may go on after its interrupt for memory.
	// Longer than that it is inside a builtin, and only the process's end helps.
	runawayAfter = 25 * time.Millisecond
)

// heapBytes is what objects take on the heap, those not yet collected included.
func heapBytes() int64 {
	sample := [1]metrics.Sample{{Name: heapMetric}}
	metrics.Read(sample[:])
	return int64(sample[0].Value.Uint64())
}

// stopReason is why the host ended an evaluation.
type stopReason int32

const (
	notStopped stopReason = iota
	stoppedTime
	stoppedMemory
)

// watch samples the heap during one evaluation. A body that returns before the
// first sample pays for one timer.
type watch struct {
	capBytes int64 // of the whole heap
	long     func()
	stop     func(stopReason)
	runaway  func()
	peak     atomic.Int64

	mu    sync.Mutex // guards timer and ended
	timer *time.Timer
	ended bool
}

func (w *watch) first() {
	w.long()
	w.sample()
}

// sample runs on the timer's goroutine, one at a time: it re-arms itself last.
func (w *watch) sample() {
	if w.over() {
		w.stop(stoppedMemory)
		w.again(runawayAfter, w.runaway)
		return
	}
	w.again(sampleEvery, w.sample)
}

// over tells whether what lives is over the cap. What a body has already dropped
// may be over it for a moment; a collection decides.
func (w *watch) over() bool {
	heap := heapBytes()
	if heap > w.capBytes {
		runtime.GC()
		heap = heapBytes()
	}
	w.peak.Store(max(w.peak.Load(), heap))
	return heap > w.capBytes
}

func (w *watch) again(after time.Duration, f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.timer = time.AfterFunc(after, func() { w.unlessEnded(f) })
	}
}

func (w *watch) unlessEnded(f func()) {
	w.mu.Lock()
	ended := w.ended
	w.mu.Unlock()
	if !ended {
		f()
	}
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timer.Stop()
}
