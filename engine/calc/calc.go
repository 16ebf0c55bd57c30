// Package calc turns a recording into a scenario without a model and without the
// network. Every value of every input is explained by where it came from: the
// prompt, an earlier output, a composition of these, or a constant. The bodies
// are written for people to read, and each is proved against the recording. It
// never guesses silently: what it cannot explain is frozen and says so.
package calc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/js"
	"github.com/bir-run/bir/engine/proof"
)

// ErrNoCalls says that a recording has no call that a scenario could repeat.
var ErrNoCalls = errors.New("the recording has no call that ended with a result")

// Calculate explains and proves a recording. The same recording always gives the
// same scenario; its ID and times are left to the caller. A scenario that could
// not be proved comes back in StateFailed with its Problem. An error means that
// there was nothing to calculate, or that the evaluator could not be used.
func Calculate(ctx context.Context, ev engine.Evaluator, rec engine.Recording) (engine.Scenario, error) {
	calls := rec.Usable()
	if len(calls) == 0 {
		return engine.Scenario{}, ErrNoCalls
	}
	frozen, muted := redacted(calls), map[int]string{}
	// Each round freezes or mutes at least one more step, so this ends.
	for range 2*len(calls) + 1 {
		scenario, err := write(rec, calls, frozen, muted)
		if err != nil {
			return engine.Scenario{}, err
		}
		report, err := proof.Check(ctx, ev, scenario, rec)
		if err != nil {
			return engine.Scenario{}, fmt.Errorf("prove: %w", err)
		}
		if report.OK || !giveUp(report, frozen, muted) {
			return judge(scenario, report, rec), nil
		}
	}
	return engine.Scenario{}, errors.New("the calculation did not settle")
}

// redacted freezes the steps whose input lost a secret when it was recorded.
func redacted(calls []engine.Call) map[int]string {
	frozen := map[int]string{}
	for i, c := range calls {
		if bytes.Contains(c.Input, []byte(engine.RedactionMark)) {
			frozen[i] = "its input held a secret, which was not recorded"
		}
	}
	return frozen
}

// giveUp takes what could not be proved out of the next round: an output body
// that fails is not read from, an input body that fails is frozen.
func giveUp(report proof.Report, frozen, muted map[int]string) bool {
	for i, step := range report.Steps {
		if step.OK {
			continue
		}
		reason := step.Reason()
		if step.Stage == proof.StageOutput && muted[i] == "" {
			muted[i] = "its output could not be read: " + reason
			return true
		}
		if step.Stage == proof.StageInput && frozen[i] == "" {
			frozen[i] = "the explanation did not reproduce the recording: " + reason
			return true
		}
	}
	return false
}

func write(rec engine.Recording, calls []engine.Call, frozen, muted map[int]string) (engine.Scenario, error) {
	e := newExplainer(rec, calls, frozen, muted)
	if err := e.explainAll(); err != nil {
		return engine.Scenario{}, err
	}
	s := engine.Scenario{
		Version:       engine.FormatVersion,
		RunID:         rec.RunID,
		Intent:        rec.Prompt,
		State:         engine.StateFailed,
		ChainRevision: 1,
		ParamsObject:  map[string]engine.Param{},
		ParamsLogic:   "return params;",
		Provenance:    engine.ProvenanceCalculated,
	}
	for i, call := range calls {
		s.Steps = append(s.Steps, e.step(i, call))
	}
	for _, c := range e.params {
		s.ParamsObject[c.name] = c.describe(rec.Prompt)
	}
	s.ResponseParamsLogic = e.responseBody()
	noteLeftOut(&s, rec)
	return s, nil
}

func (e *explainer) step(i int, call engine.Call) engine.Step {
	x := e.steps[i]
	return engine.Step{
		StepIndex:       i + 1,
		ToolName:        call.ToolName,
		ServerName:      call.ServerName,
		UpstreamTool:    call.UpstreamTool,
		ToolInputLogic:  x.input,
		ToolOutputLogic: e.outputBody(i),
		Reasoning:       e.reasoning(i),
		Frozen:          x.frozen != "",
		FrozenReason:    x.frozen,
		Provenance:      engine.ProvenanceCalculated,
	}
}

// reasoning is what a person reads beside a step.
func (e *explainer) reasoning(i int) string {
	x := e.steps[i]
	var sentences []string
	switch {
	case x.frozen != "":
		sentences = append(sentences, "The input is the recorded one.")
	case x.literal:
		sentences = append(sentences, "The input is constant: nothing in it comes from the prompt or an earlier output.")
	default:
		sentences = append(sentences, "In the input, "+strings.Join(x.sources, ", ")+".")
	}
	if kept := slices.Concat(x.unknown, x.fixed); len(kept) > 0 && x.frozen == "" {
		sentences = append(sentences, "Kept as recorded: "+list(kept)+".")
	}
	if text := e.describeOutput(i); text != "" {
		sentences = append(sentences, text)
	}
	return strings.Join(sentences, " ")
}

func (e *explainer) responseBody() string {
	var members []js.Member
	for _, c := range e.params {
		members = append(members, js.Member{Key: c.name, Expr: js.Access("params", c.name)})
	}
	for _, p := range e.threads {
		members = append(members, js.Member{Key: p.Name, Expr: js.Access("respParams", p.Name)})
	}
	return "return " + js.Object(members, "") + ";"
}

// noteLeftOut says which recorded calls are left out, beside the step that followed.
func noteLeftOut(s *engine.Scenario, rec engine.Recording) {
	at := 0
	for i, call := range rec.Calls {
		if call.Usable() {
			at++
			continue
		}
		step := &s.Steps[min(at, len(s.Steps)-1)]
		step.Reasoning += fmt.Sprintf(" Call %d of the recording (%s) %s.", i+1, call.ToolName, whyLeftOut(call))
	}
}

func whyLeftOut(call engine.Call) string {
	switch {
	case !call.Failed:
		return "started a subagent, whose calls are steps themselves, and is left out"
	case call.Ended != "":
		return call.Ended + " and is left out"
	}
	return "failed and is left out"
}

// judge sets the state. A scenario in which nothing is computed because nothing
// could be explained repeats stale inputs and is not ready.
func judge(s engine.Scenario, report proof.Report, rec engine.Recording) engine.Scenario {
	frozen := 0
	for _, step := range s.Steps {
		if step.Frozen {
			frozen++
		}
	}
	switch {
	case !report.OK:
		s.Problem = "not proved: " + strings.Join(report.Problems, "; ")
	case frozen == len(s.Steps):
		s.Problem = "no step could be explained: " + s.Steps[0].FrozenReason
	default:
		s.State = engine.StateReady
		s.Problem = remark(s, rec, frozen)
	}
	return s
}

// remark is what the owner of a ready scenario should know.
func remark(s engine.Scenario, rec engine.Recording, frozen int) string {
	var remarks []string
	if rec.Prompt == "" {
		remarks = append(remarks, "no parameters: the prompt was not recorded, so every replay repeats the recorded values")
	} else if len(s.ParamsObject) == 0 {
		remarks = append(remarks, "no parameters: no value of the prompt occurs in an input")
	}
	if frozen > 0 {
		remarks = append(remarks, fmt.Sprintf("%d of %d steps are frozen and stop a replay with other parameters", frozen, len(s.Steps)))
	}
	if rec.Partial != "" {
		remarks = append(remarks, "the recording is incomplete: "+rec.Partial)
	}
	return strings.Join(remarks, "; ")
}
