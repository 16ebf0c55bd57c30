package install

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/journal"
)

type undoOptions struct {
	all, dry, json bool
	config         string
}

// NewUninstall declares `bir uninstall`.
func NewUninstall(a *app.App) *cobra.Command {
	var o undoOptions
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take bir out of every file that an install changed",
		Long: "A file gets the bytes back that it had; in one that somebody else wrote since, each entry is taken back by itself,\n" +
			"and theirs stay. What was recorded stays, too.\n\n" + cli.ExitCodes,
		Example: "  bir uninstall\n  bir uninstall --all\n  bir uninstall --config ~/.codex/config.toml",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return uninstall(a, o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "in every project on this machine")
	f.StringVar(&o.config, "config", "", "only in this file, whichever project it was installed from")
	f.BoolVar(&o.dry, "dry-run", false, "say what would be changed, and change nothing")
	f.BoolVar(&o.json, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("all", "config")
	return cmd
}

// undone is one project's part.
type undone struct {
	Root  string       `json:"root"`
	Files []hosts.Done `json:"files"`
}

func uninstall(a *app.App, o undoOptions) error {
	if o.config != "" {
		var err error
		if o.config, err = filepath.Abs(o.config); err != nil {
			return err
		}
	}
	in := Installer(a)
	in.Dry = o.dry
	roots, err := rootsOf(a, o)
	if err != nil {
		return err
	}
	all := []undone{}
	var errs []error
	for _, root := range roots {
		done, err := in.Uninstall(root, o.config)
		errs = append(errs, err)
		if len(done) > 0 {
			all = append(all, undone{root, done})
		}
	}
	if o.json {
		errs = append(errs, cli.JSON(a.Out, map[string]any{"projects": all, "dryRun": o.dry}))
	} else {
		printUndone(a.Out, all, o)
	}
	if err := errors.Join(errs...); err != nil {
		return cli.Hint(err, "the rest was taken back; run `bir uninstall` again once that is mended")
	}
	return nil
}

// rootsOf are the projects that are meant.
func rootsOf(a *app.App, o undoOptions) ([]string, error) {
	if !o.all && o.config == "" {
		dir, err := here()
		return []string{locate.Root(dir)}, err
	}
	j, err := journal.Read(a.Env.Home)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(j.Projects)), nil
}

func printUndone(w io.Writer, all []undone, o undoOptions) {
	if len(all) == 0 {
		fmt.Fprintln(w, "nothing was installed")
		return
	}
	for _, project := range all {
		for _, f := range project.Files {
			fmt.Fprintf(w, "%s: %s\n", f.File, whatBecame(f, o.dry))
		}
	}
}

func whatBecame(f hosts.Done, dry bool) string {
	text := "restored, byte for byte"
	switch {
	case f.Removed:
		text = "removed: bir had made it"
	case len(f.Places) == 0:
		text = "gone, and what bir wrote with it"
	case !f.Exact:
		text = fmt.Sprintf("%d entries taken back; it was written by others since", len(f.Places))
	}
	if dry {
		return "would be " + text
	}
	return text
}
