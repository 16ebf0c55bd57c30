// Package status has bir status: what bir is doing in the project of this folder. It
// asks and never changes or starts anything.
package status

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
)

// New declares `bir status`.
func New(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say what bir is doing in this project",
		Long: "Lists the servers that Claude Code would start here and whether their proxies report, the hook events that came,\n" +
			"and the runs under way. Nothing is started. `bir doctor` also says what mends what.\n\n" + cli.ExitCodes,
		Example: "  bir status\n  bir status --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := Look(cmd.Context(), a)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.JSON(a.Out, s)
			}
			s.print(a.Out, time.Now())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (s State) print(w io.Writer, now time.Time) {
	fmt.Fprintf(w, "project         %s\n", s.Root)
	fmt.Fprintf(w, "hooks           %s\n", s.hooks())
	fmt.Fprintf(w, "control server  %s\n", s.Control.text(now))
	for _, other := range s.Others {
		fmt.Fprintf(w, "%-15s %s in %s\n", other.Client, strings.Join(other.Servers, ", "), other.Path)
	}
	if len(s.Servers) > 0 {
		fmt.Fprintln(w)
		var rows [][]string
		for _, server := range s.Servers {
			rows = append(rows, []string{server.Name, server.Scope, server.Proxy, strconv.Itoa(server.Calls), server.Note})
		}
		cli.Table(w, []string{"SERVER", "SCOPE", "PROXY", "CALLS", ""}, rows)
	}
	if s.Control.Health != nil {
		s.printRuns(w, now)
		s.printEvents(w, now)
	}
}

func (s State) hooks() string {
	switch {
	case s.Hooks.Off != "":
		return "off: " + s.Hooks.Off
	case len(s.Hooks.Files) == 0:
		return "none (bir install registers them)"
	case len(s.Hooks.Missing) > 0:
		return fmt.Sprintf("%s, in %s; without %s", s.Hooks.Kind, strings.Join(s.Hooks.Files, ", "), strings.Join(s.Hooks.Missing, ", "))
	}
	return fmt.Sprintf("%s, in %s", s.Hooks.Kind, strings.Join(s.Hooks.Files, ", "))
}

func (c Control) text(now time.Time) string {
	switch {
	case c.Running:
		return fmt.Sprintf("process %d, version %s, for %s, %d steps, guards %s",
			c.Health.PID, c.Health.Version, age(now, c.Health.StartedAt), c.Health.Steps, c.Health.Guards)
	case c.Stopped:
		return "stopped with bir down (bir up starts it)"
	case c.Problem != "":
		return "does not answer: " + c.Problem
	}
	return "not running (a session starts it)"
}

func (s State) printRuns(w io.Writer, now time.Time) {
	if len(s.Control.Health.Runs) == 0 {
		return
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, r := range s.Control.Health.Runs {
		lossy := ""
		if r.Lossy {
			lossy = "lossy"
		}
		rows = append(rows, []string{r.ID, age(now, r.StartedAt), strconv.Itoa(r.Steps), strconv.Itoa(r.Pending), lossy, cli.Head(r.Prompt, 50)})
	}
	cli.Table(w, []string{"RUN", "AGE", "STEPS", "PENDING", "", "PROMPT"}, rows)
}

func (s State) printEvents(w io.Writer, now time.Time) {
	if len(s.Control.Health.Events) == 0 {
		return
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, e := range s.Control.Health.Events {
		missed := ""
		if e.Missed > 0 {
			missed = strconv.Itoa(e.Missed) + " late"
		}
		rows = append(rows, []string{e.Event, age(now, e.Last) + " ago", strconv.Itoa(e.Count), missed})
	}
	cli.Table(w, []string{"HOOK EVENT", "LAST", "COUNT", ""}, rows)
}

// age is a time span in its largest unit: nobody needs more of it.
func age(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case d < time.Second:
		return "0s"
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	}
	return strconv.Itoa(int(d.Hours()/24)) + "d"
}
