package install

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/bir-run/bir/cmd/bir/updown"
	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/claude"
	"github.com/bir-run/bir/control/hosts/clients"
	"github.com/bir-run/bir/control/hosts/journal"
)

// Places says where this user's clients look, for the project of the working folder.
func Places(a *app.App) (hosts.Places, error) {
	dir, err := here()
	if err != nil {
		return hosts.Places{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return hosts.Places{}, err
	}
	p := hosts.Places{OS: runtime.GOOS, Home: home, Dir: dir, Root: locate.Root(dir), Lookup: a.Env.Other}
	p.Copied, err = Installer(a).Copied(p.Root)
	if err != nil {
		return p, cli.Hint(err, "without it nothing can be taken back; mend it, or move it away to start anew")
	}
	if p.Proxy, err = a.Binary("bir-proxy"); err != nil {
		return p, err
	}
	return p, nil
}

// here is the working folder as the client sees it.
func here() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// Installer keeps its journal in this user's BIR_HOME.
func Installer(a *app.App) hosts.Installer {
	return hosts.Installer{Home: a.Env.Home, Version: a.Version, NowMS: time.Now().UnixMilli()}
}

// task is one install.
type task struct {
	app       *app.App
	options   Options
	places    hosts.Places
	installer hosts.Installer
	scenario  string // path of bir's own MCP server
	changes   []hosts.Change
	report    Report
}

func newTask(a *app.App, o Options) (*task, error) {
	places, err := Places(a)
	if err != nil {
		return nil, err
	}
	in := Installer(a)
	in.Dry = o.Dry
	return &task{app: a, options: o, places: places, installer: in,
		report: Report{Root: places.Root, Dry: o.Dry, BirHome: a.Env.Other("BIR_HOME")}}, nil
}

// hooked says whether hooks are a part of it: Claude Code's own configuration.
func (t *task) hooked() bool { return t.options.Client == claude.Name && t.options.Config == "" }

func (t *task) hooksKind() string {
	if !t.hooked() {
		return ""
	}
	return t.options.Hooks
}

func (t *task) findScenarioServer() error {
	path, err := t.app.Binary("bir-scenario")
	if err != nil {
		return cli.Hint(cli.Failed("replaying from within the client is not built yet: there is no bir-scenario"), "`bir install` records; `bir replay` replays")
	}
	t.scenario = path
	return nil
}

// plan finds out what is to be changed.
func (t *task) plan(ctx context.Context) error {
	host, servers, err := t.servers()
	if err != nil {
		return err
	}
	changes, err := hosts.Plan(host, servers, hosts.Choice{Proxy: t.places.Proxy, Names: t.options.Servers, UserScope: t.hooked()})
	if err != nil {
		return cli.Hint(err, "`bir install --dry-run` lists the servers and says why one is left")
	}
	t.report.Client = host
	t.report.note(servers, t.options.Servers)
	if t.hooked() {
		for i := range changes {
			changes[i].Shared = changes[i].File == claude.Config(t.places)
		}
		hooks, err := t.hooks(ctx)
		if err != nil {
			return err
		}
		changes = append([]hosts.Change{hooks}, changes...)
		if ignore, ok := claude.Ignore(ctx, t.places); ok && t.options.Scope == "local" {
			changes = append([]hosts.Change{ignore}, changes...) // before there is a file to be seen
		}
	}
	t.changes = t.withScenarioServer(changes)
	return nil
}

func (t *task) servers() (string, []hosts.Server, error) {
	if t.options.Config != "" {
		c, err := clients.Detect(t.options.Config)
		if err != nil {
			return "", nil, err
		}
		servers, err := c.In(t.options.Config)
		return c.Name(), servers, err
	}
	host, _ := clients.Named(t.options.Client)
	if t.options.Client == claude.Name {
		host = t.claude()
	}
	servers, err := host.Servers(t.places)
	return host.Name(), servers, err
}

// claude is Claude Code with the scopes that are wrapped where they stand. Hooks in the
// user's own settings are for every project, and so are the user's own servers then.
func (t *task) claude() claude.Host {
	var h claude.Host
	if t.options.MCPJSON {
		h.InPlace = append(h.InPlace, "project")
	}
	if t.options.Scope == "user" {
		h.InPlace = append(h.InPlace, "user")
	}
	return h
}

// hooks is the change of the settings file. For hooks over HTTP the control server has
// to run: they name its port.
func (t *task) hooks(ctx context.Context) (hosts.Change, error) {
	binary, err := t.app.Binary("bir-hooks")
	if err != nil {
		return hosts.Change{}, err
	}
	h := claude.Hooks{Binary: binary, Scope: t.options.Scope}
	file, err := t.control(ctx)
	switch {
	case t.options.Hooks == "http" && err != nil:
		return hosts.Change{}, err
	case err != nil:
		t.report.Control = "not started: " + err.Error()
	}
	if t.options.Hooks == "http" {
		h.URL, h.Token = file.URL, file.Token
	}
	c, err := h.Change(t.places)
	t.report.Hooks = &HooksReport{Kind: t.options.Hooks, File: c.File, Scope: t.options.Scope}
	return c, err
}

// control starts the control server and says where it is. A dry run looks for one.
func (t *task) control(ctx context.Context) (locate.File, error) {
	if t.options.Dry {
		file, err := locate.Read(t.app.Env.Home, t.places.Root)
		if err != nil {
			file.URL = "http://127.0.0.1:0" // its port is known once it runs
		}
		return file, nil
	}
	up, err := updown.Start(ctx, t.app, false)
	if err != nil {
		return locate.File{}, err
	}
	t.report.Control = string(up.Outcome)
	return locate.Read(t.app.Env.Home, t.places.Root)
}

// withScenarioServer adds bir's own MCP server, in the project's local scope.
func (t *task) withScenarioServer(changes []hosts.Change) []hosts.Change {
	if t.scenario == "" {
		return changes
	}
	value, err := json.Marshal(map[string]any{"type": "stdio", "command": t.scenario, "args": []string{}})
	if err != nil {
		panic(fmt.Sprintf("strings do not encode: %v", err))
	}
	file := claude.Config(t.places)
	op := hosts.Op{Kind: journal.Put, Path: claude.LocalEntry(t.places, hosts.Reserved), Value: value}
	if i := slices.IndexFunc(changes, func(c hosts.Change) bool { return c.File == file }); i >= 0 {
		changes[i].Ops = append(changes[i].Ops, op)
		return changes
	}
	return append(changes, hosts.Change{Host: claude.Name, File: file, Format: hosts.JSON, Shape: &claude.Shape, Shared: true, Ops: []hosts.Op{op}})
}
