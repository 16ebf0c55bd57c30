package claude_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/claude"
)

// lab is a home with a project.
type lab struct {
	t *testing.T
	p hosts.Places
}

func newLab(t *testing.T) lab {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := lab{t, hosts.Places{OS: "linux", Home: filepath.Join(dir, "dev"), Root: filepath.Join(dir, "fleet"), Dir: filepath.Join(dir, "fleet"),
		Lookup: func(string) string { return "" }, Managed: filepath.Join(dir, "etc"), Proxy: "/b/bir-proxy"}}
	l.write(filepath.Join(l.p.Root, ".git", "HEAD"), "")
	return l
}

func (l lab) write(path, text string) {
	l.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "ROOT", filepath.ToSlash(l.p.Root))), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// found says of each server its scope and what is done about it, in a word or two.
func (l lab) found(h claude.Host) map[string]string {
	l.t.Helper()
	servers, err := h.Servers(l.p)
	if err != nil {
		l.t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range servers {
		text := s.Scope
		switch {
		case s.Stale:
			text += " stale"
		case s.Wrapped():
			text += " wrapped"
		case s.Leave == "":
			text += " wrap"
		case s.Named:
			text += " ask: " + s.Leave
		default:
			text += " leave: " + s.Leave
		}
		got[s.Name] = text
	}
	return got
}

const stdio = `{"type":"stdio","command":"srv","args":["X"],"env":{}}`

func servers(names ...string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = `"` + name + `":` + stdio
	}
	return `{"mcpServers":{` + strings.Join(parts, ",") + `}}`
}

func (l lab) config(local, user, more string) {
	l.write(claude.Config(l.p), `{"mcpServers":`+user+`,"projects":{"ROOT":{`+more+`"mcpServers":`+local+`}}}`)
}

func TestScopesAreMergedAsTheClientDoes(t *testing.T) {
	l := newLab(t)
	l.config(`{"a":`+stdio+`}`, `{"a":{"command":"u"},"b":{"command":"u"},"c":`+stdio+`,"rejected":`+stdio+`}`, "")
	l.write(filepath.Join(l.p.Root, ".mcp.json"), servers("a", "b", "d", "rejected", "no"))
	l.write(claude.SettingsFile(l.p, "local"), `{"enabledMcpjsonServers":["a","b"],"disabledMcpjsonServers":["rejected","no"]}`)
	want := map[string]string{
		"a": "local wrap", "b": "project wrap", "c": "user wrap", "rejected": "user wrap",
		"d":  "project ask: Claude Code has not asked you about it yet",
		"no": "project leave: was rejected when Claude Code asked about it",
	}
	if diff := cmp.Diff(want, l.found(claude.Host{})); diff != "" {
		t.Error(diff)
	}
}

func TestAnswersInSharedSettingsCountOnceTheFolderIsTrusted(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		l := newLab(t)
		l.config(`{}`, `{}`, map[bool]string{true: `"hasTrustDialogAccepted":true,`}[trusted])
		l.write(filepath.Join(l.p.Root, ".mcp.json"), servers("a"))
		l.write(claude.SettingsFile(l.p, "project"), `{"enableAllProjectMcpServers":true}`)
		want := map[bool]string{true: "project wrap", false: "project ask: Claude Code has not asked you about it yet"}[trusted]
		if got := l.found(claude.Host{})["a"]; got != want {
			t.Errorf("trusted %v: %s", trusted, got)
		}
	}
}

