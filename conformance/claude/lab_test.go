//go:build linux

package claude

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bir-run/bir/conformance/fakemodel"
)

// fakeKey is what the client takes for a key; the scripted model asks for none.
const fakeKey = "sk-ant-fake-key-of-a-test-that-reaches-nothing"

// lab is a home and a project of a person who has the client and one MCP server.
type lab struct {
	testing.TB
	dir      string // holds the rest
	home     string
	project  string
	model    *fakemodel.Server
	upstream *upstream
	names    []string // of the servers
	late     bool     // see way
	settings string   // the person's own for the project
	env      []string // beside what every client gets
}

// newLab makes a project with servers, "fleet" where none are named.
func newLab(t testing.TB, script fakemodel.Script, servers ...string) *lab {
	t.Helper()
	client(t)
	if len(servers) == 0 {
		servers = []string{"fleet"}
	}
	dir, err := os.MkdirTemp("", "bir-claude-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	model, err := fakemodel.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	l := &lab{TB: t, dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "home", "vans"), names: servers,
		model: model, upstream: listenUpstream(t)}
	l.write("vans/.mcp.json", l.servers(servers))
	l.write("vans/README.md", "# Vans\n")
	l.write("vans/.gitignore", ".claude/settings.local.json\n")
	l.write(".claude.json", l.account())
	return l
}

// approve approves the project's servers, where the client notes it.
func (l *lab) approve() {
	l.Helper()
	l.settings = indent(l, map[string]any{"enabledMcpjsonServers": l.names})
	l.write("vans/.claude/settings.local.json", l.settings)
}

// commit makes the project a repository in which everything is committed: the client
// tells the model of files that are not.
func (l *lab) commit() {
	l.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=Dev", "-c", "user.email=dev@localhost", "commit", "-q", "-m", "Vans"}} {
		cmd := exec.Command("git", append([]string{"-C", l.project}, args...)...)
		cmd.Env = append(l.environ("dumb"), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			l.Fatalf("git %s: %v: %s", args[0], err, out)
		}
	}
}

// client is the path of the pinned client; the test is skipped where it is not installed.
func client(t testing.TB) string {
	t.Helper()
	path, err := filepath.Abs("npm/node_modules/@anthropic-ai/claude-code-linux-x64/claude")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip("the pinned Claude Code client is not installed: run make claude")
	}
	return path
}

// servers is the project's configuration, as a person writes it.
func (l *lab) servers(names []string) string {
	self, err := os.Executable()
	if err != nil {
		l.Fatal(err)
	}
	config := map[string]any{}
	for _, name := range names {
		config[name] = map[string]any{"command": self, "args": []string{name, l.upstream.listener.Addr().String()},
			"env": map[string]string{roleEnv: roleServer}}
	}
	return indent(l, map[string]any{"mcpServers": config})
}

// account is a home whose person has signed in with a key and trusts the project.
func (l *lab) account() string {
	return indent(l, map[string]any{
		"hasCompletedOnboarding": true, "userID": strings.Repeat("0", 64), "theme": "dark", "lastOnboardingVersion": "2.1.332",
		"customApiKeyResponses": map[string]any{"approved": []string{fakeKey[len(fakeKey)-20:]}, "rejected": []string{}},
		"projects":              map[string]any{l.project: map[string]any{"hasTrustDialogAccepted": true}},
	})
}

func indent(t testing.TB, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// write writes a file below the home.
func (l *lab) write(name, text string) {
	l.Helper()
	path := filepath.Join(l.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.Fatal(err)
	}
}

// environ is the whole environment of the client.
func (l *lab) environ(terminal string) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + l.home, "USER=dev", "SHELL=/bin/bash", "LANG=C.UTF-8",
		"TERM=" + terminal, "TMPDIR=" + l.dir, "TZ=UTC",
		"ANTHROPIC_API_KEY=" + fakeKey, "ANTHROPIC_BASE_URL=" + l.model.URL(),
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_MAX_RETRIES=1",
		// However slow the machine is, the model hears of the servers' tools at once.
		"MCP_CONNECTION_NONBLOCKING=0"}
	if !isolated {
		env = append(env, "HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost")
	}
	return append(env, l.env...)
}

// settled fails the test where the model's script was not used as it was written.
func (l *lab) settled() {
	l.Helper()
	for _, stray := range l.model.Strays() {
		l.Errorf("the model: %s", stray)
	}
	if n := l.model.Left(); n != 0 {
		l.Errorf("the model was never asked for its last %d replies", n)
	}
}
