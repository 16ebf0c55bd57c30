package guards_test

import (
	"encoding/json"
	"testing"

	"github.com/bir-run/bir/sandbox/guards/injectionguard"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// valueGroup holds values beside one sample, in a plan of one risk. A value is
// labelled by that context: an apostrophe is harmless in a file and not in a query.
type valueGroup struct {
	Rule     string            `json:"rule"`
	Risk     string            `json:"risk"`
	Sample   json.RawMessage   `json:"sample"`
	Harmless []json.RawMessage `json:"harmless"`
	Hostile  []json.RawMessage `json:"hostile"`
}

func (g valueGroup) request(v json.RawMessage) guardsdk.Request {
	return value(string(v), string(g.Sample), g.Risk)
}

func valueGroups(t testing.TB) (groups []valueGroup) {
	t.Helper()
	readJSON(t, "values.json", &groups)
	return groups
}

func TestInjectionGuardAgreesWithTheLabels(t *testing.T) {
	var s score
	count := 0
	for _, g := range valueGroups(t) {
		for harmless, values := range map[bool][]json.RawMessage{true: g.Harmless, false: g.Hostile} {
			for _, v := range values {
				count++
				verdict := injectionguard.Check(g.request(v))
				if !s.count(g.Rule+", "+g.Risk, verdict.Allow, harmless) {
					t.Logf("%s for %s in a plan that %s: labelled harmless: %v, and the guard says %+v", v, g.Sample, g.Risk, harmless, verdict)
				}
			}
		}
	}
	s.report(t)
	if count < 400 {
		t.Errorf("only %d values", count)
	}
}

func TestEverySampleIsAsGoodAsItself(t *testing.T) {
	for _, g := range valueGroups(t) {
		for _, v := range append(append([]json.RawMessage{g.Sample}, g.Harmless...), g.Hostile...) {
			g.Sample = v
			if verdict := injectionguard.Check(g.request(v)); !verdict.Allow {
				t.Errorf("%s for itself: %+v", v, verdict)
			}
		}
	}
}
