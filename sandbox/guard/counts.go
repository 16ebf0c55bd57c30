package guard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Counts are what became of the calls of one module so far, in all processes that
// have saved theirs.
type Counts struct {
	Calls    int64   `json:"calls"`
	Denials  int64   `json:"denials"`
	Failures int64   `json:"failures"` // the denials for want of a verdict
	P50MS    float64 `json:"p50Ms"`    // half of the calls took less; within a fifth
}

// tally counts one module's calls. The time of a call goes into a bucket, four of
// them for each doubling, so that the middle can be told without keeping the calls.
type tally struct {
	Calls    int64   `json:"calls"`
	Denials  int64   `json:"denials,omitempty"`
	Failures int64   `json:"failures,omitempty"`
	Took     []int64 `json:"took,omitempty"` // calls by bucket
}

func (t *tally) book(v ModuleVerdict) {
	t.Calls++
	if !v.Verdict.Allow {
		t.Denials++
	}
	if v.Failure != "" {
		t.Failures++
	}
	if v.Duration == 0 {
		return // it was not called at all
	}
	i := bucketOf(v.Duration)
	for len(t.Took) <= i {
		t.Took = append(t.Took, 0)
	}
	t.Took[i]++
}

func (t *tally) add(other tally) {
	t.Calls += other.Calls
	t.Denials += other.Denials
	t.Failures += other.Failures
	for len(t.Took) < len(other.Took) {
		t.Took = append(t.Took, 0)
	}
	for i, n := range other.Took {
		t.Took[i] += n
	}
}

func (t *tally) counts() Counts {
	c := Counts{Calls: t.Calls, Denials: t.Denials, Failures: t.Failures}
	var timed, seen int64
	for _, n := range t.Took {
		timed += n
	}
	for i, n := range t.Took {
		seen += n
		if timed > 0 && 2*seen >= timed {
			c.P50MS = middleOf(i).Seconds() * 1000
			break
		}
	}
	return c
}

// bucketOf is 4 for each doubling of the microseconds, and the next two bits.
func bucketOf(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 1))
	log := bits.Len64(us) - 1
	return 4*log + int((us<<2>>log)&3)
}

func middleOf(bucket int) time.Duration {
	log, quarter := bucket/4, bucket%4
	return time.Duration((1 << log) * (1000 + 250*quarter + 125)) // in nanoseconds
}

// tallies are the counts of this process that are not in the file yet. They are
// for people: nothing is decided by them, so losing some costs nothing, and no call
// waits for the file.
type tallies struct {
	path string // empty: kept in this process only

	mu   sync.Mutex // guards news
	news map[pinKey]*tally
}

func (t *tallies) book(key pinKey, v ModuleVerdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.news == nil {
		t.news = map[pinKey]*tally{}
	}
	if t.news[key] == nil {
		t.news[key] = &tally{}
	}
	t.news[key].book(v)
}

// all are the counts of the file and of this process together.
func (t *tallies) all() map[pinKey]tally {
	sums := t.read()
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, news := range t.news {
		sum := sums[key]
		sum.add(*news)
		sums[key] = sum
	}
	return sums
}

// save moves this process's counts into the file.
func (t *tallies) save() error {
	t.mu.Lock()
	news := t.news
	if t.path != "" {
		t.news = nil
	}
	t.mu.Unlock()
	if t.path == "" || len(news) == 0 {
		return nil
	}
	return t.edit(func(sums map[pinKey]tally) {
		for key, n := range news {
			sum := sums[key]
			sum.add(*n)
			sums[key] = sum
		}
	})
}

// forget drops the counts of a module that was removed.
func (t *tallies) forget(key pinKey) error {
	t.mu.Lock()
	delete(t.news, key)
	t.mu.Unlock()
	if t.path == "" {
		return nil
	}
	return t.edit(func(sums map[pinKey]tally) { delete(sums, key) })
}

type countList struct {
	Version int          `json:"version"`
	Guards  []countEntry `json:"guards"`
}

type countEntry struct {
	pinKey
	tally
}

const countVersion = 1

func (t *tallies) edit(change func(map[pinKey]tally)) error {
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return err
	}
	lock := flock.New(t.path + ".lock")
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", t.path, err)
	}
	defer lock.Unlock()
	sums := t.read()
	change(sums)
	list := countList{Version: countVersion}
	for key, sum := range sums {
		list.Guards = append(list.Guards, countEntry{key, sum})
	}
	slices.SortFunc(list.Guards, func(a, b countEntry) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Scope, b.Scope))
	})
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return replaceFile(t.path, append(data, '\n'))
}

// read gives what is in the file. A damaged file counts as none, and the next save
// replaces it.
func (t *tallies) read() map[pinKey]tally {
	sums := map[pinKey]tally{}
	data, err := os.ReadFile(t.path)
	var list countList
	if err != nil || json.Unmarshal(data, &list) != nil || list.Version != countVersion {
		return sums
	}
	for _, e := range list.Guards {
		sums[e.pinKey] = e.tally
	}
	return sums
}
