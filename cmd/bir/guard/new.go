package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/sandbox/guards/examples"
)

func newNew(a *app.App) *cobra.Command {
	var lang string
	languages := strings.Join(examples.Languages(), ", ")
	cmd := &cobra.Command{
		Use:   "new --lang LANGUAGE NAME",
		Short: "Make a folder with a guard to start from, its tests and its cases",
		Long: "The folder NAME builds and tests as it is: a rule that works, with cases for `bir guard test`, and a README that\n" +
			"says how. The Go one brings the SDK along; the C one needs clang with lld; the AssemblyScript one needs npm.\n\n" + cli.ExitCodes,
		Example: "  bir guard new --lang go my-rule\n  bir guard new --lang assemblyscript office-hours",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return create(a, lang, args[0])
		},
	}
	cmd.Flags().StringVar(&lang, "lang", "go", "language: "+languages)
	return cmd
}

func create(a *app.App, lang, name string) error {
	tree, err := examples.New(lang, name)
	if err != nil {
		return cli.Usage("%w", err)
	}
	if err := os.Mkdir(name, 0o755); errors.Is(err, fs.ErrExist) {
		return cli.Hint(fmt.Errorf("%s is there already", name), "take another name, or remove it")
	} else if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(tree)) {
		target := filepath.Join(name, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, tree[file], 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.Out, "%s has a guard that works and its cases; %s says how to build and test it\n",
		name, filepath.Join(name, "README.md"))
	return nil
}
