package main

import (
	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/bir/doctor"
	"github.com/bir-run/bir/cmd/bir/guard"
	"github.com/bir-run/bir/cmd/bir/install"
	"github.com/bir-run/bir/cmd/bir/logic"
	"github.com/bir-run/bir/cmd/bir/offswitch"
	"github.com/bir-run/bir/cmd/bir/replay"
	"github.com/bir-run/bir/cmd/bir/runs"
	"github.com/bir-run/bir/cmd/bir/scenario"
	"github.com/bir-run/bir/cmd/bir/service"
	"github.com/bir-run/bir/cmd/bir/setup"
	"github.com/bir-run/bir/cmd/bir/status"
	"github.com/bir-run/bir/cmd/bir/updown"
	"github.com/bir-run/bir/cmd/bir/wrap"
	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/cmd/internal/env"
)

func newRoot(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:           "bir",
		Short:         "Record a job once, replay it for nothing",
		Long:          "bir records what an agent's tools did, calculates a scenario from it, and replays it on other data.\n\n" + cli.ExitCodes,
		Version:       a.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Hint(cli.Usage("no command %q", args[0]), "`bir --help` lists the commands")
			}
			return cmd.Help()
		},
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Hint(cli.Usage("%w", err), "`%s --help` shows the flags and an example", cmd.CommandPath())
	})
	root.AddCommand(setup.New(a), install.New(a), install.NewUninstall(a), status.New(a), runs.New(a), scenario.New(a), logic.New(a), replay.New(a), guard.New(a),
		offswitch.NewOff(a), offswitch.NewOn(a), service.NewServe(a), updown.NewUp(a), updown.NewDown(a), wrap.New(a), doctor.New(a), newEnv(a), newDemo(a))
	usageErrors(root)
	return root
}

// usageErrors makes a wrong number of arguments a usage error, everywhere.
func usageErrors(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return cli.Hint(cli.Usage("%w", err), "`%s --help` shows the arguments and an example", cmd.CommandPath())
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		usageErrors(sub)
	}
}

func newEnv(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "env",
		Short:   "Print every environment variable with its value, default and meaning",
		Example: "  bir env\n  bir env --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			vars := env.Describe(a.Env.Vars)
			if asJSON {
				return cli.JSON(a.Out, vars)
			}
			var rows [][]string
			for _, v := range vars {
				rows = append(rows, []string{v.Name, v.Value, v.Default, v.Meaning})
			}
			cli.Table(a.Out, []string{"NAME", "VALUE", "DEFAULT", "MEANING"}, rows)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
