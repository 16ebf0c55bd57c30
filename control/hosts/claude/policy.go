package claude

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/files"
)

// policy is what the machine's administrator says about servers. Its rules are about
// servers as they are; one that bir wrapped would be another one, refused by a rule
// that allows the old one and allowed by one that denies it.
type policy struct {
	why     string // nothing is wrapped
	allowed []string
	limited bool // to those allowed
	denied  []string
	// OwnHooks says that no hooks but the administrator's run.
	OwnHooks bool
}

// rule names a server by one of its members.
type rule struct {
	Name    string   `json:"serverName"`
	Command []string `json:"serverCommand"`
	URL     string   `json:"serverUrl"`
}

// forbids says why a server may not be wrapped.
func (p policy) forbids(name string) string {
	switch {
	case p.why != "":
		return p.why
	case has(p.denied, name), p.limited && !has(p.allowed, name):
		return "your administrator's settings do not let it start"
	}
	return ""
}

func managedDir(p hosts.Places) string {
	switch {
	case p.Managed != "":
		return p.Managed
	case p.OS == "darwin":
		return "/Library/Application Support/ClaudeCode"
	case p.OS == "windows":
		return `C:\Program Files\ClaudeCode`
	}
	return "/etc/claude-code"
}

func readPolicy(p hosts.Places) policy {
	dir := managedDir(p)
	var all policy
	if f, err := files.Read(filepath.Join(dir, "managed-mcp.json")); err != nil || f.Exists {
		all.why = "your administrator's managed-mcp.json lets no other server start"
		return all
	}
	for _, path := range settingsIn(dir) {
		s, err := tryRead(path)
		if err != nil {
			all.why = "your administrator's settings could not be read: " + path
			return all
		}
		all.add(s)
	}
	return all
}

// settingsIn are the administrator's files of settings.
func settingsIn(dir string) []string {
	paths := []string{filepath.Join(dir, "managed-settings.json")}
	more := filepath.Join(dir, "managed-settings.d")
	entries, err := os.ReadDir(more)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return append(paths, more) // which cannot be read as a file either, and that is said
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".json" {
			paths = append(paths, filepath.Join(more, e.Name()))
		}
	}
	return paths
}

func (p *policy) add(s Settings) {
	p.OwnHooks = p.OwnHooks || s.OwnHooks
	var allowed []rule
	if s.Allowed != nil {
		p.limited, allowed = true, *s.Allowed
	}
	for _, r := range slices.Concat(allowed, s.Denied) {
		if len(r.Command) > 0 || r.URL != "" {
			p.why = "your administrator's settings name servers by command or address, which a wrapped one has not"
		}
	}
	for _, r := range allowed {
		p.allowed = append(p.allowed, r.Name)
	}
	for _, r := range s.Denied {
		p.denied = append(p.denied, r.Name)
	}
}
