// Package order numbers the calls of a run in the order in which they ended. It is
// pure: it reads no clock, and the same ends give the same numbers in whatever order
// they are told.
//
// Hooks and proxies report on their own ways, so the news of an end may come after
// the news of a later one. A call is therefore numbered once none that was under way
// at its end can still turn out to have ended before it: the others have ended, or
// Grace has passed, which is as long as news is waited for anywhere. A call that can
// only be seen ending (a hook's) holds nobody up: its end is when it is told.
package order

import (
	"cmp"
	"slices"
	"time"
)

// Grace is how late the news of an end may be.
const Grace = 1500 * time.Millisecond

// Line is the calls of one run between their start and their number. It is plain
// data, so that a journal can keep it.
type Line struct {
	Next  int             `json:"next"` // number of the next call
	Open  map[string]Open `json:"open,omitempty"`
	Ended []Ended         `json:"ended,omitempty"` // and not numbered, by their end
}

// Open is a call under way.
type Open struct {
	Began time.Time `json:"began"`
	// End is when it ended, where that is known though the call is not settled.
	End time.Time `json:"end,omitzero"`
	// Late says that its end may be told after the fact.
	Late bool `json:"late,omitempty"`
}

// Ended is a call that waits for its number.
type Ended struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// Begin notes a call that started.
func (l *Line) Begin(id string, began time.Time, late bool) {
	if l.Open == nil {
		l.Open = map[string]Open{}
	}
	l.Open[id] = Open{Began: began, Late: late}
}

// Known notes when a call ended that is not settled yet.
func (l *Line) Known(id string, end time.Time) {
	if o, ok := l.Open[id]; ok {
		o.End, o.Late = end, true
		l.Open[id] = o
	}
}

// End notes a call that is settled and ended at the given time.
func (l *Line) End(id string, at time.Time) {
	delete(l.Open, id)
	e := Ended{ID: id, At: at}
	i, _ := slices.BinarySearchFunc(l.Ended, e, Ended.compare)
	l.Ended = slices.Insert(l.Ended, i, e)
}

// compare orders by end. Calls that ended at the same time go by their ids, which do
// not depend on who was heard first.
func (e Ended) compare(f Ended) int {
	return cmp.Or(e.At.Compare(f.At), cmp.Compare(e.ID, f.ID))
}

// Numbered is a call with its number in the run, from 0.
type Numbered struct {
	ID string
	N  int
}

// Release numbers the calls that can be numbered as of now, but none that ended after
// the given time, if any; at the end of a run all of them can.
func (l *Line) Release(now, until time.Time, all bool) []Numbered {
	var out []Numbered
	for len(l.Ended) > 0 && (all || l.free(l.Ended[0], now) && (until.IsZero() || !l.Ended[0].At.After(until))) {
		out = append(out, Numbered{ID: l.Ended[0].ID, N: l.Next})
		l.Ended = l.Ended[1:]
		l.Next++
	}
	if len(l.Ended) == 0 {
		l.Ended = nil // and let go of what is behind it
	}
	return out
}

// free holds when no call under way can have ended before e did.
func (l *Line) free(e Ended, now time.Time) bool {
	if now.Sub(e.At) >= Grace {
		return true
	}
	for _, o := range l.Open {
		ended := !o.End.IsZero() && o.End.After(e.At)
		if o.Late && !ended && !o.Began.After(e.At) {
			return false
		}
	}
	return true
}

// Due is when the first of the waiting calls will be numbered at the latest.
func (l *Line) Due() (time.Time, bool) {
	if len(l.Ended) == 0 {
		return time.Time{}, false
	}
	return l.Ended[0].At.Add(Grace), true
}
