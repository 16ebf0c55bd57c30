// Package clients knows where MCP clients other than Claude Code keep their servers,
// and how they write them down. None of them has scopes that bir would have to merge,
// nor hooks: a wrapped server is changed where it stands. The package writes nothing.
package clients

import (
	"path/filepath"
	"slices"

	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/claude"
	"github.com/bir-run/bir/control/hosts/shape"
)

// Client is one of them.
type Client struct {
	name   string
	format string
	shape  shape.Shape
	// files are where it looks, the user's own first.
	files func(p hosts.Places) []string
}

// All are the clients that bir knows, Claude Code first.
func All() []hosts.Host {
	known := []hosts.Host{claude.Host{}}
	for _, c := range others() {
		known = append(known, c)
	}
	return known
}

// Named finds a client by its word.
func Named(name string) (hosts.Host, bool) {
	all := All()
	i := slices.IndexFunc(all, func(h hosts.Host) bool { return h.Name() == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

func others() []Client {
	return []Client{cursor(), vscode(), windsurf(), claudeDesktop(), gemini(), codex(), opencode()}
}

// Name is the word for the client.
func (c Client) Name() string { return c.name }

// Servers are those of all its files.
func (c Client) Servers(p hosts.Places) ([]hosts.Server, error) {
	var all []hosts.Server
	for _, file := range c.files(p) {
		servers, err := c.In(file)
		if err != nil {
			return nil, err
		}
		all = append(all, servers...)
	}
	return all, nil
}

// In are the servers of one file in the client's form.
func (c Client) In(file string) ([]hosts.Server, error) {
	servers, err := hosts.Entries(file, c.format, c.shape, c.shape.Servers)
	for i := range servers {
		s := &servers[i]
		if why := s.SignsIn(); s.Leave == "" && !s.Wrapped() && why != "" {
			s.Leave, s.Named = why, s.Own == "" || !c.shape.Strict
		}
	}
	return servers, err
}

func cursor() Client {
	return Client{name: "cursor", format: hosts.JSON,
		shape: keyed("mcpServers", shape.URL{Key: "url", Transport: "http"}),
		files: func(p hosts.Places) []string {
			return []string{filepath.Join(p.Home, ".cursor", "mcp.json"), filepath.Join(p.Root, ".cursor", "mcp.json")}
		}}
}

func vscode() Client {
	return Client{name: "vscode", format: hosts.JSON,
		shape: keyed("servers", shape.URL{Key: "url", Transport: "http"}),
		files: func(p hosts.Places) []string {
			return []string{filepath.Join(appData(p), "Code", "User", "mcp.json"), filepath.Join(p.Root, ".vscode", "mcp.json")}
		}}
}

func windsurf() Client {
	s := keyed("mcpServers", shape.URL{Key: "serverUrl", Transport: "http"}, shape.URL{Key: "url", Transport: "http"})
	s.Off, s.OffIs = "disabled", true
	return Client{name: "windsurf", format: hosts.JSON, shape: s,
		files: func(p hosts.Places) []string {
			return []string{filepath.Join(p.Home, ".codeium", "windsurf", "mcp_config.json")}
		}}
}

// claudeDesktop has local servers only: it is told of remote ones elsewhere.
func claudeDesktop() Client {
	return Client{name: "claude-desktop", format: hosts.JSON, shape: keyed("mcpServers"),
		files: func(p hosts.Places) []string {
			return []string{filepath.Join(appData(p), "Claude", "claude_desktop_config.json")}
		}}
}

func gemini() Client {
	s := keyed("mcpServers", shape.URL{Key: "httpUrl", Transport: "http"}, shape.URL{Key: "url", Transport: "sse"})
	s.Own = append(s.Own, "authProviderType")
	return Client{name: "gemini", format: hosts.JSON, shape: s,
		files: func(p hosts.Places) []string {
			return []string{filepath.Join(p.Home, ".gemini", "settings.json"), filepath.Join(p.Root, ".gemini", "settings.json")}
		}}
}

func codex() Client {
	return Client{name: "codex", format: hosts.TOML,
		shape: shape.Shape{
			Servers: []string{"mcp_servers"},
			URLs:    []shape.URL{{Key: "url", Transport: "http"}}, Headers: "http_headers", Env: "env",
			Own: []string{"bearer_token_env_var", "env_http_headers", "scopes", "oauth_resource"}, Strict: true,
			Off: "enabled", OffIs: false,
		},
		files: func(p hosts.Places) []string {
			home := p.Lookup("CODEX_HOME")
			if home == "" {
				home = filepath.Join(p.Home, ".codex")
			}
			return []string{filepath.Join(home, "config.toml"), filepath.Join(p.Root, ".codex", "config.toml")}
		}}
}

func opencode() Client {
	return Client{name: "opencode", format: hosts.JSON,
		shape: shape.Shape{
			Servers: []string{"mcp"}, Joined: true,
			Kind: "type", Local: []string{"local"}, Remote: map[string]string{"remote": ""},
			URLs: []shape.URL{{Key: "url", Transport: "http"}}, Headers: "headers", Env: "environment",
			Own: []string{"oauth"}, Strict: true, Off: "enabled", OffIs: false,
		},
		files: func(p hosts.Places) []string {
			var files []string
			for _, dir := range []string{filepath.Join(configHome(p), "opencode"), p.Root} {
				files = append(files, filepath.Join(dir, "opencode.json"), filepath.Join(dir, "opencode.jsonc"))
			}
			return files
		}}
}

// keyed is the form that most clients have.
func keyed(table string, urls ...shape.URL) shape.Shape {
	return shape.Shape{
		Servers: []string{table},
		Kind:    "type", Local: []string{"stdio"},
		Remote: map[string]string{"http": "http", "streamable-http": "http", "streamableHttp": "http", "sse": "sse"},
		URLs:   urls, Headers: "headers", Env: "env",
		Own: []string{"oauth", "auth"},
	}
}

// configHome is where programs that follow the desktop's rules have their files.
func configHome(p hosts.Places) string {
	if dir := p.Lookup("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(p.Home, ".config")
}

// appData is where the system's own programs have their files.
func appData(p hosts.Places) string {
	switch {
	case p.OS == "darwin":
		return filepath.Join(p.Home, "Library", "Application Support")
	case p.OS != "windows":
		return configHome(p)
	case p.Lookup("APPDATA") != "":
		return p.Lookup("APPDATA")
	}
	return filepath.Join(p.Home, "AppData", "Roaming")
}
