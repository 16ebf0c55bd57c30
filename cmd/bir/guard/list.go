package guard

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	host "github.com/bir-run/bir/sandbox/guard"
)

func newList(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the guards in the order of asking, with what became of their calls",
		Long: "A guard in any state but ready denies everything, and the list says why and what to do. Calls and denials are\n" +
			"those of all processes so far; a process that still runs adds its own when it ends.\n\n" + cli.ExitCodes,
		Example: "  bir guard list\n  bir guard list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.Context(), a, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func list(ctx context.Context, a *app.App, asJSON bool) error {
	guards, err := a.Guards(ctx)
	if err != nil {
		return err
	}
	defer guards.Close(context.WithoutCancel(ctx))
	modules := guards.Modules()
	found := cli.List{
		JSON:   map[string]any{"guards": modules},
		Header: []string{"GUARD", "SCOPE", "STATE", "FORM", "ASKED", "CALLS", "DENIED", "HALF WITHIN", "SIZE", "SHA-256", "FILE"},
	}
	for _, m := range modules {
		found.Rows = append(found.Rows, row(m))
	}
	if err := found.Print(a.Out, asJSON); err != nil || asJSON {
		return err
	}
	for _, m := range modules {
		if m.Problem != "" {
			fmt.Fprintf(a.Out, "%s %s: %s\n", cli.Bad("×"), m.Name, m.Problem)
		}
	}
	return nil
}

func row(m host.Module) []string {
	within := ""
	if m.P50MS > 0 {
		within = brief(time.Duration(m.P50MS * float64(time.Millisecond)))
	}
	return []string{m.Name, string(m.Scope), string(m.State), string(m.Form), joined(m.Kinds),
		strconv.FormatInt(m.Calls, 10), strconv.FormatInt(m.Denials, 10), within, size(m.Size), short(m.SHA256), m.Path}
}

func size(bytes int64) string {
	if bytes < 10<<10 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	return strconv.FormatInt(bytes>>10, 10) + " KiB"
}

func short(sum string) string { return sum[:min(12, len(sum))] }
