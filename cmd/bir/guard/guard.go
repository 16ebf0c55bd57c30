// Package guard has the commands about guards: bir guard list, test, add, trust
// and remove.
package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	host "github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// New declares `bir guard`.
func New(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "guard",
		Short: "List, test and install rules as WebAssembly modules",
		Long: "A guard answers whether a value may be used or a call be sent. All guards must allow; one that fails denies.\n" +
			"Modules in BIR_HOME/guards count everywhere, those in .bir/guards of a project count there.\n\n" + cli.ExitCodes,
	}
	cmd.AddCommand(newList(a), newTest(a), newAdd(a), newTrust(a), newRemove(a))
	return cmd
}

func newList(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the guards in the order of asking",
		Example: "  bir guard list\n  bir guard list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return list(cmd.Context(), a, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func list(ctx context.Context, a *app.App, asJSON bool) error {
	guards, err := a.Guards(ctx)
	if err != nil {
		return err
	}
	defer guards.Close(context.WithoutCancel(ctx))
	modules := guards.Modules()
	if asJSON {
		return cli.JSON(a.Out, map[string]any{"guards": modules})
	}
	var rows [][]string
	for _, m := range modules {
		rows = append(rows, []string{m.Name, string(m.Scope), string(m.State), string(m.Form), kinds(m.Kinds), short(m.SHA256), m.Path})
	}
	cli.Table(a.Out, []string{"GUARD", "SCOPE", "STATE", "FORM", "ASKED", "SHA-256", "FILE"}, rows)
	for _, m := range modules {
		if m.Problem != "" {
			fmt.Fprintf(a.Out, "%s %s: %s\n", cli.Bad("×"), m.Name, m.Problem)
		}
	}
	return nil
}

func kinds(all []guardsdk.Kind) string {
	var names []string
	for _, k := range all {
		names = append(names, string(k))
	}
	return strings.Join(names, ",")
}

func short(sum string) string {
	if len(sum) < 12 {
		return sum
	}
	return sum[:12]
}

func newTest(a *app.App) *cobra.Command {
	var request string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test MODULE --request FILE",
		Short: "Put one request to a module and show its verdict",
		Long: "MODULE is a file that need not be installed, or the name of a built-in guard. The exit code is 0 when it allows\n" +
			"and 1 when it denies.\n\n" + cli.ExitCodes,
		Example: "  bir guard test my-rule.wasm --request request.json\n" +
			"  echo '{\"kind\":\"value\",\"parameter\":\"region\",\"value\":\"x; ls\",\"sample\":\"eu\",\"plan\":{\"risk\":\"runs\"}}' |\n" +
			"    bir guard test injection-guard --request -",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return test(cmd.Context(), a, args[0], request, asJSON)
		},
	}
	cmd.Flags().StringVar(&request, "request", "", "file with the request as JSON, - for standard input")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func test(ctx context.Context, a *app.App, module, path string, asJSON bool) error {
	if path == "" {
		return cli.Usage("--request is missing: name the file with the request")
	}
	req, err := readRequest(a.In, path)
	if err != nil {
		return err
	}
	cfg, err := a.GuardConfig()
	if err != nil {
		return err
	}
	verdict, err := host.Try(ctx, cfg, module, req)
	if err != nil {
		return cli.Usage("%s: %w", module, err)
	}
	if asJSON {
		err = cli.JSON(a.Out, verdict)
	} else {
		printVerdict(a.Out, verdict)
	}
	if err == nil && !verdict.Verdict.Allow {
		return cli.ErrSilent
	}
	return err
}

func readRequest(in io.Reader, path string) (guardsdk.Request, error) {
	var req guardsdk.Request
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(in)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return req, cli.Usage("read the request: %w", err)
	}
	if err := json.Unmarshal(text, &req); err != nil {
		return req, cli.Usage("the request in %s is not JSON: %w", path, err)
	}
	return req, nil
}

func printVerdict(w io.Writer, v host.ModuleVerdict) {
	word := cli.Good("allow")
	if !v.Verdict.Allow {
		word = cli.Bad("deny")
	}
	fmt.Fprintf(w, "%s  %s in %s\n", word, v.Module, v.Duration)
	for _, line := range []string{v.Verdict.Code, v.Verdict.Reason, v.Failure, v.Printed} {
		if line != "" {
			fmt.Fprintf(w, "   %s\n", line)
		}
	}
}

func newAdd(a *app.App) *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use:     "add FILE",
		Short:   "Check a module, put it into the folder and compile it",
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
	module, err := os.ReadFile(file)
	if err != nil {
		return cli.Usage("%w", err)
	}
	if filepath.Ext(file) != ".wasm" {
		return cli.Usage("%s: a guard's file ends in .wasm", file)
	}
	dir := cfg.HomeDir
	if project {
		dir = cfg.ProjectDir
	}
	target := filepath.Join(dir, filepath.Base(file))
	if _, err := os.Stat(target); err == nil {
		return cli.Hint(fmt.Errorf("%s is there already", target), "`bir guard remove %s` first", nameOf(file))
	}
	if err := tryToLoad(ctx, cfg, file, module); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := renameio.WriteFile(target, module, 0o600); err != nil {
		return fmt.Errorf("install %s: %w", file, err)
	}
	return list(ctx, a, false)
}

// tryToLoad compiles a module by itself, in a folder of its own, so that one that
// cannot run is refused before it denies everything.
func tryToLoad(ctx context.Context, cfg host.Config, file string, module []byte) error {
	dir, err := os.MkdirTemp("", "bir-guard-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), module, 0o600); err != nil {
		return err
	}
	alone := host.New(host.Config{HomeDir: dir, CacheDir: cfg.CacheDir})
	defer alone.Close(context.WithoutCancel(ctx))
	if err := alone.Load(ctx, nil); err != nil {
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
		Short:   "Delete a module from the folder and forget its digest",
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
	if err := os.Remove(file); errors.Is(err, os.ErrNotExist) {
		return cli.Hint(fmt.Errorf("no guard %s in %s", name, dir), "`bir guard list` shows them with their files")
	} else if err != nil {
		return err
	}
	if err := host.New(cfg).Forget(name); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s is removed\n", name)
	return nil
}
