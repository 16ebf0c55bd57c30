package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/logic"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/sandbox"
)

// CheckEdit holds a changed scenario against its recording: the step with the
// given index and every later one must reproduce what was recorded, and the
// changed bodies must not be copies of it. Faults of earlier steps, which the
// edit did not touch, are not held against it.
func CheckEdit(ctx context.Context, ev engine.Evaluator, old, changed engine.Scenario, rec engine.Recording, stepIndex int) (Report, error) {
	before, after, err := stepsAt(old, changed, stepIndex)
	if err != nil {
		return Report{Problems: []string{err.Error()}}, nil
	}
	after.Provenance = engine.ProvenanceUntried
	report, err := Check(ctx, ev, with(changed, after), rec)
	if err != nil {
		return Report{}, err
	}
	report = report.from(stepIndex)
	report.NoChange = sameLogic(before, after)
	if report.NoChange || !report.OK {
		return report, nil
	}
	probe := prober{ev: ev, world: sandbox.World{Now: rec.RecordedAt}}
	if err := probe.thread(ctx, changed, rec, stepIndex); err != nil {
		return Report{}, err
	}
	return report, probe.findCopies(ctx, &report, before, after)
}

func stepsAt(old, changed engine.Scenario, stepIndex int) (before, after engine.Step, err error) {
	if len(old.Steps) != len(changed.Steps) {
		return before, after, fmt.Errorf("an edit may not add or remove steps")
	}
	for i, step := range changed.Steps {
		if step.StepIndex == stepIndex {
			return old.Steps[i], step, nil
		}
	}
	return before, after, fmt.Errorf("there is no step %d", stepIndex)
}

// with is a scenario that has another step in the place of one with its index.
func with(s engine.Scenario, step engine.Step) engine.Scenario {
	s.Steps = slices.Clone(s.Steps)
	at := slices.IndexFunc(s.Steps, func(other engine.Step) bool { return other.StepIndex == step.StepIndex })
	s.Steps[at] = step
	return s
}

func sameLogic(a, b engine.Step) bool {
	return a.ToolInputLogic == b.ToolInputLogic && a.ToolOutputLogic == b.ToolOutputLogic && a.Frozen == b.Frozen
}

// from drops what a report says of the steps before an index.
func (r Report) from(stepIndex int) Report {
	kept := Report{OK: r.OK, Problems: r.Problems}
	for _, step := range r.Steps {
		if step.StepIndex >= stepIndex {
			kept.Steps = append(kept.Steps, step)
			continue
		}
		if !step.OK {
			kept.Problems = kept.without(fmt.Sprintf("step %d (%s): %s", step.StepIndex, step.ToolName, step.Reason()))
		}
	}
	kept.OK = len(kept.Problems) == 0
	return kept
}

func (r Report) without(problem string) []string {
	var rest []string
	for _, p := range r.Problems {
		if p != problem {
			rest = append(rest, p)
		}
	}
	return rest
}

// prober evaluates bodies on changed values, to see what they depend on.
type prober struct {
	ev     engine.Evaluator
	world  sandbox.World
	params json.RawMessage
	resp   json.RawMessage
	input  json.RawMessage // recorded
	output string          // recorded
}

// thread brings the prober to where the step begins in the recording.
func (p *prober) thread(ctx context.Context, s engine.Scenario, rec engine.Recording, stepIndex int) error {
	run := logic.New(p.ev, p.world)
	params, err := run.Params(ctx, s.ParamsLogic, Samples(s))
	if err != nil {
		return fmt.Errorf("evaluate params: %w", err)
	}
	p.params = params
	for i, call := range rec.Usable() {
		if s.Steps[i].StepIndex == stepIndex {
			p.input, p.output = call.Input, call.Output
			break
		}
		if _, err := run.Output(ctx, s.Steps[i], call.Output); err != nil {
			if _, err := bodyError(err); err != nil {
				return err
			}
		}
	}
	p.resp = run.Threaded()
	return nil
}

func (p *prober) findCopies(ctx context.Context, report *Report, before, after engine.Step) error {
	if after.ToolInputLogic != before.ToolInputLogic {
		copied, err := p.inputCopied(ctx, before, after)
		if err != nil {
			return err
		}
		if copied {
			report.copied("step %d: the input body repeats the recorded input; the body before computed it", after.StepIndex)
		}
	}
	if after.ToolOutputLogic != before.ToolOutputLogic {
		copied, err := p.outputCopied(ctx, after)
		if err != nil {
			return err
		}
		if copied {
			report.copied("step %d: the output body returns constants; it must read them from the output", after.StepIndex)
		}
	}
	return nil
}

func (r *Report) copied(format string, args ...any) {
	r.OK, r.Copy = false, true
	r.problem(format, args...)
}

// inputCopied: the new body gives the recorded input whatever it is given, where
// the old one did not. A step whose input never depended on anything may stay so.
func (p *prober) inputCopied(ctx context.Context, before, after engine.Step) (bool, error) {
	oldMoves, err := p.moves(ctx, func(k kinds) (json.RawMessage, error) { return p.evalInput(ctx, before, k) })
	if err != nil || !oldMoves {
		return false, err
	}
	newMoves, err := p.moves(ctx, func(k kinds) (json.RawMessage, error) { return p.evalInput(ctx, after, k) })
	return !newMoves, err
}

// outputCopied: the body returns something, and the same whatever it reads.
func (p *prober) outputCopied(ctx context.Context, after engine.Step) (bool, error) {
	given, err := p.evalOutput(ctx, after, 0)
	if fault, err := bodyError(err); err != nil || fault != nil {
		return false, err
	}
	if parsed, err := value.Parse(given); err != nil || len(parsed.Items) == 0 {
		return false, nil
	}
	moves, err := p.moves(ctx, func(k kinds) (json.RawMessage, error) { return p.evalOutput(ctx, after, k) })
	return !moves, err
}

// moves tells whether a body gives another value, or fails, for any of the ways
// in which its arguments are changed.
func (p *prober) moves(_ context.Context, eval func(kinds) (json.RawMessage, error)) (bool, error) {
	still, err := eval(0)
	if fault, err := bodyError(err); err != nil || fault != nil {
		return fault != nil, err
	}
	for _, k := range []kinds{numbers | texts | bools, numbers, texts} {
		moved, err := eval(k)
		fault, err := bodyError(err)
		if err != nil {
			return false, err
		}
		if fault != nil || value.Diff(still, moved) != "" {
			return true, nil
		}
	}
	return false, nil
}

func (p *prober) evalInput(ctx context.Context, step engine.Step, k kinds) (json.RawMessage, error) {
	if literal, ok := logic.Literal(step.ToolInputLogic); ok {
		return literal, nil
	}
	result, err := p.ev.Eval(ctx, logic.InputBody(step), sandbox.Args{
		Params: perturb(p.params, k), RespParams: perturb(p.resp, k), World: p.world,
	})
	return result.Value, err
}

func (p *prober) evalOutput(ctx context.Context, step engine.Step, k kinds) (json.RawMessage, error) {
	result, err := p.ev.Eval(ctx, logic.OutputBody(step), sandbox.Args{
		Params: perturb(p.params, k), RespParams: perturb(p.resp, k),
		ToolOutput: perturbText(p.output, k), World: p.world,
	})
	return result.Value, err
}
