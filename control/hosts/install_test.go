package hosts_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/claude"
	"github.com/bir-run/bir/control/hosts/files"
	"github.com/bir-run/bir/control/hosts/journal"
	"github.com/bir-run/bir/control/hosts/shape"
)

const root = "/work"

// lab is a folder with one configuration and a BIR_HOME.
type lab struct {
	t    *testing.T
	in   hosts.Installer
	file string
}

func newLab(t *testing.T, text string) lab {
	t.Helper()
	dir := t.TempDir()
	l := lab{t, hosts.Installer{Home: filepath.Join(dir, "home"), NowMS: 1}, filepath.Join(dir, "claude.json")}
	if text != "" {
		l.write(text)
	}
	return l
}

func (l lab) write(text string) {
	l.t.Helper()
	if err := os.WriteFile(l.file, []byte(text), 0o640); err != nil {
		l.t.Fatal(err)
	}
}

func (l lab) read() string {
	l.t.Helper()
	text, err := os.ReadFile(l.file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		l.t.Fatal(err)
	}
	return string(text)
}

func (l lab) change(ops ...hosts.Op) []hosts.Change {
	return []hosts.Change{{Host: claude.Name, File: l.file, Format: hosts.JSON, Shape: &claude.Shape, Ops: ops}}
}

func (l lab) install(ops ...hosts.Op) {
	l.t.Helper()
	if _, err := l.in.Install(root, "", l.change(ops...)); err != nil {
		l.t.Fatal(err)
	}
}

func (l lab) uninstall() []hosts.Done {
	l.t.Helper()
	done, err := l.in.Uninstall(root, "")
	if err != nil {
		l.t.Fatal(err)
	}
	return done
}

func (l lab) journal() string {
	l.t.Helper()
	text, err := os.ReadFile(journal.Path(l.in.Home))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(text)
}

func wrapOp(name string) hosts.Op {
	return hosts.Op{Kind: journal.Wrap, Path: []string{"mcpServers", name}, Server: name, Wrap: shape.Wrap{Proxy: "/b/bir-proxy", Name: name}}
}

func copyOp(name string) hosts.Op {
	return hosts.Op{Kind: journal.Put, Path: []string{"projects", root, "mcpServers", name}, Server: name,
		Value: json.RawMessage(`{"command":"/b/bir-proxy","args":["--server-name","` + name + `","--","srv"],"env":{"K":"hush"}}`)}
}

func hookOp(event string) hosts.Op {
	return hosts.Op{Kind: journal.Add, Path: []string{"hooks", event}, Value: json.RawMessage(`{"hooks":[{"type":"command","command":"/b/bir-hooks","args":["` + event + `"]}]}`)}
}

const config = `{
  "mcpServers": {
    "fs": {"command": "npx", "args": ["-y", "hush"]},
    "web": {
      "type": "http",
      "url": "https://h/?k=hush",
      "headers": {"Authorization": "Bearer hush"}
    }
  },
  "n": 1.50
}
`

