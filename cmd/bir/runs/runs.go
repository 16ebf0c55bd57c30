// Package runs has the commands about recorded runs: bir runs list, show, prompt,
// export, import and rm.
package runs

import (
	"context"
	"fmt"
	"io"
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
	if asJSON {
		return cli.JSON(a.Out, map[string]any{"runs": found})
	}
	if len(found) == 0 {
		fmt.Fprintln(a.Out, "no runs yet: start a server with `bir-proxy -- COMMAND` and call one of its tools")
		return nil
	}
	cli.Table(a.Out, []string{"RUN", "STARTED", "TIER", "CALLS", "SERVERS", "SCENARIO", "PROMPT"}, rowsOf(found))
	return nil
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

func newShow(a *app.App) *cobra.Command {
	var asJSON, full bool
	cmd := &cobra.Command{
		Use:               "show RUN",
		Short:             "Show a run's prompt and calls",
		Example:           "  bir runs show run_0192…\n  bir runs show run_0192… --full\n  bir runs show run_0192… --json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			return show(cmd.Context(), a, args[0], asJSON, full)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&full, "full", false, "print inputs and outputs whole")
	return cmd
}

func show(ctx context.Context, a *app.App, id string, asJSON, full bool) error {
	svc, err := a.Service(ctx)
	if err != nil {
		return err
	}
	run, err := svc.Run(ctx, id)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.JSON(a.Out, run)
	}
	printRun(a.Out, run.Run)
	printCalls(a.Out, run.Steps, full)
	return nil
}

func printRun(w io.Writer, r recorder.Run) {
	cli.Title(w, "%s", r.ID)
	prompt := r.Input
	if prompt == "" {
		prompt = "(none seen; set it with `bir runs prompt " + r.ID + " \"…\"`)"
	}
	host := strings.TrimSpace(r.Metadata.Host.App + " " + r.Metadata.Host.Version)
	fmt.Fprintf(w, "prompt   %s\n", prompt)
	fmt.Fprintf(w, "state    %s, %s\n", r.State, r.Metadata.Tier)
	fmt.Fprintf(w, "host     %s\n", orDash(host))
	fmt.Fprintf(w, "started  %s\n", local(r.StartedAt))
	for name, s := range r.Metadata.Servers {
		fmt.Fprintf(w, "server   %s: %s\n", name, strings.Join(s.Command, " "))
	}
	if r.Metadata.Lossy {
		fmt.Fprintf(w, "lossy    %s\n", cli.Bad("some calls of this run were not recorded"))
	}
	if r.ScenarioID != "" {
		fmt.Fprintf(w, "scenario %s\n", r.ScenarioID)
	}
}

func printCalls(w io.Writer, steps []recorder.Step, full bool) {
	outputs := map[string]recorder.Step{}
	for _, s := range steps {
		if s.Type == recorder.StepResponse {
			outputs[s.CallID] = s
		}
	}
	shown := func(s string) string {
		if full {
			return s
		}
		return cli.Head(s, 160)
	}
	n := 0
	for _, s := range steps {
		switch s.Type {
		case recorder.StepSelected:
			n++
			out := outputs[s.CallID]
			fmt.Fprintf(w, "\n%d. %s  %s\n", n, s.ToolName, statusOf(out))
			fmt.Fprintf(w, "   input   %s\n", shown(s.ToolInput))
			if out.ToolError != "" {
				fmt.Fprintf(w, "   error   %s\n", shown(out.ToolError))
			}
			if out.ToolOutput != "" {
				fmt.Fprintf(w, "   output  %s\n", shown(out.ToolOutput))
			}
		case recorder.StepAnswer:
			fmt.Fprintf(w, "\nanswer\n%s\n", cli.Indent(s.Answer, "   "))
		}
	}
}

func statusOf(out recorder.Step) string {
	switch out.Status {
	case "":
		return cli.Bad("no answer")
	case recorder.StatusOK:
		return fmt.Sprintf("%s %.1f ms", cli.Good("ok"), out.DurationMS)
	}
	return fmt.Sprintf("%s %.1f ms", cli.Bad(string(out.Status)), out.DurationMS)
}

func local(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
