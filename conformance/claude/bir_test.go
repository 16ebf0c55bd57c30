//go:build linux

package claude

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/control/client/event"
)

// bin is the path of one of bir's programs, freshly built.
func (l *lab) bin(name string) string {
	l.Helper()
	dir, err := built.Dir()
	if err != nil {
		l.Fatal(err)
	}
	return built.Path(dir, name)
}

// bir runs a command of bir's in the project, which must succeed.
func (l *lab) bir(args ...string) string {
	l.Helper()
	cmd := exec.Command(l.bin("bir"), args...)
	cmd.Dir, cmd.Env = l.project, l.environ("dumb")
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		l.Fatalf("bir %s: %v\n%s%s", strings.Join(args, " "), err, complaints.String(), out.String())
	}
	return out.String()
}

// install puts bir into the project.
func (l *lab) install() {
	l.Helper()
	if out := l.bir("--help"); !strings.Contains(out, "\n  up ") {
		l.Skip("there is no bir up yet")
	}
	l.Cleanup(l.nothingIsLeft)
	l.write("vans/.claude/settings.local.json", l.hooks())
	l.write(".claude.json", l.wrapped())
	l.bir("up")
}

// hooks are the settings that have every event told by a command.
func (l *lab) hooks() string {
	all := map[string]any{}
	for _, e := range event.All() {
		all[e.Name] = []any{map[string]any{"hooks": []any{l.hook(e)}}}
	}
	return indent(l, map[string]any{"hooks": all})
}

func (l *lab) hook(e event.Event) map[string]any {
	hook := map[string]any{"type": "command", "command": l.bin("bir-hooks"), "args": []string{e.Name}, "timeout": int(e.Timeout.Seconds())}
	if e.Async {
		hook["async"] = true
	}
	return hook
}

// birHome is where bir keeps its data in this lab.
func (l *lab) birHome() string { return filepath.Join(l.home, ".baseinstrunner") }

// wrapped is the account's configuration with a proxied copy of each server in local
// scope, which beats the project's own.
func (l *lab) wrapped() string {
	var project struct {
		Servers map[string]map[string]any `json:"mcpServers"`
	}
	l.readJSON(filepath.Join(l.project, ".mcp.json"), &project)
	for name, s := range project.Servers {
		args := []any{"--server-name", name, "--", s["command"]}
		s["command"], s["args"] = l.bin("bir-proxy"), append(args, s["args"].([]any)...)
	}
	var account map[string]any
	l.readJSON(filepath.Join(l.home, ".claude.json"), &account)
	account["projects"].(map[string]any)[l.project].(map[string]any)["mcpServers"] = project.Servers
	return indent(l, account)
}

func (l *lab) readJSON(path string, into any) {
	l.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		l.Fatal(err)
	}
}

// nothingIsLeft stops bir as its user does, and fails the test where a process of this
// lab still lives.
func (l *lab) nothingIsLeft() {
	l.bir("down")
	l.bir("down", "--service")
	for _, p := range l.processes() {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(p) + "/cmdline") // empty where it has ended since
		l.Errorf("after bir down, process %d still runs: %s", p, bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
}

// processes are those whose home is this lab's.
func (l *lab) processes() []int {
	folders, err := os.ReadDir("/proc")
	if err != nil {
		l.Fatal(err)
	}
	var all []int
	for _, f := range folders {
		pid, err := strconv.Atoi(f.Name())
		if err != nil {
			continue
		}
		environ, err := os.ReadFile("/proc/" + f.Name() + "/environ")
		if err == nil && bytes.Contains(environ, []byte("HOME="+l.home+"\x00")) {
			all = append(all, pid)
		}
	}
	return all
}
