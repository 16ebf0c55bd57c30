package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/conformance/demo"
	"github.com/bir-run/bir/conformance/demo/fileserver"
)

func newDemo(a *app.App) *cobra.Command {
	var dir, npm string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Walk the main job end to end on generated data, with the real commands",
		Long: "Records a job through bir-proxy, calculates its scenario, edits it, replays it on other data and lets the\n" +
			"guards stop what they should. Its data is kept apart from yours and emptied at the next start.",
		Example: "  bir demo\n  bir demo --dir /tmp/fleet-demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			where, err := demoDir(dir)
			if err != nil {
				return err
			}
			return demo.Run(cmd.Context(), demo.Config{Dir: where, NPM: npm, Binary: a.Binary, Env: a.Env.Vars, Out: a.Out})
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder of the demonstration's data (default: bir-demo in your cache folder)")
	cmd.Flags().StringVar(&npm, "npm", "", "folder whose node_modules has the npm filesystem server")
	cmd.AddCommand(&cobra.Command{
		Use:    "files DIR",
		Short:  "Serve DIR as a small MCP file server, for machines without npm",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return fileserver.Run(cmd.Context(), args[0])
		},
	})
	return cmd
}

func demoDir(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "bir-demo"), nil
}
