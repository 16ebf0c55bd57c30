package logic

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/bir-run/bir/cmd/bir/scenario"
	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/engine/proof"
	"github.com/bir-run/bir/recorder/service"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
)

// report runs the cases in order and prints each as it ends.
func report(ctx context.Context, a *app.App, asJSON bool, all []cases.Case, pool *sandbox.Pool) error {
	passed, failed := 0, 0
	for outcome, err := range cases.Run(ctx, pool, all) {
		if err != nil {
			return err
		}
		if outcome.OK {
			passed++
		} else {
			failed++
		}
		if asJSON {
			err = cli.JSONLine(a.Out, outcome)
		} else {
			printOutcome(a.Out, outcome)
		}
		if err != nil {
			return err
		}
	}
	if !asJSON && len(all) != 1 {
		fmt.Fprintf(a.Out, "%d as expected, %d not\n", passed, failed)
	}
	if failed > 0 {
		return cli.ErrSilent
	}
	return nil
}

func printOutcome(w io.Writer, o cases.Outcome) {
	word := cli.Good("ok")
	if !o.OK {
		word = cli.Bad("not ok")
	}
	memory := ""
	if o.MemoryBytes > 0 {
		memory = fmt.Sprintf(", %.1f MB", float64(o.MemoryBytes)/(1<<20))
	}
	fmt.Fprintf(w, "%s  %s  %.2f ms%s\n", word, o.ID, o.DurationMS, memory)
	if o.Error != nil {
		fmt.Fprintf(w, "   %s: %s\n", o.Error.Type, o.Error)
	}
	if o.Value != nil {
		fmt.Fprintf(w, "   value %s\n", o.Value)
	}
	if o.Difference != "" {
		fmt.Fprintf(w, "   %s\n", o.Difference)
	}
	for _, line := range o.Console {
		fmt.Fprintf(w, "   console %s\n", line)
	}
}

// testStep holds a step's stored bodies against the recording.
func testStep(ctx context.Context, a *app.App, o options, id string, pool *sandbox.Pool) error {
	scn, err := scenario.Fetch(ctx, a, id)
	if err != nil {
		return err
	}
	if o.step < 1 || o.step > len(scn.Steps) {
		return cli.Usage("%s has steps 1 to %d: give one with --step", scn.ID, len(scn.Steps))
	}
	svc, err := a.Service(ctx)
	if err != nil {
		return err
	}
	run, err := svc.Run(ctx, scn.RunID)
	if err != nil {
		return err
	}
	found, err := proof.Check(ctx, pool, scn, service.Recording(run))
	if err != nil {
		return err
	}
	step := found.Steps[o.step-1]
	if o.asJSON {
		err = cli.JSONLine(a.Out, step)
	} else {
		printStep(a.Out, step)
	}
	if err == nil && !step.OK {
		return cli.ErrSilent
	}
	return err
}

func printStep(w io.Writer, s proof.StepReport) {
	if s.OK {
		fmt.Fprintf(w, "%s  step %d reproduces the recording\n   input %s\n", cli.Good("ok"), s.StepIndex, orNothing(s.Computed))
		return
	}
	fmt.Fprintf(w, "%s  step %d, %s body: %s\n", cli.Bad("not ok"), s.StepIndex, s.Stage, s.Reason())
	fmt.Fprintf(w, "   expected %s\n   computed %s\n", orNothing(s.Expected), orNothing(s.Computed))
}

func orNothing(raw json.RawMessage) string {
	if raw == nil {
		return "(nothing)"
	}
	return string(raw)
}
