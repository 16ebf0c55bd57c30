package clients

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/hosts"
)

// lab is a copy of testdata: a home with a file of each client, and a project.
func lab(t *testing.T) hosts.Places {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "fleet")
	return hosts.Places{OS: "linux", Home: filepath.Join(dir, "dev"), Root: root, Dir: root, Proxy: "/b/bir-proxy",
		Lookup: func(string) string { return "" }}
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		texts[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

const (
	wrap    = "wrap"
	noLogin = "ask: the client may have to sign in to it, since no header does"
	filled  = "ask: its headers are filled in by the client"
)

func TestEachClientsFilesComeBackByteForByte(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"cursor":         {"files": wrap, "tracker": wrap, "figma": noLogin},
		"vscode":         {"files": wrap, "asks": filled, "events": wrap},
		"windsurf":       {"files": wrap, "tracker": wrap, "sleeps": "is switched off"},
		"claude-desktop": {"files": wrap, "bare": wrap},
		"gemini":         {"files": wrap, "stream": wrap, "events": wrap, "google": "ask: the client signs in to it itself (authProviderType)"},
		"codex": {"files": wrap, "my docs": wrap, "tracker": wrap, "asleep": "is switched off",
			"signs_in": "the client signs in to it itself (bearer_token_env_var)", "apart": "is written in a form that bir does not know: http_headers has a header of its own"},
		"opencode": {"files": wrap, "tracker": wrap, "filled": filled, "asleep": "is switched off",
			"signs-in": "the client signs in to it itself (oauth)"},
	} {
		t.Run(name, func(t *testing.T) {
			p := lab(t)
			before := read(t, p.Home)
			project := read(t, p.Root)
			host, _ := Named(name)
			servers, err := host.Servers(p)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, s := range servers {
				got[s.Name] = map[bool]string{true: wrap, false: s.Leave}[s.Leave == ""]
				if s.Named {
					got[s.Name] = "ask: " + s.Leave
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			in := hosts.Installer{Home: t.TempDir()}
			install(t, in, p, host, servers)
			if _, err := in.Uninstall(p.Root, ""); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, read(t, p.Home)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(project, read(t, p.Root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// install wraps what it may, and holds that this was done.
func install(t *testing.T, in hosts.Installer, p hosts.Places, host hosts.Host, servers []hosts.Server) {
	t.Helper()
	changes, err := hosts.Plan(host.Name(), servers, hosts.Choice{Proxy: p.Proxy})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Install(p.Root, "", changes); err != nil {
		t.Fatal(err)
	}
	wrapped := 0
	again, err := host.Servers(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range again {
		if s.Wrapped() {
			wrapped++
		}
	}
	total := 0
	for _, c := range changes {
		total += len(c.Ops)
	}
	if wrapped == 0 || wrapped != total {
		t.Errorf("%d are wrapped of %d", wrapped, total)
	}
	text, err := os.ReadFile(filepath.Join(in.Home, "installed.json"))
	if err != nil || strings.Contains(string(text), "hush") {
		t.Errorf("%v: the journal has a credential\n%s", err, text)
	}
}

func TestFormOfAFileIsFound(t *testing.T) {
	p := lab(t)
	for path, want := range map[string]string{
		".cursor/mcp.json": "cursor", ".codeium/windsurf/mcp_config.json": "windsurf", ".config/Claude/claude_desktop_config.json": "claude-desktop",
		".config/Code/User/mcp.json": "vscode", ".config/opencode/opencode.json": "opencode", ".gemini/settings.json": "gemini", ".codex/config.toml": "codex",
	} {
		c, err := Detect(filepath.Join(p.Home, filepath.FromSlash(path)))
		if err != nil || c.Name() != want {
			t.Errorf("%s: got %q, %v", path, c.Name(), err)
		}
	}
	for name, text := range map[string]string{"a.json": `{"x":1}`, "b.toml": "x = 1", "c.json": "[", "d.toml": "[", "e.json": `{"mcpServers":[]}`} {
		path := filepath.Join(p.Home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := Detect(path); err == nil {
			t.Errorf("%s is of %s", name, c.Name())
		}
	}
	if _, err := Detect(filepath.Join(p.Home, "nothing")); err == nil {
		t.Error("a file that is not there has a form")
	}
}

func TestPlacesOfEachSystem(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths below have slashes")
	}
	env := map[string]string{}
	at := func(system, client string) string {
		p := hosts.Places{OS: system, Home: "/h", Root: "/r", Lookup: func(name string) string { return env[name] }}
		host, _ := Named(client)
		return host.(Client).files(p)[0]
	}
	for _, c := range [][3]string{
		{"linux", "claude-desktop", "/h/.config/Claude/claude_desktop_config.json"},
		{"darwin", "claude-desktop", "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"windows", "claude-desktop", "/h/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"darwin", "vscode", "/h/Library/Application Support/Code/User/mcp.json"},
		{"darwin", "opencode", "/h/.config/opencode/opencode.json"},
		{"linux", "codex", "/h/.codex/config.toml"},
	} {
		if got := at(c[0], c[1]); got != c[2] {
			t.Errorf("%s on %s: got %s", c[1], c[0], got)
		}
	}
	env["CODEX_HOME"], env["XDG_CONFIG_HOME"], env["APPDATA"] = "/c", "/x", "/a"
	for _, c := range [][3]string{
		{"linux", "codex", "/c/config.toml"}, {"linux", "vscode", "/x/Code/User/mcp.json"}, {"windows", "vscode", "/a/Code/User/mcp.json"},
	} {
		if got := at(c[0], c[1]); got != c[2] {
			t.Errorf("%s on %s: got %s", c[1], c[0], got)
		}
	}
}
