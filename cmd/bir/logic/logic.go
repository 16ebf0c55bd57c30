// Package logic has the commands for bodies: bir logic test, run, lint and types.
package logic

import (
	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
)

// New declares `bir logic`.
func New(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logic",
		Short: "Test, try and check bodies in the sandbox",
		Long:  "A body is the inside of a JavaScript function. It runs in a process without files, network or time.\n\n" + cli.ExitCodes,
	}
	cmd.AddCommand(newTest(a), newRun(a), newLint(a), newTypes(a))
	return cmd
}
