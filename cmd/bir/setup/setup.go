// Package setup has bir setup: everything that recording a project takes, with one
// question at most.
package setup

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bir-run/bir/cmd/bir/install"
	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/control/hosts/claude"
)

// New declares `bir setup`.
func New(a *app.App) *cobra.Command {
	o := install.Options{Client: claude.Name}
	var yes bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Set up recording in this project: service, guards, control server, install",
		Long: "Starts the service, compiles the guards, starts the control server and does what `bir install` does. On a terminal it\n" +
			"shows what will be changed and asks once.\n\n" + cli.ExitCodes,
		Example: "  bir setup\n  bir setup --yes",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), a, o, yes) },
	}
	f := cmd.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.StringVar(&o.Scope, "scope", "local", "whose settings get the hooks: local, project or user")
	f.StringVar(&o.Hooks, "hooks", "command", "how the client calls bir: command or http")
	f.BoolVar(&o.JSON, "json", false, "print JSON, and do not ask")
	return cmd
}

func run(ctx context.Context, a *app.App, o install.Options, yes bool) error {
	if !yes && !o.JSON && onTerminal(a.In) {
		agreed, err := ask(ctx, a, o)
		if err != nil || !agreed {
			return err
		}
	}
	if _, err := a.Service(ctx); err != nil {
		return err
	}
	host, err := a.Guards(ctx) // the control server finds them compiled
	if err != nil {
		return cli.Hint(err, "`bir guard list` shows them")
	}
	if err := host.Close(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	report, err := install.Run(ctx, a, o)
	if err != nil {
		return err
	}
	return report.Print(a.Out, o.JSON)
}

// ask shows what is to be changed. Where that is nothing there is nothing to ask.
func ask(ctx context.Context, a *app.App, o install.Options) (bool, error) {
	o.Dry = true
	report, err := install.Run(ctx, a, o)
	if err != nil || len(report.Files) == 0 {
		return err == nil, err
	}
	if err := report.Print(a.Out, false); err != nil {
		return false, err
	}
	return confirm(a.In, a.Out)
}

// confirm asks once. Whatever is no yes is a no.
func confirm(in io.Reader, out io.Writer) (bool, error) {
	fmt.Fprint(out, "go on? [Y/n] ")
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		return false, cli.Failed("nothing was changed: no answer")
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "", "y", "yes":
		return true, nil
	}
	fmt.Fprintln(out, "nothing was changed")
	return false, nil
}

func onTerminal(in io.Reader) bool {
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