func TestServersThatAreLeftAlone(t *testing.T) {
	for name, c := range map[string]struct{ entry, want string }{
		"header":    {`{"type":"http","url":"https://h/","headers":{"Authorization":"Bearer x"}}`, "user wrap"},
		"none":      {`{"type":"http","url":"https://h/"}`, "user ask: the client may have to sign in to it, since no header does"},
		"harmless":  {`{"type":"sse","url":"https://h/","headers":{"X-Team":"1"}}`, "user ask: the client may have to sign in to it, since no header does"},
		"filled in": {`{"type":"http","url":"https://h/","headers":{"Authorization":"Bearer ${T}"}}`, "user ask: its headers are filled in by the client"},
		"oauth":     {`{"type":"http","url":"https://h/","headers":{"Authorization":"x"},"oauth":{}}`, "user ask: the client signs in to it itself (oauth)"},
		"helper":    {`{"type":"http","url":"https://h/","headersHelper":"x"}`, "user ask: the client signs in to it itself (headersHelper)"},
		"kind":      {`{"type":"ws","url":"https://h/"}`, `user leave: is written in a form that bir does not know: its type is "ws"`},
		"odd":       {`{"command":["a"]}`, "user leave: is written in a form that bir does not know"},
		"bir":       {stdio, "user leave: the name is kept for bir's own server"},
		"off":       {stdio, "user leave: is disabled in this project"},
		"ours":      {`{"command":"/x/bir-proxy","args":["--server-name","ours","--","srv"]}`, "user wrapped"},
	} {
		l := newLab(t)
		l.config(`{}`, `{"`+name+`":`+c.entry+`}`, `"disabledMcpServers":["off"],`)
		if got := l.found(claude.Host{})[name]; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestAdministratorsRules(t *testing.T) {
	const byName = "user leave: your administrator's settings do not let it start"
	for name, c := range map[string]struct{ file, text, want string }{
		"own servers":       {"managed-mcp.json", `{"mcpServers":{}}`, "user leave: your administrator's managed-mcp.json lets no other server start"},
		"allowed by name":   {"managed-settings.json", `{"allowedMcpServers":[{"serverName":"a"}]}`, "user wrap"},
		"not allowed":       {"managed-settings.json", `{"allowedMcpServers":[]}`, byName},
		"denied":            {"managed-settings.d/10.json", `{"deniedMcpServers":[{"serverName":"a"}]}`, byName},
		"by command":        {"managed-settings.json", `{"allowedMcpServers":[{"serverName":"a"},{"serverCommand":["srv"]}]}`, "user leave: your administrator's settings name servers by command or address, which a wrapped one has not"},
		"denied by address": {"managed-settings.json", `{"deniedMcpServers":[{"serverUrl":"https://h"}]}`, "user leave: your administrator's settings name servers by command or address, which a wrapped one has not"},
		"nothing about it":  {"managed-settings.json", `{"model":"x"}`, "user wrap"},
	} {
		l := newLab(t)
		l.config(`{}`, `{"a":`+stdio+`}`, "")
		l.write(filepath.Join(l.p.Managed, c.file), c.text)
		if got := l.found(claude.Host{})["a"]; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	l := newLab(t)
	l.config(`{}`, `{"a":`+stdio+`}`, "")
	l.write(filepath.Join(l.p.Managed, "managed-settings.json"), `{"allowed`)
	if got := l.found(claude.Host{})["a"]; !strings.Contains(got, "could not be read") {
		t.Errorf("got %q", got)
	}
}

func TestCopiesGoToTheLocalScope(t *testing.T) {
	l := newLab(t)
	l.config(`{"a":`+stdio+`}`, `{"c":`+stdio+`}`, "")
	l.write(filepath.Join(l.p.Root, ".mcp.json"), servers("b"))
	l.write(claude.SettingsFile(l.p, "local"), `{"enableAllProjectMcpServers":true}`)
	type op struct {
		File, Kind string
		Path       []string
	}
	plan := func(inPlace ...string) (ops []op) {
		found, err := claude.Host{InPlace: inPlace}.Servers(l.p)
		if err != nil {
			t.Fatal(err)
		}
		changes, err := hosts.Plan(claude.Name, found, hosts.Choice{Proxy: l.p.Proxy})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			for _, o := range c.Ops {
				ops = append(ops, op{filepath.Base(c.File), o.Kind, o.Path})
			}
		}
		return ops
	}
	at := func(name string) []string { return []string{"projects", l.p.Root, "mcpServers", name} }
	want := []op{{".claude.json", "wrap", at("a")}, {".claude.json", "put", at("b")}, {".claude.json", "put", at("c")}}
	if diff := cmp.Diff(want, plan()); diff != "" {
		t.Error(diff)
	}
	want = []op{{".claude.json", "wrap", at("a")}, {".claude.json", "put", at("c")}, {".mcp.json", "wrap", []string{"mcpServers", "b"}}}
	if diff := cmp.Diff(want, plan("project")); diff != "" {
		t.Error(diff)
	}
	want = []op{{".claude.json", "wrap", at("a")}, {".claude.json", "put", at("b")}, {".claude.json", "wrap", []string{"mcpServers", "c"}}}
	if diff := cmp.Diff(want, plan("user")); diff != "" {
		t.Error(diff)
	}
}

func TestCopyIsHeldAgainstItsOriginal(t *testing.T) {
	const wrapped = `{"type":"stdio","command":"/b/bir-proxy","args":["--server-name","a","--","srv","X"],"env":{}}`
	for name, c := range map[string]struct {
		user   string
		copied bool
		want   string
	}{
		"as it was":         {`{"a":` + stdio + `}`, true, "local wrapped"},
		"edited":            {`{"a":{"command":"other"}}`, true, "local stale"},
		"gone":              {`{}`, true, "local stale"},
		"not a copy at all": {`{"a":{"command":"other"}}`, false, "local wrapped"},
	} {
		l := newLab(t)
		l.p.Copied = func(_ string, path []string) bool { return c.copied && path[len(path)-1] == "a" }
		l.config(`{"a":`+wrapped+`}`, c.user, "")
		if got := l.found(claude.Host{})["a"]; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestProjectFileIsFoundFromBelow(t *testing.T) {
	l := newLab(t)
	l.p.Dir = filepath.Join(l.p.Root, "a", "b")
	l.write(filepath.Join(l.p.Dir, "x"), "")
	l.write(filepath.Join(l.p.Root, ".mcp.json"), servers("top"))
	l.write(filepath.Join(l.p.Root, "a", ".mcp.json"), servers("mid"))
	l.write(filepath.Join(filepath.Dir(l.p.Root), ".mcp.json"), servers("outside"))
	got := l.found(claude.Host{})
	if len(got) != 2 || got["top"] == "" || got["mid"] == "" {
		t.Errorf("got %v", got)
	}
}

func TestProjectIsKeyedAsTheClientKeysIt(t *testing.T) {
	l := newLab(t)
	l.p.OS, l.p.Root = "windows", `C:\Users\dev\fleet`
	l.write(claude.Config(l.p), `{"projects":{"c:/Users/dev/fleet":{"mcpServers":{"a":`+stdio+`}}}}`)
	found, err := claude.Host{}.Servers(l.p)
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	if diff := cmp.Diff([]string{"projects", "c:/Users/dev/fleet", "mcpServers", "a"}, found[0].To.Path); diff != "" {
		t.Error(diff)
	}
}

func TestHooksNeedNoShellAndHoldNoSecret(t *testing.T) {
	l := newLab(t)
	c, err := claude.Hooks{Binary: "/b/bir-hooks", Scope: "local"}.Change(l.p)
	if err != nil {
		t.Fatal(err)
	}
	var pre json.RawMessage
	for _, op := range c.Ops {
		if op.Path[1] == "PreToolUse" {
			pre = op.Value
		}
	}
	if string(pre) != `{"hooks":[{"type":"command","command":"/b/bir-hooks","args":["PreToolUse"],"timeout":15}]}` {
		t.Errorf("got %s", pre)
	}
	if want := filepath.Join(l.p.Root, ".claude", "settings.local.json"); c.File != want {
		t.Errorf("they go to %s", c.File)
	}
}

func TestHooksOverHTTPTakeTheTokenFromTheEnvironment(t *testing.T) {
	l := newLab(t)
	l.write(claude.SettingsFile(l.p, "local"), `{"env":{"NO_PROXY":"corp.example"}}`)
	h := claude.Hooks{Binary: "/b/bir-hooks", Scope: "local", URL: "http://127.0.0.1:5", Token: "hush"}
	c, err := h.Change(l.p)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, op := range c.Ops {
		got[op.Path[1]] = string(op.Value)
		if strings.Contains(string(op.Value), "hush") && !op.Secret {
			t.Errorf("%v would be kept", op.Path)
		}
	}
	for key, want := range map[string]string{
		"NO_PROXY":     `"corp.example,127.0.0.1"`,
		"SessionStart": `{"hooks":[{"type":"command","command":"/b/bir-hooks","args":["SessionStart"],"timeout":5}]}`,
		"Stop": `{"hooks":[{"type":"http","url":"http://127.0.0.1:5/session/stop","headers":{"Authorization":"Bearer $BIR_CONTROL_TOKEN"},` +
			`"allowedEnvVars":["BIR_CONTROL_TOKEN"],"timeout":5}]}`,
	} {
		if got[key] != want {
			t.Errorf("%s: got %s", key, got[key])
		}
	}
	h.Scope = "project"
	if _, err := h.Change(l.p); err == nil {
		t.Error("a token would go into shared settings")
	}
}

func TestHooksAreFound(t *testing.T) {
	l := newLab(t)
	if got := claude.FindHooks(l.p); len(got.Files) != 0 || len(got.Missing) != 0 {
		t.Errorf("got %+v", got)
	}
	c, err := claude.Hooks{Binary: "/b/bir-hooks", Scope: "local"}.Change(l.p)
	if err != nil {
		t.Fatal(err)
	}
	c.Ops = c.Ops[:len(c.Ops)-1]
	if _, err := (hosts.Installer{Home: t.TempDir()}).Install(l.p.Root, "command", []hosts.Change{c}); err != nil {
		t.Fatal(err)
	}
	want := claude.HookState{Files: []string{c.File}, Kind: "command", Binary: "/b/bir-hooks", Missing: []string{"SessionEnd"}}
	if diff := cmp.Diff(want, claude.FindHooks(l.p)); diff != "" {
		t.Error(diff)
	}
	l.write(filepath.Join(l.p.Managed, "managed-settings.json"), `{"allowManagedHooksOnly":true}`)
	if got := claude.FindHooks(l.p); got.Off == "" {
		t.Errorf("got %+v", got)
	}
}
