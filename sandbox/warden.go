package sandbox

import (
	"sync"
	"time"
)

const (
	// wardenEvery is how often busy workers are looked at: the slack of a deadline.
	wardenEvery = 10 * time.Millisecond
	// wardenRest is how many looks at nothing the warden takes before it ends.
	wardenRest = 100
	// watchEvery is how long an evaluation goes on before its memory is read from
	// outside. The worker's own watch and limits come first; this one holds if they
	// are broken.
	watchEvery = 20 * time.Millisecond
)

// warden ends workers whose time is over or whose memory is. It is one goroutine
// for a pool: a timer for each evaluation costs more than a small evaluation does,
// since starting it wakes the thread that waits for the pipes.
type warden struct {
	mu      sync.Mutex // guards the rest
	busy    map[*process]*watched
	running bool
	closed  bool

	stop chan struct{}
	done sync.WaitGroup
}

// watched is one evaluation.
type watched struct {
	since, deadline time.Time
	limitBytes      int64 // resident; 0: not watched from outside
}

func newWarden() *warden {
	return &warden{busy: map[*process]*watched{}, stop: make(chan struct{})}
}

// watch looks after an evaluation until the function it returns is called, which
// tells whether the worker was left alone.
func (w *warden) watch(p *process, e watched) (release func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy[p] = &e
	if !w.running && !w.closed {
		w.running = true
		w.done.Go(w.loop) // ends after a rest, or with close
	}
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.busy, p)
		return killCause(p.cause.Load()) == notKilled
	}
}

func (w *warden) loop() {
	ticker := time.NewTicker(wardenEvery)
	defer ticker.Stop()
	for idle := 0; ; {
		select {
		case <-w.stop:
			return
		case now := <-ticker.C:
			if w.look(now) {
				idle = 0
			} else if idle++; idle >= wardenRest && w.rest() {
				return
			}
		}
	}
}

// rest ends the warden unless somebody is busy again.
func (w *warden) rest() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = len(w.busy) > 0
	return !w.running
}

// look judges every busy worker and says whether there was one.
func (w *warden) look(now time.Time) bool {
	w.mu.Lock()
	late := map[*process]*watched{}
	grown := map[*process]*watched{}
	for p, e := range w.busy {
		switch {
		case now.After(e.deadline):
			late[p] = e
		case e.limitBytes > 0 && now.Sub(e.since) >= watchEvery:
			grown[p] = e // perhaps: what it takes is read without the lock
		}
	}
	any := len(w.busy) > 0
	w.mu.Unlock()
	for p, e := range late {
		w.condemn(p, e, killedForTime)
	}
	for p, e := range grown {
		if residentBytes(p.cmd.Process.Pid) > e.limitBytes {
			w.condemn(p, e, killedForMemory)
		}
	}
	return any
}

// condemn kills a worker if it is still at the evaluation that was judged.
func (w *warden) condemn(p *process, e *watched, cause killCause) {
	w.mu.Lock()
	guilty := w.busy[p] == e
	if guilty {
		p.cause.CompareAndSwap(int32(notKilled), int32(cause))
	}
	w.mu.Unlock()
	if guilty {
		p.kill(cause)
	}
}

// close ends the warden and waits for it. Nobody is busy any more.
func (w *warden) close() {
	w.mu.Lock()
	already := w.closed
	w.closed = true
	w.mu.Unlock()
	if !already {
		close(w.stop)
	}
	w.done.Wait()
}
