package claude

import (
	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/files"
	"github.com/bir-run/bir/control/hosts/jsonedit"
)

// answers are what the user said about the servers of .mcp.json: by name, since that
// is how the client keeps them.
type answers struct {
	all      bool
	approved []string
	rejected []string
}

func (a answers) rejects(name string) bool  { return has(a.rejected, name) }
func (a answers) approves(name string) bool { return a.all || has(a.approved, name) }

// readAnswers collects them from where the client looks. A settings file that comes
// with a project counts once the user trusts its folder.
func readAnswers(p hosts.Places, o own) answers {
	var a answers
	a.add(readSettings(SettingsFile(p, "local")))
	var trusted bool
	o.project("hasTrustDialogAccepted", &trusted)
	for _, scope := range []string{"project", "user"} {
		s := readSettings(SettingsFile(p, scope))
		if !trusted {
			s.Enabled, s.All = nil, false // a rejection counts at once
		}
		a.add(s)
	}
	var old Settings // where the client used to keep them
	o.project("enabledMcpjsonServers", &old.Enabled)
	o.project("disabledMcpjsonServers", &old.Disabled)
	a.add(old)
	return a
}

func (a *answers) add(s Settings) {
	a.all = a.all || s.All
	a.approved = append(a.approved, s.Enabled...)
	a.rejected = append(a.rejected, s.Disabled...)
}

// Settings is what bir reads of a settings file.
type Settings struct {
	Enabled  []string          `json:"enabledMcpjsonServers"`
	Disabled []string          `json:"disabledMcpjsonServers"`
	All      bool              `json:"enableAllProjectMcpServers"`
	NoHooks  bool              `json:"disableAllHooks"`
	Hooks    map[string][]any  `json:"hooks"`
	Env      map[string]string `json:"env"`
	Allowed  *[]rule           `json:"allowedMcpServers"`
	Denied   []rule            `json:"deniedMcpServers"`
	OwnHooks bool              `json:"allowManagedHooksOnly"`
}

// readSettings reads what it can: a file that is not there, or that the client itself
// could not read, says nothing.
func readSettings(path string) Settings {
	s, _ := tryRead(path)
	return s
}

func tryRead(path string) (Settings, error) {
	var s Settings
	f, err := files.Read(path)
	if err != nil || !f.Exists {
		return s, err
	}
	d, err := jsonedit.Parse(f.Text)
	if err != nil {
		return s, err
	}
	for key, into := range map[string]any{
		"enabledMcpjsonServers": &s.Enabled, "disabledMcpjsonServers": &s.Disabled, "enableAllProjectMcpServers": &s.All,
		"disableAllHooks": &s.NoHooks, "hooks": &s.Hooks, "env": &s.Env, "allowedMcpServers": &s.Allowed,
		"deniedMcpServers": &s.Denied, "allowManagedHooksOnly": &s.OwnHooks,
	} {
		if n, ok := d.Find(key); ok {
			if err := n.Decode(into); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}
