package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder/client"
	"github.com/bir-run/bir/recorder/service"
	"github.com/bir-run/bir/recorder/store"
)

// changeFlags are what check and edit have in common.
type changeFlags struct {
	step                    int
	inputLogic, outputLogic string
	freeze, unfreeze        bool
	asJSON                  bool
}

func (f *changeFlags) declare(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.step, "step", 0, "the step, from 1")
	cmd.Flags().StringVar(&f.inputLogic, "input-logic", "", "file with the new input body, - for standard input")
	cmd.Flags().StringVar(&f.outputLogic, "output-logic", "", "file with the new output body, - for standard input")
	cmd.Flags().BoolVar(&f.unfreeze, "unfreeze", false, "take back the mark that the step is frozen")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
}

// change reads the bodies that the flags name.
func (f *changeFlags) change(in io.Reader) (client.Change, error) {
	c := client.Change{Freeze: f.freeze, Unfreeze: f.unfreeze}
	if f.step < 1 {
		return c, cli.Usage("--step is missing: say which step, from 1")
	}
	if f.inputLogic == "-" && f.outputLogic == "-" {
		return c, cli.Usage("only one of --input-logic and --output-logic can be standard input")
	}
	var err error
	if c.InputLogic, err = readBody(in, f.inputLogic); err != nil {
		return c, err
	}
	if c.OutputLogic, err = readBody(in, f.outputLogic); err != nil {
		return c, err
	}
	if c.InputLogic == nil && c.OutputLogic == nil && !f.freeze && !f.unfreeze {
		return c, cli.Usage("nothing to change: give --input-logic or --output-logic")
	}
	return c, nil
}

func readBody(in io.Reader, path string) (*string, error) {
	if path == "" {
		return nil, nil
	}
	text, err := cli.ReadInput(in, "the body", path)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		return nil, cli.Usage("the body in %s is not UTF-8", path)
	}
	body := string(text)
	return &body, nil
}

func newCheck(a *app.App) *cobra.Command {
	var f changeFlags
	cmd := &cobra.Command{
		Use:   "check SCENARIO --step N",
		Short: "Try a change against the recording; writes nothing",
		Long: "The change must reproduce the recorded input of this and every later step, and must not be a copy of it.\n\n" +
			cli.ExitCodes,
		Example:           "  bir scenario check scn_0192… --step 2 --output-logic new.js\n  bir scenario check scn_0192… --step 2 --input-logic - < new.js",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return check(cmd.Context(), a, args[0], f)
		},
	}
	f.declare(cmd)
	return cmd
}

func check(ctx context.Context, a *app.App, id string, f changeFlags) error {
	svc, scn, change, err := open(ctx, a, id, f)
	if err != nil {
		return err
	}
	raw, err := svc.Check(ctx, scn.ID, f.step, change)
	if err != nil {
		return err
	}
	report, err := read[service.CheckReport](raw, "report")
	if err != nil {
		return err
	}
	if f.asJSON {
		err = cli.JSON(a.Out, report)
	} else {
		printReport(a.Out, report)
	}
	if err == nil && !report.OK {
		return cli.ErrSilent
	}
	return err
}

func open(ctx context.Context, a *app.App, id string, f changeFlags) (*client.Client, engine.Scenario, client.Change, error) {
	change, err := f.change(a.In)
	if err != nil {
		return nil, engine.Scenario{}, change, err
	}
	svc, err := a.Service(ctx)
	if err != nil {
		return nil, engine.Scenario{}, change, err
	}
	scn, err := fetch(ctx, svc, id)
	return svc, scn, change, err
}

func newEdit(a *app.App) *cobra.Command {
	var f changeFlags
	var e consentFlags
	cmd := &cobra.Command{
		Use:   "edit SCENARIO --step N",
		Short: "Check a change and save it",
		Long: "Saved only if it reproduces the recording and is no copy of it, or on purpose with --force --note, and then\n" +
			"marked as forced. --revision refuses the change if the scenario has moved on since it was read.\n\n" + cli.ExitCodes,
		Example: "  bir scenario edit scn_0192… --step 2 --output-logic new.js\n" +
			"  bir scenario edit scn_0192… --step 2 --output-logic new.js --revision 3\n" +
			"  bir scenario edit scn_0192… --step 2 --output-logic new.js --force --note \"the API changed\"",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("revision") {
				e.revision = -1
			}
			return edit(cmd.Context(), a, args[0], f, e)
		},
	}
	f.declare(cmd)
	e.declare(cmd)
	cmd.Flags().BoolVar(&f.freeze, "freeze", false, "put the recorded input, word for word, in place of the input body")
	cmd.Flags().IntVar(&e.revision, "revision", -1, "the chainRevision that the change was made from")
	return cmd
}

