package service

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/proof"
	"github.com/bir-run/bir/sandbox"
)

// CheckReport is the answer to a check, and the reason of a refusal.
type CheckReport struct {
	ScenarioID    string `json:"scenarioId"`
	StepIndex     int    `json:"stepIndex"`
	ChainRevision int    `json:"chainRevision"` // of the scenario that was checked
	proof.Report
}

func reportOn(scn engine.Scenario, stepIndex int, found proof.Report) *CheckReport {
	if found.Steps == nil {
		found.Steps = []proof.StepReport{} // a list in JSON, also where nothing was evaluated
	}
	return &CheckReport{ScenarioID: scn.ID, StepIndex: stepIndex, ChainRevision: scn.ChainRevision, Report: found}
}

// usesEverything stands for the body that a frozen step has not. Whatever an
// input could be made from, it is made from.
const usesEverything = "return {params, respParams};"

// check tries next in place of the step. Where next lifts the mark that nothing
// was found which computes the input, it must compute it: the recorded input
// written down once more is a copy, however constant the frozen body was.
func (s *server) check(ctx context.Context, on subject, next engine.Step) (*CheckReport, error) {
	before := on.scn
	if frozenByCalculation(on.step()) && !next.Frozen {
		whole := on.step()
		whole.ToolInputLogic = usesEverything
		before = withStep(on.scn, on.at, whole)
	}
	found, err := proof.CheckEdit(ctx, s.evaluator, before, withStep(on.scn, on.at, next), on.rec, next.StepIndex)
	if err != nil {
		return nil, err
	}
	return reportOn(on.scn, next.StepIndex, found), nil
}

// settled gives a changed scenario its state. Ready is what is proved and computes
// something; what the owner forced stays as it was, since forcing is how an owner
// says that it is meant to be replayed.
func (s *server) settled(ctx context.Context, scn engine.Scenario, rec engine.Recording) (engine.Scenario, error) {
	if scn.Provenance == engine.ProvenanceForced {
		return scn, nil
	}
	found, err := proof.Check(ctx, s.evaluator, scn, rec)
	if err != nil {
		return scn, err
	}
	computed := slices.ContainsFunc(scn.Steps, func(step engine.Step) bool { return !step.Frozen })
	switch {
	case !found.OK:
		scn.State, scn.Problem = engine.StateFailed, "not proved: "+strings.Join(found.Problems, "; ")
	case !computed:
		scn.State, scn.Problem = engine.StateFailed, "every step is frozen"
	case scn.State != engine.StateReady:
		scn.State, scn.Problem = engine.StateReady, ""
	}
	return scn, nil
}

// checkUndo checks what an undo can break: later steps and the answer, through
// what the output body hands on. The step itself goes back to what it was, good
// or not, and what is broken already is not held against the undo. Nil where the
// output body stays.
func (s *server) checkUndo(ctx context.Context, on subject, next engine.Step) (*CheckReport, error) {
	if next.ToolOutputLogic == on.step().ToolOutputLogic {
		return nil, nil
	}
	before, err := proof.Check(ctx, s.evaluator, on.scn, on.rec)
	if err != nil {
		return nil, err
	}
	after, err := proof.Check(ctx, s.evaluator, withStep(on.scn, on.at, next), on.rec)
	if err != nil {
		return nil, err
	}
	after.Problems = broken(before, after, next.StepIndex)
	after.OK = len(after.Problems) == 0
	return reportOn(on.scn, next.StepIndex, after), nil
}

// broken are the problems that after has and before has not, but for those of one
// step. A report has one problem for each failed step, in order, and then those
// of the bodies that belong to no step.
func broken(before, after proof.Report, stepIndex int) []string {
	var problems []string
	failed := 0
	for i, step := range after.Steps {
		if step.OK {
			continue
		}
		wasOK := i >= len(before.Steps) || before.Steps[i].OK
		if wasOK && step.StepIndex != stepIndex {
			problems = append(problems, after.Problems[failed])
		}
		failed++
	}
	if len(before.Problems) == failedSteps(before) {
		problems = append(problems, after.Problems[failed:]...)
	}
	return problems
}

func failedSteps(r proof.Report) int {
	n := 0
	for _, step := range r.Steps {
		if !step.OK {
			n++
		}
	}
	return n
}

// sandboxUnavailable says that bodies could not be run at all, which says nothing
// about them.
func sandboxUnavailable(err error) bool {
	var failure *sandbox.Error
	return errors.As(err, &failure) && failure.Type == sandbox.TypeSandbox
}
