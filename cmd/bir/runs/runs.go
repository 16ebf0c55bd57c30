// Package runs has the commands about recorded runs: bir runs list, show, prompt,
// export, import and rm.
package runs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/recorder"
)

// New declares `bir runs`.
func New(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List, read, export and import recorded runs",
		Long:  "A run is one piece of work as it was recorded: a prompt, where one was seen, and the tool calls that served it.\n\n" + cli.ExitCodes,
	}
	cmd.AddCommand(newList(a), newShow(a), newPrompt(a), newExport(a), newImport(a), newRemove(a))
	return cmd
}

func newList(a *app.App) *cobra.Command {
	var asJSON bool
	var query string
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List recorded runs, newest first",
		Example: "  bir runs list\n  bir runs list --query riskiest --limit 5\n  bir runs list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.Context(), a, query, limit, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&query, "query", "", "only runs whose prompt or tools contain this")
	cmd.Flags().IntVar(&limit, "limit", 20, "how many at the most")
	return cmd
}

func list(ctx context.Context, a *app.App, query string, limit int, asJSON bool) error {
	svc, err := a.Service(ctx)
	if err != nil {
		return err
	}
	found := []recorder.Run{}
	for cursor := ""; len(found) < limit; {
		page, next, err := svc.Runs(ctx, query, cursor, limit-len(found))
		if err != nil {
			return err
		}
		found = append(found, page...)
		if cursor = next; cursor == "" {
			break
		}
	}
	return cli.List{
		JSON:   map[string]any{"runs": found},
		None:   "no runs yet: start a server with `bir-proxy -- COMMAND` and call one of its tools",
		Header: []string{"RUN", "STARTED", "TIER", "CALLS", "SERVERS", "SCENARIO", "PROMPT"},
		Rows:   rowsOf(found),
	}.Print(a.Out, asJSON)
}

func rowsOf(found []recorder.Run) [][]string {
	var rows [][]string
	for _, r := range found {
		rows = append(rows, []string{
			r.ID, local(r.StartedAt), string(r.Metadata.Tier), fmt.Sprint(r.CallCount),
			strings.Join(r.Metadata.WrappedServers, ","), orDash(r.ScenarioID), orDash(cli.Head(r.Input, 60)),
		})
	}
	return rows
}

func local(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return cli.Local(t)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
