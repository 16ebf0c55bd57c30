package guards_test

import (
	"maps"
	"slices"
	"testing"
)

// maxFalseRefusals is the share of harmless cases that may be refused. No hostile
// one may be accepted.
const maxFalseRefusals = 0.02

// score counts verdicts against labels, for each rule.
type score struct{ rules map[string]*tally }

type tally struct{ good, bad, falseRefusals, falseAccepts int }

// count tells whether the verdict is the label.
func (s *score) count(rule string, allowed, wanted bool) bool {
	if s.rules == nil {
		s.rules = map[string]*tally{}
	}
	if s.rules[rule] == nil {
		s.rules[rule] = &tally{}
	}
	c := s.rules[rule]
	switch {
	case wanted && !allowed:
		c.falseRefusals++
	case !wanted && allowed:
		c.falseAccepts++
	}
	if wanted {
		c.good++
	} else {
		c.bad++
	}
	return allowed == wanted
}

func (s *score) report(t *testing.T) {
	t.Helper()
	var all tally
	for _, rule := range slices.Sorted(maps.Keys(s.rules)) {
		c := s.rules[rule]
		t.Logf("%-28s of %3d to refuse %d accepted, of %3d to accept %d refused", rule, c.bad, c.falseAccepts, c.good, c.falseRefusals)
		all = tally{all.good + c.good, all.bad + c.bad, all.falseRefusals + c.falseRefusals, all.falseAccepts + c.falseAccepts}
	}
	t.Logf("%-28s of %3d to refuse %d accepted, of %3d to accept %d refused", "all", all.bad, all.falseAccepts, all.good, all.falseRefusals)
	if all.falseAccepts > 0 {
		t.Errorf("%d false accepts", all.falseAccepts)
	}
	if float64(all.falseRefusals) > maxFalseRefusals*float64(all.good) {
		t.Errorf("%d false refusals of %d", all.falseRefusals, all.good)
	}
}
