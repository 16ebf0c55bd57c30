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
	install []string          // the command that does, bir setup where there is none
	fresh   bool              // the project's servers were never approved
	before  func(l *lab)      // what befalls bir before the client starts
	amid    func(l *lab)      // what befalls bir where act says so
	act     func(l *lab, amid func())
	mask    *regexp.Regexp // what may differ in what the model is sent
	calls   []called       // what the servers must see, in order
	abreast bool           // or in any order, since hooks may let one pass another
	runs    []record       // what must be recorded
}

// test lets it happen without bir and with it, side by side. The servers must see the
// same calls, the model must be sent the same bytes, and the record must be as told.
func (s story) test(t *testing.T) {
	t.Helper()
	t.Parallel()
	var direct, bound *lab
	t.Run("both", func(t *testing.T) {
		t.Run("without bir", func(t *testing.T) {
			t.Parallel()
			direct = s.lab(t)
			s.happen(direct, func() {})
		})
		t.Run("with bir", func(t *testing.T) {
			t.Parallel()
			l := s.lab(t)
			l.install(s.install...)
			bound = l
			if s.before != nil {
				s.before(l)
			}
			s.happen(l, func() { s.amid(l) })
			if want, got := tell(s.runs), tell(bound.recorded(s.runs)); got != want {
				t.Errorf("what was recorded is\n%s\nwant\n%s", got, want)
			}
		})
	})
	if !t.Failed() && bound != nil {
		sameModel(t, direct, bound, s.mask)
	}
}

func (s story) lab(t *testing.T) *lab {
	l := newLab(t, s.script(), s.servers...)
	for name, text := range s.files {
		l.write(name, text)
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
