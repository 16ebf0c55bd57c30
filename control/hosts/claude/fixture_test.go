package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/claude"
)

// fixtures are files that the real client wrote.
const fixtures = "../../../../shared/fixtures/claude-code/config"

// TestFilesOfTheRealClientComeBack installs into what the client wrote, hooks of the
// user's own included.
func TestFilesOfTheRealClientComeBack(t *testing.T) {
	if _, err := os.Stat(fixtures); err != nil {
		t.Skip("the fixtures are not beside this source tree: ", err)
	}
	l := newLab(t)
	l.p.Copied = func(string, []string) bool { return false }
	files := map[string]string{ // where a fixture belongs
		"claude.json": claude.Config(l.p), "mcp.json": filepath.Join(l.p.Root, ".mcp.json"),
		"settings.local.json.approved": claude.SettingsFile(l.p, "local"), "settings.all-hooks.json": claude.SettingsFile(l.p, "user"),
	}
	before := map[string]string{}
	for name, path := range files {
		text, err := os.ReadFile(filepath.Join(fixtures, name))
		if err != nil {
			t.Fatal(err)
		}
		l.write(path, strings.ReplaceAll(string(text), "/home/dev/fleet", filepath.ToSlash(l.p.Root)))
		before[path] = read(t, path)
	}
	found, err := claude.Host{}.Servers(l.p)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := hosts.Plan(claude.Name, found, hosts.Choice{Proxy: l.p.Proxy, Names: []string{"j1", "fake", "onlyproj", "web", "evs"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, scope := range []string{"local", "user"} {
		c, err := claude.Hooks{Binary: "/b/bir-hooks", Scope: scope}.Change(l.p)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, c)
	}
	in := hosts.Installer{Home: t.TempDir()}
	if _, err := in.Install(l.p.Root, "command", changes); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(read(t, claude.Config(l.p)), "/b/bir-proxy"); got != 5 {
		t.Errorf("%d servers are wrapped:\n%s", got, read(t, claude.Config(l.p)))
	}
	if state := claude.FindHooks(l.p); len(state.Files) != 2 || len(state.Missing) > 0 {
		t.Errorf("hooks: %+v", state)
	}
	if _, err := in.Uninstall(l.p.Root, ""); err != nil {
		t.Fatal(err)
	}
	for path, text := range before {
		if diff := cmp.Diff(text, read(t, path)); diff != "" {
			t.Errorf("%s %s", path, diff)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
