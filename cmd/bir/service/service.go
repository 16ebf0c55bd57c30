// Package service has the command that runs the embedded service: bir serve.
package service

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
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
