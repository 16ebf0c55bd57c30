package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/control/client/locate"
)

// projectIn is a project in a home of its own.
func projectIn(t *testing.T, e env.Env) *project {
	t.Helper()
	e.Home = t.TempDir()
	if err := os.MkdirAll(locate.Dir(e.Home), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return newProject(&proxy{env: e, dir: dir, executable: filepath.Join(dir, "bir-proxy"), log: slog.New(slog.DiscardHandler)})
}

func (j *project) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (j *project) announce(t *testing.T, url string, pid int) {
	j.write(t, locate.Path(j.home, j.root), fmt.Sprintf(`{"url":%q,"token":"t","pid":%d}`, url, pid))
}

func (j *project) install(t *testing.T, root string) {
	key, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	j.write(t, filepath.Join(j.home, "installed.json"), `{"version":1,"projects":{`+string(key)+`:{"later":1}}}`)
}

func TestControlServersAreFoundByEnvironmentAndFile(t *testing.T) {
	const url, token = "http://127.0.0.1:4000", "t"
	for _, c := range []struct {
		name  string
		env   env.Env
		file  string
		found int
	}{
		{"nothing", env.Env{}, "", 0},
		{"a file", env.Env{}, url, 1},
		{"a file that leads elsewhere", env.Env{}, "http://192.0.2.7:4000", 0},
		{"the environment", env.Env{ControlURL: url, ControlToken: token}, "", 1},
		{"both", env.Env{ControlURL: url, ControlToken: token}, url, 2},
		{"an address without a token", env.Env{ControlURL: url}, "", 0},
		{"an address elsewhere", env.Env{ControlURL: "http://192.0.2.7:1", ControlToken: token}, url, 1},
	} {
		j := projectIn(t, c.env)
		if c.file != "" {
			j.announce(t, c.file, 1)
		}
		links := j.find()
		for _, link := range links {
			link.Close()
		}
		if len(links) != c.found || j.setUp() != (c.found > 0) {
			t.Errorf("%s: %d found, set up %v", c.name, len(links), j.setUp())
		}
	}
}

func TestAProjectIsInstalledUnderItsRoot(t *testing.T) {
	j := projectIn(t, env.Env{})
	if j.installed() || j.setUp() {
		t.Error("installed without a record of it")
	}
	j.install(t, filepath.Join(j.root, "below"))
	if j.installed() {
		t.Error("installed by another root")
	}
	j.install(t, j.root)
	if !j.installed() || !j.setUp() {
		t.Error("not installed")
	}
	j.write(t, filepath.Join(j.home, "installed.json"), "{damaged")
	if j.installed() {
		t.Error("installed by a damaged record")
	}
}

// deadPID is the number of a process that has ended.
func deadPID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // or it would take a second more
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func TestOnlyADeadControlServerThatNobodyStoppedIsRevived(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program in the place of bir-control is a shell script")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	// Nobody listens on port 1, nor could without being root.
	gone, there := "http://127.0.0.1:1", "http://"+listener.Addr().String()
	for _, c := range []struct {
		name    string
		prepare func(j *project)
		want    bool
	}{
		{"dead", func(j *project) { j.install(t, j.root); j.announce(t, gone, deadPID(t)) }, true},
		{"not installed", func(j *project) { j.announce(t, gone, deadPID(t)) }, false},
		{"left in order", func(j *project) { j.install(t, j.root) }, false},
		{"still runs", func(j *project) { j.install(t, j.root); j.announce(t, gone, os.Getpid()) }, false},
		{"still answers", func(j *project) { j.install(t, j.root); j.announce(t, there, deadPID(t)) }, false},
		{"stopped", func(j *project) {
			j.install(t, j.root)
			j.announce(t, gone, deadPID(t))
			j.write(t, locate.StoppedPath(j.home, j.root), "")
		}, false},
	} {
		j := projectIn(t, env.Env{})
		c.prepare(j)
		called := filepath.Join(j.root, "called")
		script := "#!/bin/sh\necho \"$@\" > '" + called + ".new' && mv '" + called + ".new' '" + called + "'\n"
		if err := os.WriteFile(filepath.Join(filepath.Dir(j.executable), "bir-control"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := j.revive(); got != c.want {
			t.Errorf("%s: revived %v", c.name, got)
			continue
		}
		if c.want {
			awaitFile(t, called, "--root "+j.root+" --detach\n")
		}
	}
}

func awaitFile(t *testing.T, path, want string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); runtime.Gosched() {
		if text, err := os.ReadFile(path); err == nil {
			if string(text) != want {
				t.Errorf("called with %q, want %q", text, want)
			}
			return
		}
	}
	t.Error("the program was not called")
}

func TestAUserScopeEntryMayRecordOnlyWhereBirWasInstalled(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{"-- x", "false"}, {"--user-scope -- x", "true"}, {"--user-scope --standalone -- x", "false"},
	} {
		cfg, err := parseFlags(strings.Fields(c.flags))
		if err != nil {
			t.Fatal(err)
		}
		p := &proxy{config: cfg, env: env.Env{Home: t.TempDir()}, dir: t.TempDir(), log: slog.New(slog.DiscardHandler)}
		if got := fmt.Sprint(p.recordsNothingAlone(newProject(p))); got != c.want {
			t.Errorf("%s: %s", c.flags, got)
		}
	}
}
