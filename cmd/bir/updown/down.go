package updown

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/control/daemon"
	"github.com/bir-run/bir/control/discover"
	"github.com/bir-run/bir/recorder/launch"
)

// NewDown declares `bir down`.
func NewDown(a *app.App) *cobra.Command {
	var o downOptions
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop this project's control server, or the embedded service",
		Long: "The control server stays down until `bir up`; what is in its open runs is kept, and they go on then. Proxies\n" +
			"relay and record without it.\n\n" +
			"With --service it stops the embedded service instead, which starts again when something needs it.\n\n" + cli.ExitCodes,
		Example: "  bir down\n  bir down --all\n  bir down --service",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return down(cmd.Context(), a, o) },
	}
	cmd.Flags().BoolVar(&o.service, "service", false, "stop the embedded service; it starts again when it is needed")
	cmd.Flags().BoolVar(&o.all, "all", false, "stop the control servers of all projects")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("service", "all")
	return cmd
}

type downOptions struct{ service, all, asJSON bool }

// Down is one line of `bir down --json`.
type Down struct {
	Root    string `json:"root,omitempty"` // empty: the embedded service
	Stopped bool   `json:"stopped"`        // false: it did not run
}

func down(ctx context.Context, a *app.App, o downOptions) error {
	results, err := stop(ctx, a, o)
	if o.asJSON {
		return errors.Join(cli.JSON(a.Out, results), err)
	}
	for _, r := range results {
		what := "the control server of " + r.Root
		if r.Root == "" {
			what = "the service"
		}
		if r.Stopped {
			fmt.Fprintf(a.Out, "%s is stopped\n", what)
		} else if r.Root == "" {
			fmt.Fprintln(a.Out, "no service is running")
		} else {
			fmt.Fprintf(a.Out, "no control server of %s is running\n", r.Root)
		}
	}
	if len(results) == 0 && err == nil {
		fmt.Fprintln(a.Out, "no control server is running")
	}
	return err
}

func stop(ctx context.Context, a *app.App, o downOptions) ([]Down, error) {
	if o.service {
		stopped, err := launch.Stop(ctx, a.Env.Home)
		if err != nil {
			return nil, fmt.Errorf("stop the service: %w", err)
		}
		return []Down{{Stopped: stopped}}, nil
	}
	roots, err := discover.Roots(a.Env.Home)
	if !o.all {
		var root string
		root, err = project()
		roots = []string{root}
	}
	results := []Down{}
	for _, root := range roots {
		stopped, failed := daemon.Stop(ctx, a.Env.Home, root, true)
		if failed != nil {
			err = errors.Join(err, hangs(fmt.Errorf("stop the control server of %s: %w", root, failed)))
			continue
		}
		results = append(results, Down{Root: root, Stopped: stopped})
	}
	return results, err
}
