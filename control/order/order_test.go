package order

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func at(ms int) time.Time { return time.UnixMilli(int64(ms)).UTC() }

func ids(numbered []Numbered) (out []string) {
	for _, n := range numbered {
		out = append(out, fmt.Sprint(n.N, n.ID))
	}
	return out
}

func TestEarlierEndThatIsToldLaterComesFirst(t *testing.T) {
	var l Line
	l.Begin("a", at(0), true)
	l.Begin("b", at(1), true)
	l.End("b", at(20))
	if got := l.Release(at(21), time.Time{}, false); got != nil {
		t.Fatalf("b got its number while a may have ended before: %v", got)
	}
	l.End("a", at(10))
	if diff := cmp.Diff([]string{"0a", "1b"}, ids(l.Release(at(22), time.Time{}, false))); diff != "" {
		t.Error(diff)
	}
}

func TestWhoCannotHaveEndedBeforeHoldsNobodyUp(t *testing.T) {
	for name, open := range map[string]Open{
		"is seen ending":    {Began: at(0)},
		"began afterwards":  {Began: at(11), Late: true},
		"ended afterwards":  {Began: at(0), End: at(11), Late: true},
		"is late for grace": {Began: at(0).Add(-time.Hour), Late: true},
	} {
		var l Line
		l.Begin("a", at(5), true)
		l.End("a", at(10))
		l.Begin("other", at(0), false)
		l.Open["other"] = open
		now := at(12)
		if name == "is late for grace" {
			now = at(10).Add(Grace)
		}
		if got := l.Release(now, time.Time{}, false); len(got) != 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCallsAfterATimeWait(t *testing.T) {
	var l Line
	l.End("a", at(10))
	l.End("b", at(20))
	if diff := cmp.Diff([]string{"0a"}, ids(l.Release(at(30), at(15), false))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"1b"}, ids(l.Release(at(30), at(15), true))); diff != "" {
		t.Error(diff)
	}
}

func TestDueIsWhenGraceEnds(t *testing.T) {
	var l Line
	if _, ok := l.Due(); ok {
		t.Error("an empty line has something due")
	}
	l.Begin("a", at(0), true)
	l.End("b", at(10))
	due, ok := l.Due()
	if !ok || len(l.Release(due, time.Time{}, false)) != 1 {
		t.Errorf("due %v, %v", due, ok)
	}
}

func TestRunsEndNumbersWhatIsLeft(t *testing.T) {
	var l Line
	l.Begin("open", at(0), true)
	l.End("b", at(10))
	l.End("a", at(10))
	if diff := cmp.Diff([]string{"0a", "1b"}, ids(l.Release(at(11), time.Time{}, true))); diff != "" {
		t.Error(diff)
	}
}

// Whatever the order of the news within the grace, and wherever a journal was read
// back in between, the numbers are the same.
func TestNumbersDoNotDependOnTheOrderOfNews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "calls")
		ends := map[string]time.Time{}
		var want []Ended
		var l Line
		for i := range n {
			id := fmt.Sprint("c", i)
			ends[id] = at(rapid.IntRange(100, 200).Draw(t, "end"))
			l.Begin(id, at(i), true)
			want = append(want, Ended{id, ends[id]})
		}
		var got []string
		for _, e := range rapid.Permutation(want).Draw(t, "news") {
			if rapid.Bool().Draw(t, "known") {
				l.Known(e.ID, e.At)
			}
			l.End(e.ID, e.At)
			for _, r := range l.Release(at(300), time.Time{}, false) {
				got = append(got, r.ID)
			}
			text, err := json.Marshal(l)
			if err != nil {
				t.Fatal(err)
			}
			l = Line{}
			if err := json.Unmarshal(text, &l); err != nil {
				t.Fatal(err)
			}
		}
		for i := 1; i < len(got); i++ {
			if (Ended{got[i-1], ends[got[i-1]]}).compare(Ended{got[i], ends[got[i]]}) >= 0 {
				t.Fatalf("%v after %v", got[i], got[i-1])
			}
		}
		if len(got) != n || l.Next != n {
			t.Fatalf("%d of %d calls were numbered, next is %d", len(got), n, l.Next)
		}
	})
}
