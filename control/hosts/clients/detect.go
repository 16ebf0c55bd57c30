package clients

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/claude"
	"github.com/bir-run/bir/control/hosts/files"
	"github.com/bir-run/bir/control/hosts/jsonedit"
	"github.com/bir-run/bir/control/hosts/tomledit"
)

// ErrForm says that a file is in no client's form.
var ErrForm = errors.New("has no table of servers that bir knows")

// Detect says in whose form a file is: by its name where that is a client's own, else
// by the key under which it has servers.
func Detect(file string) (Client, error) {
	f, err := files.Read(file)
	if err != nil {
		return Client{}, &hosts.Error{File: file, Err: err}
	}
	if !f.Exists {
		return Client{}, &hosts.Error{File: file, Err: errors.New("is not there")}
	}
	if filepath.Ext(file) == ".toml" {
		d, err := tomledit.Parse(f.Text)
		if err != nil {
			return Client{}, &hosts.Error{File: file, Err: err}
		}
		if _, ok := d.Value("mcp_servers"); ok {
			return codex(), nil
		}
		return Client{}, &hosts.Error{File: file, Err: ErrForm}
	}
	d, err := jsonedit.Parse(f.Text)
	if err != nil {
		return Client{}, &hosts.Error{File: file, Err: err}
	}
	return byKeys(file, d)
}

func byKeys(file string, d *jsonedit.Doc) (Client, error) {
	path := filepath.ToSlash(file)
	for _, c := range others() {
		_, ok := d.Find(c.shape.Servers...)
		if ok && c.format == hosts.JSON && owns(c.name, path) {
			return c, nil
		}
	}
	for _, c := range []Client{generic(), vscode(), opencode()} {
		if n, ok := d.Find(c.shape.Servers...); ok && n.Kind() == '{' {
			return c, nil
		}
	}
	return Client{}, &hosts.Error{File: file, Err: ErrForm}
}

// owns says whether a path is one that only this client has.
func owns(client, path string) bool {
	mark := map[string]string{
		"cursor": "/.cursor/", "vscode": "/.vscode/", "windsurf": "/windsurf/", "claude-desktop": "/claude_desktop_config.json",
		"gemini": "/.gemini/", "opencode": "/opencode.json",
	}[client]
	return strings.Contains("/"+path, mark)
}

// generic is the form without a client: what most of them read.
func generic() Client {
	return Client{name: "generic", format: hosts.JSON, shape: claude.Shape}
}
