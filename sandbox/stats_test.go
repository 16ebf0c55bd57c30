package sandbox_test

import (
	"testing"

	"github.com/bir-run/bir/sandbox"
	"github.com/google/go-cmp/cmp"
)

func TestStatsCountWhatHappened(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1})
	for range 3 {
		stillWorks(t, pool)
	}
	if s := pool.Stats(); s.Idle != 1 || s.P50 <= 0 || s.P99 < s.P50 {
		t.Errorf("at rest: %+v", s)
	}
	stuck := endless("return Array.prototype.indexOf.call({length: 2**53-1}, 1)")
	for range 3 { // the third is refused
		_, err := pool.Eval(t.Context(), stuck, sandbox.Args{})
		fault(t, err)
	}
	s := pool.Stats()
	if s.Evaluations() != 5 || s.Started() != 2 || s.Refused != 1 || s.Idle != 0 {
		t.Errorf("after the kills: %+v", s)
	}
	if diff := cmp.Diff(map[sandbox.Kill]int{sandbox.KillTime: 2}, s.Kills); diff != "" {
		t.Errorf("kills (-want +got):\n%s", diff)
	}
}
