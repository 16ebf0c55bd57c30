package replay

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/engine/plan"
)

// headRunes bounds what is shown of an output; --json has it whole.
const headRunes = 160

func (j *job) printHead(w io.Writer) {
	how := "live"
	if j.recorded != nil {
		how = "dry, on recorded outputs"
	}
	cli.Title(w, "replay of %s, %s", j.scn.ID, how)
	for _, name := range slices.Sorted(maps.Keys(j.derived.Params)) {
		fmt.Fprintf(w, "   %s = %s\n", name, j.derived.Params[name])
	}
	if j.derived.Note != "" {
		fmt.Fprintf(w, "   %s\n", j.derived.Note)
	}
}

func printStep(w io.Writer, s plan.StepResult) {
	status := cli.Good(string(s.Status))
	if s.Status != plan.StatusOK && s.Status != plan.StatusRecorded {
		status = cli.Bad(string(s.Status))
	}
	fmt.Fprintf(w, "\nstep %d  %s  %s  %.1f ms\n", s.StepIndex, s.ToolName, status, s.DurationMS)
	if s.Input != nil {
		fmt.Fprintf(w, "   input   %s\n", head(s.Input, 4*headRunes))
	}
	printVerdicts(w, s.Verdicts)
	if s.Output != nil {
		fmt.Fprintf(w, "   output  %s\n", head(s.Output, headRunes))
	}
	if s.Error != "" {
		fmt.Fprintf(w, "   %s\n", s.Error)
	}
}

func printVerdicts(w io.Writer, verdicts []plan.Verdict) {
	for _, v := range verdicts {
		word := cli.Good("allows")
		if !v.Allow {
			word = cli.Bad("denies")
		}
		fmt.Fprintf(w, "   guard   %s %s in %.2f ms", v.Module, word, v.DurationMS)
		if v.Reason != "" {
			fmt.Fprintf(w, ": %s", v.Reason)
		}
		fmt.Fprintln(w)
	}
}

func (e *ending) print(w io.Writer) {
	fmt.Fprintln(w)
	e.printComparisons(w)
	if e.ResponseModel != nil {
		fmt.Fprintf(w, "response  %s\n", e.ResponseModel)
	}
	fmt.Fprintf(w, "outcome   %s, %d steps, %.0f ms, no tokens\n", e.Outcome, len(e.Steps), e.DurationMS)
	if e.HandOver != "" {
		fmt.Fprintf(w, "\n%s\n", e.HandOver)
	}
}

func (e *ending) printComparisons(w io.Writer) {
	for _, c := range e.Comparisons {
		if c.Difference == "" {
			fmt.Fprintf(w, "%s  step %d computed what the run sent\n", cli.Good("same"), c.StepIndex)
			continue
		}
		fmt.Fprintf(w, "%s  step %d: %s\n   sent     %s\n   computed %s\n", cli.Bad("differs"), c.StepIndex, c.Difference, c.Sent, c.Computed)
	}
	if e.NotRepeated > 0 {
		fmt.Fprintf(w, "%s  %d calls of the run were not made by the scenario\n", cli.Bad("differs"), e.NotRepeated)
	}
}
