package outcome_test

import (
	"testing"

	"github.com/bir-run/bir/engine/outcome"
)

func TestOutcomesNeverClaimMoreThanWasDone(t *testing.T) {
	tests := map[string]struct {
		facts outcome.Facts
		want  outcome.Outcome
	}{
		"declined at arm time":        {outcome.Facts{Declined: true, Planned: 3}, outcome.NotSteered},
		"nothing worked":              {outcome.Facts{Planned: 3}, outcome.Failed},
		"every step worked":           {outcome.Facts{Planned: 3, Worked: 3}, outcome.SteeredFull},
		"some, then a broken step":    {outcome.Facts{Planned: 3, Worked: 2}, outcome.FellBack},
		"some, then out of time":      {outcome.Facts{Planned: 3, Worked: 2, OutOfTime: true}, outcome.Diverged},
		"out of time before any":      {outcome.Facts{Planned: 3, OutOfTime: true}, outcome.Failed},
		"some, then cancelled":        {outcome.Facts{Planned: 3, Worked: 2, Cancelled: true}, outcome.FellBack},
		"recorded results only":       {outcome.Facts{Planned: 3, Recorded: 3}, outcome.NotSteered},
		"one recorded among the real": {outcome.Facts{Planned: 3, Worked: 2, Recorded: 1}, outcome.Diverged},
		"all, but no response model":  {outcome.Facts{Planned: 3, Worked: 3, Incomplete: true}, outcome.FellBack},
	}
	for name, test := range tests {
		if got := outcome.Of(test.facts); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestAnOutcomeIsOnlyEverUpgraded(t *testing.T) {
	ladder := []outcome.Outcome{outcome.NotSteered, outcome.Failed, outcome.FellBack, outcome.Diverged, outcome.SteeredFull}
	for i, low := range ladder {
		for _, high := range ladder[i:] {
			if low.Upgrade(high) != high || high.Upgrade(low) != high {
				t.Errorf("%s and %s", low, high)
			}
		}
	}
}
