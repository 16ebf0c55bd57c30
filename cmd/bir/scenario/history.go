package scenario

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/recorder/client"
	"github.com/bir-run/bir/recorder/service"
	"github.com/bir-run/bir/recorder/store"
)

func newList(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List scenarios, newest change first",
		Example: "  bir scenario list\n  bir scenario list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.Context(), a, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func list(ctx context.Context, a *app.App, asJSON bool) error {
	svc, err := a.Service(ctx)
	if err != nil {
		return err
	}
	raw, err := svc.Scenarios(ctx)
	if err != nil {
		return err
	}
	found, err := read[struct {
		Scenarios []service.Summary `json:"scenarios"`
	}](raw, "list")
	if err != nil {
		return err
	}
	var rows [][]string
	for _, s := range found.Scenarios {
		rows = append(rows, []string{s.ID, string(s.State), fmt.Sprint(s.StepCount), string(s.Provenance),
			fmt.Sprint(s.ChainRevision), s.RunID, cli.Head(s.Intent, 60)})
	}
	return cli.List{
		JSON: found, Rows: rows,
		None:   "no scenarios yet: `bir scenario calc RUN` makes one of a recorded run",
		Header: []string{"SCENARIO", "STATE", "STEPS", "BODIES", "REVISION", "RUN", "INTENT"},
	}.Print(a.Out, asJSON)
}

func newEdits(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "edits SCENARIO",
		Short:             "Show the history of a scenario's edits, newest first",
		Example:           "  bir scenario edits scn_0192…\n  bir scenario edits scn_0192… --json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return edits(cmd.Context(), a, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func edits(ctx context.Context, a *app.App, id string, asJSON bool) error {
	svc, err := a.Service(ctx)
	if err != nil {
		return err
	}
	scn, err := fetch(ctx, svc, id)
	if err != nil {
		return err
	}
	raw, err := svc.Edits(ctx, scn.ID)
	if err != nil {
		return err
	}
	found, err := read[struct {
		Edits []store.Edit `json:"edits"`
	}](raw, "history")
	if err != nil {
		return err
	}
	var rows [][]string
	for _, e := range found.Edits {
		rows = append(rows, []string{e.ID, fmt.Sprint(e.StepIndex), describe(e), fmt.Sprintf("%d → %d", e.RevisionBefore, e.RevisionAfter),
			cli.Local(e.CreatedAt), cli.Head(e.Note, 60)})
	}
	return cli.List{
		JSON: found, Rows: rows,
		None:   scn.ID + " was never edited",
		Header: []string{"EDIT", "STEP", "KIND", "REVISION", "WHEN", "NOTE"},
	}.Print(a.Out, asJSON)
}

func describe(e store.Edit) string {
	switch {
	case e.Kind == store.EditUndo:
		return "undo of " + e.Reverts
	case e.RevertedBy != "":
		return "edit, undone"
	case e.Forced:
		return "edit, forced"
	}
	return "edit"
}

func newUndo(a *app.App) *cobra.Command {
	var asJSON bool
	var which string
	var step int
	var e consentFlags
	cmd := &cobra.Command{
		Use:   "undo SCENARIO",
		Short: "Take back the newest edit; again, the one before it",
		Long: "Without --edit it takes back the newest edit that can be undone, with --step the newest of that step.\n" +
			"An undo is an edit of its own: undo it by its id to have the change again.\n\n" + cli.ExitCodes,
		Example:           "  bir scenario undo scn_0192…\n  bir scenario undo scn_0192… --step 2\n  bir scenario undo scn_0192… --edit sedit_0192…",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return undo(cmd.Context(), a, args[0], client.RevertTarget{Edit: which, Step: step}, e, asJSON)
		},
	}
	e.declare(cmd)
	cmd.Flags().StringVar(&which, "edit", "", "the edit to take back, sedit_…")
	cmd.Flags().IntVar(&step, "step", 0, "take back the newest edit of this step")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("edit", "step")
	return cmd
}

func undo(ctx context.Context, a *app.App, id string, target client.RevertTarget, e consentFlags, asJSON bool) error {
	if err := e.validate(); err != nil {
		return err
	}
	svc, err := a.Service(ctx)
	if err != nil {
		return err
	}
	scn, err := fetch(ctx, svc, id)
	if err != nil {
		return err
	}
	raw, err := svc.Revert(ctx, scn.ID, target, client.Consent{Force: e.force, Note: e.note, ExpectedRevision: &scn.ChainRevision})
	if err != nil {
		return refused(a, err, asJSON)
	}
	answer, err := saved(a, raw, asJSON)
	if err != nil || asJSON {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "to have it again: bir scenario undo %s --edit %s\n", scn.ID, answer.Edit.ID)
	return err
}