// consentFlags are what edit and undo have in common.
type consentFlags struct {
	force    bool
	note     string
	revision int
}

func (e *consentFlags) declare(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&e.force, "force", false, "save although the check has problems; wants --note")
	cmd.Flags().StringVar(&e.note, "note", "", "why, kept with the change")
}

func (e consentFlags) validate() error {
	if e.force && e.note == "" {
		return cli.Usage("--force wants --note \"why\"")
	}
	return nil
}

func edit(ctx context.Context, a *app.App, id string, f changeFlags, e consentFlags) error {
	if err := e.validate(); err != nil {
		return err
	}
	svc, scn, change, err := open(ctx, a, id, f)
	if err != nil {
		return err
	}
	change.Force, change.Note = e.force, e.note
	// Without --revision the guard is what was just read: no update is lost between.
	change.ExpectedRevision = &scn.ChainRevision
	if e.revision >= 0 {
		change.ExpectedRevision = &e.revision
	}
	raw, err := svc.Edit(ctx, scn.ID, f.step, change)
	if err != nil {
		return refused(a, err, f.asJSON)
	}
	_, err = saved(a, raw, f.asJSON)
	return err
}

// savedEdit is the service's answer to an edit or an undo.
type savedEdit struct {
	Step          engine.Step          `json:"step"`
	ChainRevision int                  `json:"chainRevision"`
	Edit          store.Edit           `json:"edit"`
	Report        *service.CheckReport `json:"report,omitempty"`
}

// saved prints the service's answer and returns it.
func saved(a *app.App, raw json.RawMessage, asJSON bool) (savedEdit, error) {
	answer, err := read[savedEdit](raw, "answer")
	if err != nil {
		return answer, err
	}
	if asJSON {
		return answer, cli.JSON(a.Out, answer)
	}
	verb := "saved"
	switch {
	case answer.Edit.Kind == store.EditUndo:
		verb = "taken back"
	case answer.Edit.Forced:
		verb = cli.Bad("saved as forced")
	}
	fmt.Fprintf(a.Out, "step %d %s as %s; the scenario is at revision %d\n", answer.Edit.StepIndex, verb, answer.Edit.ID, answer.ChainRevision)
	for _, p := range answer.Edit.Problems {
		fmt.Fprintf(a.Out, "   %s\n", p)
	}
	return answer, nil
}

// refused prints the report that a refusal carries.
func refused(a *app.App, err error, asJSON bool) error {
	var problem *client.Problem
	if !errors.As(err, &problem) {
		return err
	}
	var body struct {
		Report *service.CheckReport `json:"report"`
	}
	if json.Unmarshal(problem.Body, &body) != nil || body.Report == nil {
		return err
	}
	if asJSON {
		if _, writeErr := fmt.Fprintf(a.Out, "%s\n", problem.Body); writeErr != nil {
			return writeErr
		}
		return cli.ErrSilent
	}
	printReport(a.Out, *body.Report)
	return cli.Hint(cli.Failed("%s", problem.Title), "nothing was saved; `--force --note \"why\"` saves it all the same, marked as forced")
}

// printReport shows each step that does not pass, expected and computed values one
// above the other, and what speaks against the change as a whole.
func printReport(w io.Writer, r service.CheckReport) {
	switch {
	case r.NoChange:
		fmt.Fprintln(w, "the bodies are the stored ones already: nothing would change")
		return
	case r.OK:
		fmt.Fprintf(w, "%s: step %d and every later step reproduce the recording\n", cli.Good("ok"), r.StepIndex)
		return
	}
	whole := r.Problems
	for _, s := range r.Steps {
		if s.OK {
			continue
		}
		if len(whole) > 0 {
			whole = whole[1:] // the first ones are those of the steps, in order
		}
		fmt.Fprintf(w, "%s step %d (%s), %s body: %s\n", cli.Bad("×"), s.StepIndex, s.ToolName, s.Stage, s.Reason())
		if s.Computed != nil {
			fmt.Fprintf(w, "   expected %s\n   computed %s\n", s.Expected, s.Computed)
		}
	}
	for _, p := range whole {
		fmt.Fprintf(w, "%s %s\n", cli.Bad("×"), p)
	}
}
