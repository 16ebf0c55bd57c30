package corpus

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
)

// ownAttack is a case of `bir logic test` that may end in other ways, too, which are
// as safe: on a slow machine, at the other level, with another engine. Each is a type
// of error, or "value:" and JSON.
type ownAttack struct {
	cases.Case
	or []string
}

// leastOwn is how many attacks there must be.
const leastOwn = 400

func (s Suite) readOwnAttacks(t *testing.T) []ownAttack {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Testdata, "attacks", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []ownAttack
	for _, file := range files {
		loaded, err := cases.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var more []struct{ Or []string }
		if err := json.Unmarshal(data, &more); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for i, c := range loaded {
			all = append(all, ownAttack{Case: c, or: more[i].Or})
		}
	}
	if len(all) < leastOwn {
		t.Errorf("only %d attacks", len(all))
	}
	return all
}

// class says how much an attack gets.
type class struct {
	name        string
	timeout     time.Duration // 0: the pool's
	memoryBytes int64         // 0: as usual
}

var (
	// timed are endless.
	timed = class{name: "timed", timeout: 300 * time.Millisecond}
	// hungry take memory as fast as the machine lets them, or nest as deep. They get little
	// of it, to be soon done; on a busy machine their time is over first. Package sandbox
	// holds some of their kind to memory alone.
	hungry = class{name: "hungry", timeout: time.Second, memoryBytes: 16 << 20}
	// others end by themselves, and a busy machine must not change how.
	others = class{name: "others"}
)

func (a ownAttack) class() class {
	switch {
	case a.Expect.Error == sandbox.TypeTimeout:
		return timed
	case a.Expect.Error == sandbox.TypeMemory, slices.Contains(a.or, string(sandbox.TypeMemory)), slices.Contains(a.or, string(sandbox.TypeTimeout)):
		return hungry
	}
	return others
}

// endedAsWritten tells whether an outcome is one of the right ones.
func (a ownAttack) endedAsWritten(result sandbox.Result, err error) bool {
	var fault *sandbox.Error
	if err != nil && !errors.As(err, &fault) {
		return false
	}
	if fault != nil {
		return fault.Type == a.Expect.Error || slices.Contains(a.or, string(fault.Type)) ||
			a.class() == hungry && fault.Type == sandbox.TypeTimeout
	}
	if a.Expect.Value != nil && sameJSON(a.Expect.Value, result.Value) {
		return true
	}
	return slices.ContainsFunc(a.or, func(or string) bool {
		value, is := strings.CutPrefix(or, "value:")
		return is && sameJSON(json.RawMessage(value), result.Value)
	})
}

// OwnAttacks runs our own corpus in the order of its files, in one worker a class,
// while the parent does nothing but collect its garbage.
func (s Suite) OwnAttacks(t *testing.T) {
	all := s.readOwnAttacks(t)
	defer collectAllTheTime()()
	for _, class := range []class{timed, hungry, others} {
		t.Run(class.name, func(t *testing.T) {
			pool := s.Pool(t, sandbox.Config{Size: 1, MemoryBytes: class.memoryBytes})
			Serves(t, pool)
			before := Holdings()
			for i, a := range all {
				if a.class() == class && (class == others || !s.passes(i)) {
					a.run(t, pool)
				}
			}
			Serves(t, pool)
			before.AreBack(t)
			stats := pool.Stats()
			t.Logf("%d evaluations, %d workers, killed: %v, p50 %v, p99 %v",
				stats.Evaluations(), stats.Started(), stats.Kills, stats.P50, stats.P99)
		})
	}
}

func (a ownAttack) run(t *testing.T, pool *sandbox.Pool) {
	body := a.Body
	body.Timeout = a.class().timeout
	started := time.Now()
	result, err := pool.Eval(t.Context(), body, a.Args)
	if !a.endedAsWritten(result, err) {
		t.Errorf("%s: gave %.200s %v, want %s %s or one of %q", a.ID, result.Value, err, a.Expect.Value, a.Expect.Error, a.or)
	}
	if took := time.Since(started); body.Timeout > 0 && took > Patience {
		t.Errorf("%s: took %v of its %v", a.ID, took, body.Timeout)
	}
	Serves(t, pool)
}

// Serves holds that the pool serves the next body.
func Serves(t *testing.T, pool *sandbox.Pool) {
	t.Helper()
	result, err := pool.Eval(t.Context(), Raw("return 1"), sandbox.Args{})
	if err != nil || string(result.Value) != "1" {
		t.Fatalf("the next evaluation gave %s, %v", result.Value, err)
	}
}

// collectAllTheTime forces collections until the function it returns is called.
func collectAllTheTime() (stop func()) {
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(done)
		often := time.NewTicker(2 * time.Millisecond) // and leave the machine to the evaluators
		defer often.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-often.C:
				runtime.GC()
			}
		}
	}()
	return func() {
		close(stopped)
		<-done
	}
}

// Held is what this process has.
type Held struct {
	heapBytes   uint64
	descriptors int // 0 where they cannot be counted
}

// Holdings are what this process has now.
func Holdings() Held {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Held{heapBytes: m.HeapAlloc, descriptors: descriptors()}
}

func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// heapSlack is what a parent may keep: a buffer for an answer, counters, log lines.
const heapSlack = 16 << 20

// AreBack holds that the process has no more than it had.
func (h Held) AreBack(t *testing.T) {
	t.Helper()
	now := Holdings()
	if now.heapBytes > h.heapBytes+heapSlack {
		t.Errorf("the heap has grown from %d to %d bytes", h.heapBytes, now.heapBytes)
	}
	if now.descriptors > h.descriptors {
		t.Errorf("%d descriptors, before %d", now.descriptors, h.descriptors)
	}
}
