package logic

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bir-run/bir/cmd/bir/scenario"
	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/logic"
	"github.com/bir-run/bir/engine/proof"
	"github.com/bir-run/bir/recorder/service"
	"github.com/bir-run/bir/sandbox"
)

// recorded is a scenario with the run that it was calculated from.
type recorded struct {
	scn engine.Scenario
	rec engine.Recording
}

func fetchRecorded(ctx context.Context, a *app.App, id string) (recorded, error) {
	scn, err := scenario.Fetch(ctx, a, id)
	if err != nil {
		return recorded{}, err
	}
	return recordingOf(ctx, a, scn)
}

func recordingOf(ctx context.Context, a *app.App, scn engine.Scenario) (recorded, error) {
	svc, err := a.Service(ctx)
	if err != nil {
		return recorded{}, err
	}
	run, err := svc.Run(ctx, scn.RunID)
	if err != nil {
		return recorded{}, err
	}
	return recorded{scn: scn, rec: service.Recording(run)}, nil
}

// fetchStep is a scenario, and what the bodies of one of its steps had in the
// recording.
func fetchStep(ctx context.Context, a *app.App, ev engine.Evaluator, id string, step int) (engine.Scenario, stepArgs, error) {
	found, err := fetchRecorded(ctx, a, id)
	if err != nil {
		return engine.Scenario{}, stepArgs{}, err
	}
	args, err := found.args(ctx, ev, step)
	return found.scn, args, err
}

// wantStep holds that a step was named and is one of the scenario.
func wantStep(scn engine.Scenario, step int) error {
	if step < 1 || step > len(scn.Steps) {
		return cli.Usage("%s has steps 1 to %d: give one with --step", scn.ID, len(scn.Steps))
	}
	return nil
}

// stepArgs are the arguments that the bodies of one step had in the recording.
type stepArgs struct {
	step engine.Step
	call engine.Call
	sandbox.Args
	Missing []string // what an earlier body that failed would have added
}

// noteMissing says what is not in the arguments.
func (s stepArgs) noteMissing(w io.Writer) {
	for _, missing := range s.Missing {
		fmt.Fprintf(w, "note: %s\n", missing)
	}
}

// args evaluates what comes before a step, which counts from 1.
func (r recorded) args(ctx context.Context, ev engine.Evaluator, step int) (stepArgs, error) {
	if err := wantStep(r.scn, step); err != nil {
		return stepArgs{}, err
	}
	calls := r.rec.Usable()
	if len(calls) != len(r.scn.Steps) {
		return stepArgs{}, cli.Failed("%s has %d steps and its recording %d calls", r.scn.ID, len(r.scn.Steps), len(calls))
	}
	world := sandbox.World{Now: r.rec.RecordedAt}
	run := logic.New(ev, world)
	params, err := run.Params(ctx, r.scn.ParamsLogic, proof.Samples(r.scn))
	if err != nil {
		return stepArgs{}, fmt.Errorf("evaluate the params body: %w", err)
	}
	s := stepArgs{step: r.scn.Steps[step-1], call: calls[step-1]}
	for i, before := range r.scn.Steps[:step-1] {
		var fault *sandbox.Error
		if _, err := run.Output(ctx, before, calls[i].Output); errors.As(err, &fault) && fault.Type != sandbox.TypeSandbox {
			s.Missing = append(s.Missing, fmt.Sprintf("the output body of step %d failed: %s", before.StepIndex, fault))
		} else if err != nil {
			return stepArgs{}, fmt.Errorf("evaluate step %d: %w", before.StepIndex, err)
		}
	}
	s.Args = sandbox.Args{Params: params, RespParams: run.Threaded(), ToolOutput: s.call.Output, World: world}
	return s, nil
}