func TestUninstallGivesTheSameBytesBack(t *testing.T) {
	l := newLab(t, config)
	l.install(wrapOp("fs"), wrapOp("web"), copyOp("fs"), hookOp("Stop"))
	if text := l.read(); !strings.Contains(text, "bir-hooks") || !strings.Contains(text, "1.50") || strings.Count(text, "bir-proxy") != 3 {
		t.Fatalf("installed:\n%s", text)
	}
	if strings.Contains(l.journal(), "hush") {
		t.Errorf("the journal has a credential:\n%s", l.journal())
	}
	installed := l.read()
	done, err := l.in.Install(root, "", l.change(wrapOp("fs"), wrapOp("web"), copyOp("fs"), hookOp("Stop")))
	if err != nil || len(done) != 0 || l.read() != installed {
		t.Errorf("a second install changed something: %v %v", done, err)
	}
	if done := l.uninstall(); len(done) != 1 || !done[0].Exact {
		t.Errorf("got %+v", done)
	}
	if diff := cmp.Diff(config, l.read()); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(l.file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if strings.Contains(l.journal(), l.file) {
		t.Error("the journal still knows the file")
	}
}

func TestTwoInstallsAreTakenBackTogether(t *testing.T) {
	l := newLab(t, config)
	l.install(wrapOp("fs"))
	l.install(wrapOp("web"), hookOp("Stop"))
	l.uninstall()
	if diff := cmp.Diff(config, l.read()); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAClientWroteSinceStays(t *testing.T) {
	l := newLab(t, config)
	l.install(wrapOp("fs"), wrapOp("web"), copyOp("fs"), hookOp("Stop"))
	var all map[string]any // written anew, as a client does, with keys of its own
	if err := json.Unmarshal([]byte(l.read()), &all); err != nil {
		t.Fatal(err)
	}
	all["numStartups"] = 2
	all["projects"].(map[string]any)[root].(map[string]any)["allowedTools"] = []string{}
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	l.write(string(text))
	l.uninstall()
	var got any
	if err := json.Unmarshal([]byte(l.read()), &got); err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(config), &want); err != nil {
		t.Fatal(err)
	}
	want["numStartups"] = 2.0
	want["projects"] = map[string]any{root: map[string]any{"allowedTools": []any{}}}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestSomebodyElsesEntriesAreLeft(t *testing.T) {
	l := newLab(t, `{"mcpServers":{"fs":{"command":"a"}}}`)
	l.install(wrapOp("fs"), hookOp("Stop"), copyOp("fs"))
	l.write(`{"mcpServers":{"fs":{"command":"mine"}},"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"command","command":"mine"},` +
		`{"args":["Stop"],"command":"/b/bir-hooks","type":"command"}]}]}}`)
	l.uninstall()
	want := `{"mcpServers":{"fs":{"command":"mine"}},"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"command","command":"mine"}]}]}}`
	if diff := cmp.Diff(want, l.read()); diff != "" {
		t.Error(diff)
	}
}

func TestFileThatBirMadeGoes(t *testing.T) {
	for name, touch := range map[string]func(lab){
		"as it was left":  func(lab) {},
		"after a rewrite": func(l lab) { l.write(strings.ReplaceAll(l.read(), "  ", "\t")) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "")
			l.file = filepath.Join(filepath.Dir(l.file), ".claude", "settings.json")
			l.install(hookOp("Stop"))
			touch(l)
			l.uninstall()
			if _, err := os.Stat(filepath.Dir(l.file)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("it is there: %s", l.read())
			}
		})
	}
}

func TestUnknownFormStopsEverything(t *testing.T) {
	for _, text := range []string{`[]`, `{"mcpServers":{"fs":7}}`, `{"mcpServers":{"fs":{"command":1}}}`, `{"mcpServers":{},"mcpServers":{}}`, `nothing`} {
		l := newLab(t, text)
		other := filepath.Join(t.TempDir(), "settings.json")
		changes := append([]hosts.Change{{Host: claude.Name, File: other, Format: hosts.JSON, Ops: []hosts.Op{hookOp("Stop")}}}, l.change(wrapOp("fs"))...)
		if _, err := l.in.Install(root, "", changes); err == nil {
			t.Errorf("%s was taken", text)
		}
		if _, err := os.Stat(other); l.read() != text || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: something was written", text)
		}
	}
}

