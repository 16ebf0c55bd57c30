// Package doctor has the command that proves instead of believing: bir doctor. It
// uses each part once and says of every finding what would mend it.
package doctor

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
)

// State sorts findings. Only a bad one fails the command.
type State string

// The states of a finding.
const (
	Good State = "ok"
	Note State = "note" // works, and somebody should know
	Bad  State = "bad"
)

// Finding is what one check found.
type Finding struct {
	Check  string `json:"check"`
	State  State  `json:"state"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what mends it
}

// New declares `bir doctor`.
func New(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Use each part once and say what is wrong, with what mends it",
		Long: "Starts the service, evaluates a body, loads every guard and redacts a sample, and looks at the folder, the switch\n" +
			"and the spool. The exit code is 1 when something is bad.\n\n" + cli.ExitCodes,
		Example: "  bir doctor\n  bir doctor --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), a, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func run(ctx context.Context, a *app.App, asJSON bool) error {
	var found []Finding
	for _, check := range []func(context.Context, *app.App) []Finding{
		home, binaries, offSwitch, service, spooled, evaluator, guards, redaction, disk, client,
	} {
		found = append(found, check(ctx, a)...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	var err error
	if asJSON {
		err = cli.JSON(a.Out, map[string]any{"version": a.Version, "findings": found})
	} else {
		print(a.Out, found)
	}
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.State == Bad {
			return cli.ErrSilent
		}
	}
	return nil
}

func print(w io.Writer, found []Finding) {
	for _, f := range found {
		mark := cli.Good("ok")
		switch f.State {
		case Bad:
			mark = cli.Bad("bad")
		case Note:
			mark = "note"
		}
		fmt.Fprintf(w, "%-4s  %-10s %s\n", mark, f.Check, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(w, "      %-10s → %s\n", "", f.Fix)
		}
	}
}

func good(check, format string, args ...any) Finding {
	return Finding{Check: check, State: Good, Detail: fmt.Sprintf(format, args...)}
}

func bad(check string, err error, fix string) Finding {
	return Finding{Check: check, State: Bad, Detail: err.Error(), Fix: fix}
}
