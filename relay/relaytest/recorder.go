package relaytest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bir-run/bir/recorder"
)

// Recorder remembers what it is told.
type Recorder struct {
	t  testing.TB
	mu sync.Mutex // guards all below

	runs   []recorder.Run
	calls  []recorder.Call
	ends   []recorder.Finish
	landed chan struct{} // a token for each call
	// BeforeCall, when set, runs before a call is taken.
	BeforeCall func(recorder.Call)
}

// NewRecorder makes a recorder.
func NewRecorder(t testing.TB) *Recorder {
	return &Recorder{t: t, landed: make(chan struct{}, 1<<16)}
}

// StartRun implements recorder.Recorder, as do the three methods below.
func (r *Recorder) StartRun(run recorder.Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = append(r.runs, run)
}

// RecordCall takes a call.
func (r *Recorder) RecordCall(runID string, call recorder.Call) {
	if r.BeforeCall != nil {
		r.BeforeCall(call)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.runs) == 0 || r.runs[len(r.runs)-1].ID != runID || len(r.ends) > 0 {
		r.t.Errorf("call for run %q, which is not open", runID)
	}
	r.calls = append(r.calls, call)
	r.landed <- struct{}{}
}

// FinishRun closes a run.
func (r *Recorder) FinishRun(_ string, end recorder.Finish) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = append(r.ends, end)
}

// Flush has nothing to wait for.
func (r *Recorder) Flush(context.Context) error { return nil }

// Runs is what was started.
func (r *Recorder) Runs() []recorder.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.runs)
}

// Calls is what was recorded, in order.
func (r *Recorder) Calls() []recorder.Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// Ends is what was finished.
func (r *Recorder) Ends() []recorder.Finish {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ends)
}

// Await waits for n more calls.
func (r *Recorder) Await(n int) {
	r.t.Helper()
	for range n {
		select {
		case <-r.landed:
		case <-time.After(Patience):
			r.t.Fatal("a call was not recorded in time")
		}
	}
}
