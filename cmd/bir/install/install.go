// Package install has the commands that put bir into a client's configuration and
// take it out: bir install and bir uninstall. What is changed, and how it is taken
// back, is control/hosts'.
package install

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/claude"
	"github.com/bir-run/bir/control/hosts/clients"
)

// Options are what one may ask for.
type Options struct {
	Servers []string
	Scope   string // of the hooks
	Hooks   string // command or http
	Client  string
	Config  string // one file, in place of a client's own
	MCPJSON bool
	Replay  bool
	Dry     bool
	JSON    bool
}

// New declares `bir install`.
func New(a *app.App) *cobra.Command {
	o := Options{}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Record this project's work: wrap its MCP servers, register the hooks",
		Long: "For Claude Code, in the project of this folder. Each server that it would start gets bir-proxy before it, in a copy in\n" +
			"the project's local scope (~/.claude.json), so that the team's .mcp.json stays as it is; servers that would not work\n" +
			"that way are left alone, with the reason. The hooks go to .claude/settings.local.json. Only the entries concerned\n" +
			"change, and `bir uninstall` takes every byte back. A second install changes nothing.\n\n" +
			"Other clients have no hooks: --client NAME, or --config FILE with a file of servers in any client's form, wraps the\n" +
			"servers where they stand, and what they are called for is recorded without a prompt.\n\n" +
			"Clients: " + clientNames() + "\n\n" + cli.ExitCodes,
		Example: "  bir install\n  bir install --dry-run\n  bir install --server tracker      # also one that is left alone\n" +
			"  bir install --client cursor\n  bir install --config ~/.codex/config.toml",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := Run(cmd.Context(), a, o)
			if err != nil {
				return err
			}
			return r.Print(a.Out, o.JSON)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.Servers, "server", nil, "only this server, also one that is left alone otherwise; repeat it for more")
	f.StringVar(&o.Scope, "scope", "local", "whose settings get the hooks: local (yours, here), project (shared), or user (yours, everywhere; your own servers are wrapped where they stand then)")
	f.StringVar(&o.Hooks, "hooks", "command", "how the client calls bir: command (a small program), or http")
	f.StringVar(&o.Client, "client", claude.Name, "whose configuration, see above")
	f.StringVar(&o.Config, "config", "", "a file of servers, in place of the client's own")
	f.BoolVar(&o.MCPJSON, "mcp-json", false, "wrap the servers of .mcp.json in that file")
	f.BoolVar(&o.Replay, "replay", false, "register bir's own MCP server, which replays")
	f.BoolVar(&o.Dry, "dry-run", false, "say what would be changed, and change nothing")
	f.BoolVar(&o.JSON, "json", false, "print JSON")
	for flag, values := range map[string][]string{
		"scope": {"local", "project", "user"}, "hooks": {"command", "http"}, "client": names(),
	} {
		// An error would name a flag that is not declared.
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

func names() (all []string) {
	for _, h := range clients.All() {
		all = append(all, h.Name())
	}
	return all
}

func clientNames() string {
	text := ""
	for i, name := range names() {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

// check finds what cannot be asked for together.
func (o *Options) check() error {
	switch {
	case !slices.Contains([]string{"local", "project", "user"}, o.Scope):
		return cli.Usage("--scope %s: want local, project or user", o.Scope)
	case !slices.Contains([]string{"command", "http"}, o.Hooks):
		return cli.Usage("--hooks %s: want command or http", o.Hooks)
	case !slices.Contains(names(), o.Client):
		return cli.Hint(cli.Usage("no client %q", o.Client), "known are %s; `bir wrap` prints an entry for any other", clientNames())
	case o.MCPJSON && (o.Config != "" || o.Client != claude.Name):
		return cli.Usage("--mcp-json is about Claude Code's file: give it without --client and --config")
	}
	if o.Config != "" {
		path, err := filepath.Abs(o.Config)
		if err != nil {
			return err
		}
		o.Config = path
	}
	return nil
}

// Run installs.
func Run(ctx context.Context, a *app.App, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	t, err := newTask(a, o)
	if err != nil {
		return Report{}, err
	}
	if o.Replay {
		if err := t.findScenarioServer(); err != nil {
			return Report{}, err
		}
	}
	if err := t.plan(ctx); err != nil {
		return Report{}, untouched(err)
	}
	t.report.Files, err = t.installer.Install(t.places.Root, t.hooksKind(), t.changes)
	switch {
	case err != nil && len(t.report.Files) > 0:
		return t.report, cli.Hint(err, "changed was %s; `bir uninstall` takes it back", fileNames(t.report.Files))
	case err != nil:
		return t.report, untouched(err)
	}
	return t.report, nil
}

// untouched adds to an error what one wants to know first.
func untouched(err error) error {
	err = fmt.Errorf("nothing was changed: %w", err)
	var file *hosts.Error
	if errors.As(err, &file) {
		return cli.Hint(err, "`bir wrap` prints an entry to put there by hand")
	}
	return err
}
