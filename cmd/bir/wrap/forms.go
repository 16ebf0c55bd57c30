package wrap

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bir-run/bir/control/hosts/tomledit"
)

// form is how a client writes a server down.
type form struct {
	client string
	file   string // where the snippet goes
	print  func(entry) (string, error)
}

// server is an entry in the form that most clients read.
type server struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

// forms lists the clients, the common form first.
var forms = []form{
	{"generic", "the client's file of MCP servers", keyed("mcpServers", "")},
	{"claude-code", ".mcp.json of the project, or ~/.claude.json", keyed("mcpServers", "stdio")},
	{"claude-desktop", "claude_desktop_config.json", keyed("mcpServers", "")},
	{"cursor", ".cursor/mcp.json of the project, or ~/.cursor/mcp.json", keyed("mcpServers", "")},
	{"vscode", ".vscode/mcp.json of the project", keyed("servers", "stdio")},
	{"codex", "~/.codex/config.toml", codex},
	{"gemini", ".gemini/settings.json of the project, or ~/.gemini/settings.json", keyed("mcpServers", "")},
	{"windsurf", "~/.codeium/windsurf/mcp_config.json", keyed("mcpServers", "")},
	{"zed", "settings.json of Zed", keyed("context_servers", "")},
	{"opencode", "opencode.json of the project", opencode},
}

func find(client string) (form, bool) {
	i := slices.IndexFunc(forms, func(f form) bool { return f.client == client })
	if i < 0 {
		return form{}, false
	}
	return forms[i], true
}

// keyed is JSON with the servers under a key, by name.
func keyed(key, kind string) func(entry) (string, error) {
	return func(e entry) (string, error) {
		s := server{Type: kind, Command: e.Command, Args: e.Args, Env: e.Env}
		return indented(map[string]map[string]server{key: {e.Name: s}})
	}
}

func opencode(e entry) (string, error) {
	type local struct {
		Type        string            `json:"type"`
		Command     []string          `json:"command"`
		Environment map[string]string `json:"environment,omitempty"`
	}
	s := local{"local", append([]string{e.Command}, e.Args...), e.Env}
	return indented(map[string]map[string]local{"mcp": {e.Name: s}})
}

func indented(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read it
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.String(), err
}

// codex is TOML.
func codex(e entry) (string, error) {
	var b strings.Builder
	b.WriteString("[mcp_servers." + tomledit.Key(e.Name) + "]\n")
	b.WriteString("command = " + tomledit.Quote(e.Command) + "\n")
	words := make([]string, len(e.Args))
	for i, arg := range e.Args {
		words[i] = tomledit.Quote(arg)
	}
	b.WriteString("args = [" + strings.Join(words, ", ") + "]\n")
	if len(e.Env) > 0 {
		b.WriteString("\n[mcp_servers." + tomledit.Key(e.Name) + ".env]\n")
		for _, name := range slices.Sorted(maps.Keys(e.Env)) {
			b.WriteString(tomledit.Key(name) + " = " + tomledit.Quote(e.Env[name]) + "\n")
		}
	}
	return b.String(), nil
}
