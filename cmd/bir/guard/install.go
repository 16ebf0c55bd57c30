package guard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2/maybe"
	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	host "github.com/bir-run/bir/sandbox/guard"
)

func newAdd(a *app.App) *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use:     "add FILE",
		Short:   "Check a module, put it into the folder with its settings, and compile it",
		Example: "  bir guard add my-rule.wasm\n  bir guard add my-rule.wasm --project",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return add(cmd.Context(), a, args[0], project)
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "for this project only, in .bir/guards")
	return cmd
}

func add(ctx context.Context, a *app.App, file string, project bool) error {
	cfg, err := a.GuardConfig()
	if err != nil {
		return err
	}
	files, err := readModule(file)
	if err != nil {
		return err
	}
	dir := cfg.HomeDir
	if project {
		dir = cfg.ProjectDir
	}
	for name := range files {
		target := filepath.Join(dir, name)
		if _, err := os.Lstat(target); err == nil {
			return cli.Hint(fmt.Errorf("%s is there already", target), "`bir guard remove %s` first", nameOf(file))
		}
	}
	if err := tryToLoad(ctx, a, file, files); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// The settings first: a module must not count for a moment without them.
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := maybe.WriteFile(filepath.Join(dir, name), files[name], 0o600); err != nil {
			return fmt.Errorf("install %s: %w", name, err)
		}
	}
	return list(ctx, a, false)
}

// readModule reads a module and the settings beside it, if there are any.
func readModule(file string) (map[string][]byte, error) {
	module, err := os.ReadFile(file)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	if filepath.Ext(file) != ".wasm" {
		return nil, cli.Usage("%s: a guard's file ends in .wasm", file)
	}
	files := map[string][]byte{filepath.Base(file): module}
	settings, err := os.ReadFile(settingsOf(file))
	if err == nil {
		files[settingsOf(filepath.Base(file))] = settings
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Usage("%w", err)
	}
	return files, nil
}

func settingsOf(file string) string { return strings.TrimSuffix(file, ".wasm") + ".json" }

// tryToLoad compiles a module by itself, in a folder of its own, so that one that
// cannot run is refused before it denies everything.
func tryToLoad(ctx context.Context, a *app.App, file string, files map[string][]byte) error {
	cfg, err := a.GuardConfig()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bir-guard-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	alone := host.New(host.Config{HomeDir: dir, CacheDir: cfg.CacheDir})
	defer alone.Close(context.WithoutCancel(ctx))
	if err := a.LoadGuards(ctx, alone); err != nil {
		return err
	}
	for _, m := range alone.Modules() {
		if m.Problem != "" {
			return cli.Usage("%s: %s", file, m.Problem)
		}
	}
	return nil
}

func nameOf(file string) string { return strings.TrimSuffix(filepath.Base(file), ".wasm") }

func newTrust(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "trust NAME",
		Short:   "Accept a module whose file changed since it was first seen",
		Example: "  bir guard trust my-rule",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			guards, err := a.Guards(cmd.Context())
			if err != nil {
				return err
			}
			defer guards.Close(context.WithoutCancel(cmd.Context()))
			if err := guards.Trust(cmd.Context(), args[0]); err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "%s is trusted as it is now\n", args[0])
			return nil
		},
	}
}

func newRemove(a *app.App) *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use:     "remove NAME",
		Short:   "Delete a module and its settings from the folder, and forget its digest",
		Example: "  bir guard remove my-rule\n  bir guard remove my-rule --project",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return remove(a, nameOf(args[0]), project)
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "the one of this project, in .bir/guards")
	return cmd
}

func remove(a *app.App, name string, project bool) error {
	cfg, err := a.GuardConfig()
	if err != nil {
		return err
	}
	dir := cfg.HomeDir
	if project {
		dir = cfg.ProjectDir
	}
	file := filepath.Join(dir, name+".wasm")
	if err := os.Remove(file); errors.Is(err, fs.ErrNotExist) {
		return cli.Hint(fmt.Errorf("no guard %s in %s", name, dir), "`bir guard list` shows them with their files")
	} else if err != nil {
		return err
	}
	if err := os.Remove(settingsOf(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := host.New(cfg).Forget(name); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s is removed\n", name)
	return nil
}
