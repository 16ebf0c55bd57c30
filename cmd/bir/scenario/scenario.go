// Package scenario has the commands about scenarios: bir scenario calc, list, show,
// check, edit, edits and undo.
package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder/client"
)

// New declares `bir scenario`.
func New(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scenario",
		Short: "Calculate, read, check and edit scenarios",
		Long: "A scenario is calculated from a run: its tool calls in order, each input computed by a small JavaScript body.\n" +
			"Where a scenario is named, the run it was calculated from may be named instead.\n\n" + cli.ExitCodes,
	}
	cmd.AddCommand(newCalc(a), newList(a), newShow(a), newCheck(a), newEdit(a), newEdits(a), newUndo(a))
	return cmd
}

func newCalc(a *app.App) *cobra.Command {
	var asJSON, force, discard bool
	cmd := &cobra.Command{
		Use:   "calc RUN",
		Short: "Calculate a run's scenario and prove it against the recording",
		Long: "Explains where every value of every input came from, writes one body for each step, and evaluates all of them\n" +
			"in the sandbox: the scenario is ready when they reproduce the recording.\n\n" + cli.ExitCodes,
		Example:           "  bir scenario calc run_0192…\n  bir scenario calc run_0192… --force --discard-edits",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			return calc(cmd.Context(), a, args[0], force, discard, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&force, "force", false, "calculate again, in place")
	cmd.Flags().BoolVar(&discard, "discard-edits", false, "with --force: give up hand edits")
	return cmd
}

func calc(ctx context.Context, a *app.App, run string, force, discard, asJSON bool) error {
	if discard && !force {
		return cli.Usage("--discard-edits goes with --force")
	}
	svc, err := a.Service(ctx)
	if err != nil {
		return err
	}
	raw, err := svc.Calculate(ctx, run, client.Recalculate{Force: force, DiscardEdits: discard})
	if err != nil {
		return err
	}
	s, err := decode(raw)
	if err != nil {
		return err
	}
	if asJSON {
		err = cli.JSON(a.Out, s)
	} else {
		printSummary(a.Out, s)
	}
	if err == nil && s.State != engine.StateReady {
		return cli.ErrSilent
	}
	return err
}

func printSummary(w io.Writer, s engine.Scenario) {
	state := cli.Good(string(s.State))
	if s.State != engine.StateReady {
		state = cli.Bad(string(s.State))
	}
	fmt.Fprintf(w, "%s: %s, %d steps, %d parameters\n", s.ID, state, len(s.Steps), len(s.ParamsObject))
	if s.Problem != "" {
		fmt.Fprintf(w, "note: %s\n", s.Problem)
	}
}

func newShow(a *app.App) *cobra.Command {
	var asJSON bool
	var step int
	cmd := &cobra.Command{
		Use:               "show SCENARIO",
		Short:             "Show a scenario's parameters and bodies",
		Example:           "  bir scenario show scn_0192…\n  bir scenario show scn_0192… --step 2\n  bir scenario show run_0192… --json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(cmd.Context(), a, args[0], step, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().IntVar(&step, "step", 0, "only this step, from 1")
	return cmd
}

// stepView is what `show --step --json` prints: the step, and the scenario and
// revision that an edit of it names.
type stepView struct {
	ScenarioID    string `json:"scenarioId"`
	ChainRevision int    `json:"chainRevision"`
	engine.Step
}

func show(ctx context.Context, a *app.App, id string, step int, asJSON bool) error {
	s, err := Fetch(ctx, a, id)
	if err != nil {
		return err
	}
	if step == 0 {
		if asJSON {
			return cli.JSON(a.Out, s)
		}
		printScenario(a.Out, s)
		return nil
	}
	if step < 1 || step > len(s.Steps) {
		return cli.Usage("%s has steps 1 to %d", s.ID, len(s.Steps))
	}
	if asJSON {
		return cli.JSON(a.Out, stepView{s.ID, s.ChainRevision, s.Steps[step-1]})
	}
	printStep(a.Out, s.Steps[step-1])
	return nil
}

// Fetch reads a scenario by its own id or by that of its run.
func Fetch(ctx context.Context, a *app.App, id string) (engine.Scenario, error) {
	svc, err := a.Service(ctx)
	if err != nil {
		return engine.Scenario{}, err
	}
	return fetch(ctx, svc, id)
}

func fetch(ctx context.Context, svc *client.Client, id string) (engine.Scenario, error) {
	var raw json.RawMessage
	var err error
	switch {
	case strings.HasPrefix(id, "run_"):
		raw, err = svc.ScenarioOfRun(ctx, id)
	case strings.HasPrefix(id, "scn_"):
		raw, err = svc.Scenario(ctx, id)
	default:
		return engine.Scenario{}, cli.Hint(cli.Usage("%q is neither a scenario (scn_…) nor a run (run_…)", id), "`bir scenario list` shows them")
	}
	if err != nil {
		return engine.Scenario{}, err
	}
	return decode(raw)
}

func decode(raw json.RawMessage) (engine.Scenario, error) {
	return read[engine.Scenario](raw, "scenario")
}

// read reads an answer of the service.
func read[T any](raw json.RawMessage, what string) (v T, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("read the service's %s: %w", what, err)
	}
	return v, nil
}

func printScenario(w io.Writer, s engine.Scenario) {
	cli.Title(w, "%s  revision %d", s.ID, s.ChainRevision)
	fmt.Fprintf(w, "intent  %s\n", orNone(s.Intent))
	printSummary(w, s)
	if len(s.ParamsObject) > 0 {
		fmt.Fprintln(w, "\nparameters")
	}
	for _, name := range slices.Sorted(maps.Keys(s.ParamsObject)) {
		p := s.ParamsObject[name]
		fmt.Fprintf(w, "   %s (%s, %s) recorded as %s: %s\n", name, p.Kind, p.Type, p.SampleValue, p.Description)
	}
	printBody(w, "params logic", s.ParamsLogic)
	for _, step := range s.Steps {
		fmt.Fprintln(w)
		printStep(w, step)
	}
	fmt.Fprintln(w)
	printBody(w, "response", s.ResponseParamsLogic)
}

func printStep(w io.Writer, s engine.Step) {
	mark := ""
	if s.Provenance != engine.ProvenanceCalculated {
		mark += "  " + string(s.Provenance)
	}
	if s.Frozen {
		mark += "  " + cli.Bad("frozen")
	}
	cli.Title(w, "step %d  %s%s", s.StepIndex, s.ToolName, mark)
	for _, line := range []string{s.Reasoning, s.FrozenReason, s.Note} {
		if line != "" {
			fmt.Fprintf(w, "   %s\n", line)
		}
	}
	printBody(w, "input", s.ToolInputLogic)
	printBody(w, "output", s.ToolOutputLogic)
}

func printBody(w io.Writer, what, source string) {
	if strings.TrimSpace(source) == "" {
		return
	}
	fmt.Fprintf(w, "   %s\n%s\n", what, cli.Indent(source, "      "))
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
