package runs

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/recorder"
)

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
	if r.Metadata.SessionID != "" {
		fmt.Fprintf(w, "session  %s\n", r.Metadata.SessionID)
	}
	fmt.Fprintf(w, "started  %s\n", local(r.StartedAt))
	for _, name := range slices.Sorted(maps.Keys(r.Metadata.Servers)) {
		fmt.Fprintf(w, "server   %s: %s\n", name, reached(r.Metadata.Servers[name]))
	}
	for _, model := range slices.Sorted(maps.Keys(r.Usage)) {
		fmt.Fprintf(w, "usage    %s: %s\n", model, tokens(r.Usage[model]))
	}
	if r.Metadata.Lossy {
		fmt.Fprintf(w, "lossy    %s\n", cli.Bad("some calls of this run were not recorded"))
	}
	if r.ScenarioID != "" {
		fmt.Fprintf(w, "scenario %s\n", r.ScenarioID)
	}
}

// reached says how a server was reached.
func reached(s recorder.Server) string {
	if s.URL != "" {
		return s.URL
	}
	return strings.Join(s.Command, " ")
}

func tokens(u recorder.Usage) string {
	return fmt.Sprintf("%s tokens in, %s out; cache: %s written, %s read",
		grouped(u.Input), grouped(u.Output), grouped(u.CacheCreation), grouped(u.CacheRead))
}

// grouped writes a count as people read it: 1,234,567.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func printCalls(w io.Writer, steps []recorder.Step, full bool) {
	responses := map[string]recorder.Step{}
	for _, s := range steps {
		if s.Type == recorder.StepResponse {
			responses[s.CallID] = s
		}
	}
	n := 0
	for _, s := range steps {
		switch s.Type {
		case recorder.StepSelected:
			n++
			response := responses[s.CallID]
			fmt.Fprintf(w, "\n%d. %s  %s\n", n, s.ToolName, statusOf(response))
			printCall(w, s, response, full)
		case recorder.StepAnswer:
			fmt.Fprintf(w, "\nanswer\n%s\n", cli.Indent(s.Answer, "   "))
		}
	}
}

// printCall prints what is known of a call, a line each.
func printCall(w io.Writer, selected, response recorder.Step, full bool) {
	line := func(name, value string) {
		if !full {
			value = cli.Head(value, 160)
		}
		switch {
		case value == "":
		case strings.Contains(value, "\n"):
			fmt.Fprintf(w, "   %s\n%s\n", name, cli.Indent(value, "      "))
		default:
			fmt.Fprintf(w, "   %-7s %s\n", name, value)
		}
	}
	if selected.AgentID != "" {
		line("by", strings.TrimSpace("subagent "+selected.AgentType)+" ("+selected.AgentID+")")
	}
	line("why", selected.Context)
	if selected.AskedInput == "" {
		line("input", selected.ToolInput)
	} else { // a hook or a person changed it before it ran
		line("asked", selected.AskedInput)
		line("ran", selected.ToolInput)
	}
	if response.Attempts > 1 {
		line("sent", fmt.Sprintf("%d times by the host, under one id", response.Attempts))
	}
	line("error", response.ToolError)
	line("output", response.ToolOutput)
}

func statusOf(response recorder.Step) string {
	status := cli.Bad(string(response.Status))
	switch response.Status {
	case "":
		return cli.Bad("no answer")
	case recorder.StatusOK:
		status = cli.Good("ok")
	}
	if response.DurationMS == 0 { // it never ran, or nobody measured it
		return status
	}
	return fmt.Sprintf("%s %.1f ms", status, response.DurationMS)
}
