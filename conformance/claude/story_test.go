//go:build linux

package claude

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/conformance/fakemodel"
)

// story is a piece of work that a person does with the client.
type story struct {
	script  func() fakemodel.Script
	servers []string
	files   map[string]string // below the home, beside the usual ones
	act     func(l *lab)
	calls   []called // what the servers must see, in order
	runs    []record // what must be recorded
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
			s.happen(direct)
		})
		t.Run("with bir", func(t *testing.T) {
			t.Parallel()
			l := s.lab(t)
			l.install()
			bound = l
			s.happen(bound)
			if diff := cmp.Diff(s.runs, bound.recorded(len(s.runs))); diff != "" {
				t.Errorf("what was recorded (-want +got):\n%s", diff)
			}
		})
	})
	if !t.Failed() && bound != nil {
		sameModel(t, direct, bound)
	}
}

func (s story) lab(t *testing.T) *lab {
	l := newLab(t, s.script(), s.servers...)
	for name, text := range s.files {
		l.write(name, text)
	}
	l.commit()
	return l
}

func (s story) happen(l *lab) {
	l.Helper()
	s.act(l)
	l.settled()
	if diff := cmp.Diff(s.calls, l.upstream.calls()); diff != "" {
		l.Errorf("what the servers saw (-want +got):\n%s", diff)
	}
}
