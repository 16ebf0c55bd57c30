package install

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/control/hosts"
)

// Report is what an install did.
type Report struct {
	Root    string         `json:"root"`
	Client  string         `json:"client"`
	Dry     bool           `json:"dryRun"`
	Servers []ServerReport `json:"servers"`
	Hooks   *HooksReport   `json:"hooks,omitempty"`
	Control string         `json:"controlServer,omitempty"`
	Files   []hosts.Done   `json:"files"` // that were changed
	BirHome string         `json:"birHome,omitempty"`
}

// ServerReport is one server.
type ServerReport struct {
	Name  string `json:"name"`
	Scope string `json:"scope,omitempty"`
	State string `json:"state"` // wrapped, already, left
	Why   string `json:"why,omitempty"`
	File  string `json:"file"` // of the wrapped entry, or of the one that is left
}

// HooksReport is where the hooks are.
type HooksReport struct {
	Kind  string `json:"kind"`
	Scope string `json:"scope"`
	File  string `json:"file"`
}

// note says of each server what is done about it.
func (r *Report) note(servers []hosts.Server, named []string) {
	for _, s := range servers {
		line := ServerReport{Name: s.Name, Scope: s.Scope, State: "left", Why: s.Leave, File: s.At.File}
		switch {
		case len(named) > 0 && !slices.Contains(named, s.Name):
			line.Why = "not named"
			if s.Wrapped() {
				line.State, line.Why = "already", ""
			}
		case s.ToWrap(named):
			line.State, line.Why, line.File = "wrapped", "", s.To.File
		case s.Wrapped():
			line.State = "already"
		case s.Named:
			line.Why += "; bir install --server " + s.Name + " wraps it all the same"
		}
		r.Servers = append(r.Servers, line)
	}
}

// Print writes the report for people, or as JSON.
func (r Report) Print(w io.Writer, asJSON bool) error {
	if asJSON {
		return cli.JSON(w, r)
	}
	r.printServers(w)
	if r.Hooks != nil {
		fmt.Fprintf(w, "hooks: %s, in %s\n", r.Hooks.Kind, r.Hooks.File)
		if r.Hooks.Kind == "http" {
			fmt.Fprintln(w, "the control server's token is in that file, which only you can read")
		}
	}
	if r.Control != "" {
		fmt.Fprintf(w, "control server: %s\n", r.Control)
	}
	switch {
	case len(r.Files) == 0:
		fmt.Fprintln(w, "nothing to change")
	case r.Dry:
		fmt.Fprintf(w, "would change %s\n", fileNames(r.Files))
	default:
		fmt.Fprintf(w, "changed %s\n", fileNames(r.Files))
	}
	if r.BirHome != "" {
		fmt.Fprintf(w, "note: BIR_HOME is %s here; the client must be started with it, too\n", r.BirHome)
	}
	if r.Hooks != nil && len(r.Files) > 0 && !r.Dry {
		fmt.Fprintln(w, "start Claude Code anew in this project; `bir status` shows what it reports")
	}
	return nil
}

func (r Report) printServers(w io.Writer) {
	if len(r.Servers) == 0 {
		fmt.Fprintf(w, "%s has no MCP servers here\n", r.Client)
		return
	}
	var rows [][]string
	for _, s := range r.Servers {
		rows = append(rows, []string{s.Name, s.Scope, s.State, s.Why})
	}
	cli.Table(w, []string{"SERVER", "SCOPE", "STATE", ""}, rows)
}

func fileNames(files []hosts.Done) string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.File
	}
	return strings.Join(names, ", ")
}
