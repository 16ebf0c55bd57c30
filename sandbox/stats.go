package sandbox

import (
	"slices"
	"sync"
	"time"
)

// Stats are a pool's counters since it was made.
type Stats struct {
	Levels   map[Level]LevelStats
	Kills    map[Kill]int
	Refused  int           // evaluations of bodies that had taken workers down
	P50, P99 time.Duration // of the last round trips, waiting for a worker included

	Idle          int   // workers that wait
	ResidentBytes int64 // of those; 0 where it cannot be read
}

// LevelStats are those of one level.
type LevelStats struct {
	Started     int      // workers
	Evaluations int      // that gave a value or a fault of the body
	Confinement []string // what holds the workers, by name, for people
}

// Started is how many workers there were.
func (s Stats) Started() int {
	n := 0
	for _, level := range s.Levels {
		n += level.Started
	}
	return n
}

// Evaluations is how many bodies ran.
func (s Stats) Evaluations() int {
	n := 0
	for _, level := range s.Levels {
		n += level.Evaluations
	}
	return n
}

// Kill is why a worker ended before its time.
type Kill string

// The reasons.
const (
	KillTime   Kill = "time"   // a body could not be interrupted
	KillMemory Kill = "memory" // a body was over its memory
	KillCaller Kill = "caller" // the caller gave up
	KillCrash  Kill = "crash"  // the evaluator broke on a body
	KillLost   Kill = "lost"   // nobody's fault that is known
)

// keptTimes is how many round trips the percentiles are of.
const keptTimes = 1024

// counters are a pool's statistics as they grow.
type counters struct {
	mu      sync.Mutex // guards the rest
	levels  map[Level]LevelStats
	kills   map[Kill]int
	refused int
	times   []time.Duration // a ring
	next    int
}

func newCounters() *counters {
	return &counters{levels: map[Level]LevelStats{}, kills: map[Kill]int{}}
}

func (c *counters) started(level Level, confinement []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.levels[level]
	s.Started++
	s.Confinement = confinement
	c.levels[level] = s
}

func (c *counters) killed(why Kill) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kills[why]++
}

func (c *counters) refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused++
}

func (c *counters) evaluated(level Level, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.levels[level]
	s.Evaluations++
	c.levels[level] = s
	if len(c.times) < keptTimes {
		c.times = append(c.times, took)
		return
	}
	c.times[c.next] = took
	c.next = (c.next + 1) % keptTimes
}

func (c *counters) stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stats{Levels: map[Level]LevelStats{}, Kills: map[Kill]int{}, Refused: c.refused}
	for level, of := range c.levels {
		s.Levels[level] = of
	}
	for why, n := range c.kills {
		s.Kills[why] = n
	}
	if times := slices.Sorted(slices.Values(c.times)); len(times) > 0 {
		s.P50, s.P99 = times[len(times)/2], times[len(times)*99/100]
	}
	return s
}

// Stats are the pool's counters.
func (p *Pool) Stats() Stats {
	s := p.counters.stats()
	p.mu.Lock()
	var pids []int
	for _, workers := range p.idle {
		for _, w := range workers {
			pids = append(pids, w.cmd.Process.Pid)
		}
	}
	p.mu.Unlock()
	s.Idle = len(pids)
	for _, pid := range pids {
		s.ResidentBytes += residentBytes(pid)
	}
	return s
}
