// Package updown has the commands that start and stop what runs in the background:
// bir up and bir down.
package updown

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/daemon"
	"github.com/bir-run/bir/sandbox"
)

// NewUp declares `bir up`.
func NewUp(a *app.App) *cobra.Command {
	var restart, asJSON bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start this project's control server",
		Long: "Starts the control server of the project that this folder is in, and compiles ahead what a replay needs: the\n" +
			"guards and the sandbox's level wasm. A server that runs stays, unless it is older than this bir, or with\n" +
			"--restart; its open runs go on in the new one. Sessions start it by themselves, but not after `bir down`.\n\n" + cli.ExitCodes,
		Example: "  bir up\n  bir up --restart\n  bir up --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return up(cmd.Context(), a, restart, asJSON) },
	}
	cmd.Flags().BoolVar(&restart, "restart", false, "replace the one that runs, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// Up is what `bir up --json` prints.
type Up struct {
	Root    string         `json:"root"`
	Outcome daemon.Outcome `json:"outcome"`
	URL     string         `json:"url"`
	Socket  string         `json:"socket,omitempty"`
	PID     int            `json:"pid"`
	Version string         `json:"version"`
}

func up(ctx context.Context, a *app.App, restart, asJSON bool) error {
	// Recording needs neither guards nor level wasm, so what is wrong with them is said
	// and no more.
	cli.Report(a.Err, compileGuards(ctx, a))
	result, err := Start(ctx, a, restart)
	if err != nil {
		return err
	}
	if asJSON {
		err = cli.JSON(a.Out, result)
	} else {
		result.print(a.Out)
	}
	if a.Env.Sandbox != string(sandbox.LevelProcess) {
		cli.Report(a.Err, a.PrepareSandbox(ctx))
	}
	return err
}

func (u Up) print(w io.Writer) {
	verb := map[daemon.Outcome]string{daemon.Running: "already runs", daemon.Started: "is started", daemon.Replaced: "is replaced"}
	fmt.Fprintf(w, "the control server of %s %s: %s, process %d, version %s\n", u.Root, verb[u.Outcome], u.URL, u.PID, u.Version)
}

// Start starts the control server of the project that the working folder is in, as
// its user's wish.
func Start(ctx context.Context, a *app.App, restart bool) (Up, error) {
	root, err := project()
	if err != nil {
		return Up{}, err
	}
	binary, err := a.Binary("bir-control")
	if err != nil {
		return Up{}, err
	}
	file, outcome, err := daemon.Starter{
		Home: a.Env.Home, Root: root, Version: a.Version, Command: []string{binary}, Environ: a.Env.Vars,
		Revive: true, Replace: restart, Logger: a.Log,
	}.Ensure(ctx)
	if err != nil {
		return Up{}, cli.Hint(err, "`bir doctor` looks at each part; one that hangs ends with kill and loses nothing")
	}
	return Up{Root: root, Outcome: outcome, URL: file.URL, Socket: file.Socket, PID: file.PID, Version: file.Version}, nil
}

// compileGuards shows the seconds that the control server would need in silence.
func compileGuards(ctx context.Context, a *app.App) error {
	host, err := a.Guards(ctx)
	if err != nil {
		return cli.Hint(err, "`bir guard list` shows them")
	}
	return host.Close(context.WithoutCancel(ctx))
}

func project() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working folder: %w", err)
	}
	return locate.Root(dir), nil
}

// hangs says what to do about a server that does not answer.
func hangs(err error) error {
	if errors.Is(err, daemon.ErrRunning) {
		return cli.Hint(err, "one that hangs ends with kill and loses nothing")
	}
	return err
}
