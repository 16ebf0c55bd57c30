// Package outcome names how a matched prompt ended and decides it from what a
// plan did. The names are those that the service books; it never rounds up.
package outcome

// Outcome is how a matched prompt ended.
type Outcome string

// The ladder, from the floor up.
const (
	NotSteered  Outcome = "not_steered"  // declined, or retired before anything ran
	Failed      Outcome = "failed"       // armed, but gave up before any step did its work
	FellBack    Outcome = "fell_back"    // some steps did their work, then the model took over
	Diverged    Outcome = "diverged"     // cut off by the model or by the budget after some steps
	SteeredFull Outcome = "steered_full" // every step ran with computed inputs
)

// Rank orders the outcomes; an outcome is only ever upgraded. An unknown name
// ranks with the floor.
func (o Outcome) Rank() int {
	switch o {
	case Failed:
		return 1
	case FellBack:
		return 2
	case Diverged:
		return 3
	case SteeredFull:
		return 4
	}
	return 0
}

// Upgrade is the higher of two outcomes.
func (o Outcome) Upgrade(next Outcome) Outcome {
	if next.Rank() > o.Rank() {
		return next
	}
	return o
}

// Facts are what a plan did.
type Facts struct {
	Declined   bool // refused before its first step
	Planned    int  // steps of the scenario
	Worked     int  // steps whose tool really ran and answered under the plan
	Recorded   int  // steps served from a recording, which is no work done
	OutOfTime  bool // stopped by its budget, not by a step
	Cancelled  bool // stopped by its caller
	Incomplete bool // every step ran, but the response model could not be made
}

// Of decides the outcome.
func Of(f Facts) Outcome {
	switch {
	case f.Declined || f.Worked == 0 && f.Recorded > 0:
		return NotSteered
	case f.Worked == 0:
		return Failed
	case f.Worked == f.Planned && !f.Incomplete:
		return SteeredFull
	case f.Worked+f.Recorded == f.Planned && f.Recorded > 0, f.OutOfTime && !f.Cancelled:
		return Diverged
	}
	return FellBack
}
