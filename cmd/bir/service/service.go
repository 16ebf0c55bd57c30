// Package service has the commands that run and stop the embedded service: bir
// serve and bir down.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/recorder/launch"
	"github.com/bir-run/bir/recorder/service"
	"github.com/bir-run/bir/recorder/store"
	"github.com/bir-run/bir/recorder/store/sqlite"
)

// NewServe declares `bir serve`.
func NewServe(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run the embedded service in this terminal",
		Long: "Stores runs and scenarios in BIR_HOME/bir.db and answers on loopback. Proxies and commands start it by\n" +
			"themselves when they need it, one process per user; this is the same process in the foreground.\n\n" + cli.ExitCodes,
		Example: "  bir serve",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), a)
		},
	}
}

func serve(ctx context.Context, a *app.App) error {
	pool, err := a.Pool()
	if err != nil {
		return err
	}
	defer pool.Close()
	err = service.Run(ctx, service.Config{
		Home:    a.Env.Home,
		Version: a.Version,
		OpenStore: func(ctx context.Context) (store.Store, error) {
			return sqlite.Open(ctx, filepath.Join(a.Env.Home, "bir.db"))
		},
		Evaluator: pool,
		Logger:    slog.New(slog.NewTextHandler(a.Err, nil)),
	})
	if errors.Is(err, service.ErrAlreadyRunning) {
		return cli.Hint(err, "`bir down --service` stops it")
	}
	return err
}

// NewDown declares `bir down`.
func NewDown(a *app.App) *cobra.Command {
	var stopService bool
	cmd := &cobra.Command{
		Use:     "down",
		Short:   "Stop the embedded service",
		Example: "  bir down --service",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !stopService {
				return cli.Hint(cli.Usage("say what to stop"), "`bir down --service` stops the embedded service")
			}
			return down(cmd.Context(), a)
		},
	}
	cmd.Flags().BoolVar(&stopService, "service", false, "stop the embedded service; it starts again when it is needed")
	return cmd
}

func down(ctx context.Context, a *app.App) error {
	stopped, err := launch.Stop(ctx, a.Env.Home)
	switch {
	case err != nil:
		return fmt.Errorf("stop the service: %w", err)
	case stopped:
		fmt.Fprintln(a.Out, "the service is stopped")
	default:
		fmt.Fprintln(a.Out, "no service is running")
	}
	return nil
}