// TestInterruptedInstallIsFinishedOrUndone stops an install after its note, and looks
// at what the next command makes of it.
func TestInterruptedInstallIsFinishedOrUndone(t *testing.T) {
	killed := errors.New("killed")
	for name, after := range map[string]func(l lab, old string){
		"written":                    func(lab, string) {},
		"not written":                func(l lab, old string) { l.write(old) },
		"written, then by a client":  func(l lab, _ string) { l.write(strings.Replace(l.read(), "1.50", "1.51", 1)) },
		"written by a client before": func(l lab, old string) { l.write(strings.Replace(old, "1.50", "1.51", 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, config)
			in := l.in
			in.Wrote = func(string) error { return killed }
			if _, err := in.Install(root, "", l.change(wrapOp("fs"), wrapOp("web"))); !errors.Is(err, killed) {
				t.Fatal(err)
			}
			after(l, config)
			left := filepath.Join(filepath.Dir(l.file), ".claude.json.bir-1") // of a process that was killed
			if err := os.WriteFile(left, []byte("hush"), 0o600); err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(config, "1.50", "1.51", strings.Count(l.read(), "1.51"))
			l.uninstall()
			if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
				t.Error("what the killed process left is still there")
			}
			if want == config {
				if diff := cmp.Diff(want, l.read()); diff != "" {
					t.Error(diff)
				}
			} else if strings.Contains(l.read(), "bir-proxy") || !strings.Contains(l.read(), "1.51") {
				t.Errorf("left:\n%s", l.read())
			}
		})
	}
}

// TestInterruptedUninstallIsRunAgain leaves the journal as it was before the file was
// written.
func TestInterruptedUninstallIsRunAgain(t *testing.T) {
	l := newLab(t, config)
	l.install(wrapOp("fs"))
	note := l.journal()
	l.uninstall()
	if err := os.WriteFile(journal.Path(l.in.Home), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	l.uninstall()
	if l.read() != config || strings.Contains(l.journal(), l.file) {
		t.Errorf("left:\n%s\n%s", l.read(), l.journal())
	}
}

func TestOtherHooksTakeThePlaceOfOldOnes(t *testing.T) {
	l := newLab(t, `{"a":1}`)
	l.install(hookOp("Stop"), hookOp("PreToolUse"))
	moved := hookOp("Stop")
	moved.Value = json.RawMessage(strings.Replace(string(moved.Value), "/b/", "/new/", 1))
	l.install(moved)
	if text := l.read(); strings.Contains(text, "/b/") || strings.Count(text, "bir-hooks") != 1 {
		t.Errorf("got %s", text)
	}
	l.uninstall()
	if l.read() != `{"a":1}` {
		t.Errorf("got %s", l.read())
	}
}

func TestSecretIsNotKeptAndClosesTheFile(t *testing.T) {
	l := newLab(t, `{"a":1}`)
	secret := hosts.Op{Kind: journal.Put, Path: []string{"env", "T"}, Value: json.RawMessage(`"hush"`), Secret: true}
	l.install(secret)
	info, err := os.Stat(l.file)
	if err != nil || info.Mode().Perm() != 0o600 || strings.Contains(l.journal(), "hush") {
		t.Errorf("%v %v\n%s", info.Mode(), err, l.journal())
	}
	l.uninstall()
	if info, err = os.Stat(l.file); err != nil || info.Mode().Perm() != 0o640 || l.read() != `{"a":1}` {
		t.Errorf("%v %v %s", info.Mode(), err, l.read())
	}
}

func TestSymbolicLinkIsFollowed(t *testing.T) {
	l := newLab(t, config)
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(l.file, link); err != nil {
		t.Skip(err)
	}
	real := l
	l.file = link
	l.install(wrapOp("fs"))
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(real.read(), "bir-proxy") {
		t.Fatalf("%v %v\n%s", info, err, real.read())
	}
	l.uninstall()
	if real.read() != config {
		t.Error("not as it was")
	}
}

func TestFileRewrittenMeanwhileIsLeft(t *testing.T) {
	l := newLab(t, config)
	f, err := files.Read(l.file)
	if err != nil {
		t.Fatal(err)
	}
	l.write(`{}`)
	if err := f.Write([]byte("x")); !errors.Is(err, files.ErrChanged) || l.read() != `{}` {
		t.Errorf("%v, %s", err, l.read())
	}
	if err := f.Remove(); !errors.Is(err, files.ErrChanged) {
		t.Error(err)
	}
}
