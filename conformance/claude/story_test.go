//go:build linux

package claude

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/conformance/fakemodel"
)

// story is a piece of work that a person does with the client.
type story struct {
	script  func() fakemodel.Script
	servers []string
	files   map[string]string // below the home, beside the usual ones
	fresh   bool              // the project has no settings yet, and none are ignored
	act     func(l *lab, amid func())
	mask    *regexp.Regexp // what may differ in what the model is sent
	calls   []called       // what the servers must see, in order
	abreast bool           // or in any order, since hooks may let one pass another
	runs    []record       // what must be recorded
	ways    []way          // to do it with bir; the usual one where there is none
}

// way is what is done with bir, and to it.
type way struct {
	name    string
	install []string     // the command that does; bir setup where there is none
	before  func(l *lab) // what befalls bir before the client starts
	amid    func(l *lab) // what befalls bir where the story says so
	// late says that a proxy has to find the control server again, and may tell of a
	// call too late: then what the client made of the result is recorded.
	late bool
	runs []record // what must be recorded
}

// test lets it happen without bir and with it, side by side. The servers must see the
// same calls, the model must be sent the same bytes, and the record must be as told.
func (s story) test(t *testing.T) {
	t.Helper()
	t.Parallel()
	if s.ways == nil {
		s.ways = []way{{name: "with bir", runs: s.runs}}
	}
	var direct *lab
	bound := make([]*lab, len(s.ways))
	t.Run("all", func(t *testing.T) {
		t.Run("without bir", func(t *testing.T) {
			t.Parallel()
			l := s.lab(t)
			s.happen(l, func() {})
			direct = l
		})
		for i, w := range s.ways {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				bound[i] = s.with(t, w)
			})
		}
	})
	for i, w := range s.ways {
		if direct != nil && bound[i] != nil {
			t.Log(w.name)
			sameModel(t, direct, bound[i], s.mask)
		}
	}
}

// with lets it happen with bir.
func (s story) with(t *testing.T, w way) *lab {
	t.Helper()
	l := s.lab(t)
	l.late = w.late
	l.install(w.install...)
	if w.before != nil {
		w.before(l)
	}
	s.happen(l, func() {
		if w.amid != nil {
			w.amid(l)
		}
	})
	got := l.recorded(w.runs)
	for i := range min(len(got), len(w.runs)) {
		if w.runs[i].Unmeasured && got[i].Usage == "" {
			got[i].Usage = w.runs[i].Usage
		}
	}
	if want, got := tell(w.runs), tell(got); got != want {
		t.Errorf("what was recorded is\n%s\nwant\n%s", got, want)
	}
	return l
}

func (s story) lab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t, s.script(), s.servers...)
	for name, text := range s.files {
		l.write(name, text)
	}
	if s.fresh {
		l.write("vans/.gitignore", "")
	}
	l.commit()
	if !s.fresh {
		l.approve()
	}
	return l
}

func (s story) happen(l *lab, amid func()) {
	l.Helper()
	s.act(l, amid)
	l.settled()
	calls := l.upstream.calls()
	if s.abreast {
		slices.SortFunc(calls, func(a, b called) int { return strings.Compare(a.ToolUseID, b.ToolUseID) })
	}
	if diff := cmp.Diff(s.calls, calls); diff != "" {
		l.Errorf("what the servers saw (-want +got):\n%s", diff)
	}
}
