// Package offswitch has the commands that take bir out of the way and back: bir off
// and bir on.
package offswitch

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/control/off"
)

// NewOff declares `bir off`.
func NewOff(a *app.App) *cobra.Command {
	return declare(a, true, "off", "Relay without recording, everywhere or --here",
		"A proxy that starts while bir is off runs the real server in its place; one that runs stops recording within a\n"+
			"second and keeps relaying.\n\n"+cli.ExitCodes)
}

// NewOn declares `bir on`.
func NewOn(a *app.App) *cobra.Command {
	return declare(a, false, "on", "Record again, everywhere or --here",
		"Without --here it also takes back every `bir off --here`.\n\n"+cli.ExitCodes)
}

func declare(a *app.App, turnedOff bool, verb, short, long string) *cobra.Command {
	var here bool
	cmd := &cobra.Command{
		Use:     verb,
		Short:   short,
		Long:    long,
		Example: "  bir " + verb + "\n  bir " + verb + " --here",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return set(a, turnedOff, here) },
	}
	cmd.Flags().BoolVar(&here, "here", false, "only in this folder and below it")
	return cmd
}

func set(a *app.App, turnedOff, here bool) error {
	dir := ""
	if here {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return err
		}
	}
	state, err := off.Set(a.Env.Home, dir, turnedOff)
	if err != nil {
		return err
	}
	where := "everywhere"
	if here {
		where = "in " + dir
	}
	switch {
	case turnedOff:
		fmt.Fprintf(a.Out, "bir is off %s\n", where)
	case here && state.Off(dir):
		return cli.Hint(cli.Failed("bir is still off in %s, by a switch above it", dir), "`bir on` turns it on everywhere")
	default:
		fmt.Fprintf(a.Out, "bir is on %s\n", where)
	}
	return nil
}
