//go:build linux

package claude

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/control/client/locate"
)

// bin is the path of one of bir's programs, freshly built. Each lab has names of its own
// for them, which it can put to other use.
func (l *lab) bin(name string) string {
	l.Helper()
	dir, err := built.Dir()
	if err != nil {
		l.Fatal(err)
	}
	own := filepath.Join(l.dir, "bin")
	if err := os.Mkdir(own, 0o755); errors.Is(err, os.ErrExist) {
		return filepath.Join(own, name)
	}
	programs, err := os.ReadDir(dir)
	if err != nil {
		l.Fatal(err)
	}
	for _, p := range programs {
		if err := os.Link(filepath.Join(dir, p.Name()), filepath.Join(own, p.Name())); err != nil {
			l.Fatal(err)
		}
	}
	return filepath.Join(own, name)
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

// install puts bir into the project, as its user does: by a command, or by bir setup.
func (l *lab) install(command ...string) {
	l.Helper()
	l.warmUp()
	l.Cleanup(l.nothingIsLeft)
	if command == nil {
		command = []string{"setup", "--yes"}
	}
	l.bir(command...)
}

// warm is a home in which everything is compiled that bir compiles ahead: that takes
// seconds, and happens once for each process.
var warm = sync.OnceValues(func() (string, error) {
	dir, err := built.Dir()
	if err != nil {
		return "", err
	}
	home, err := os.MkdirTemp("", "bir-claude-warm-")
	if err != nil {
		return "", err
	}
	for _, args := range [][]string{{"up"}, {"down"}, {"down", "--service"}} {
		cmd := exec.Command(built.Path(dir, "bir"), args...)
		cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		if out, err := cmd.CombinedOutput(); err != nil {
			return home, fmt.Errorf("bir %s: %w: %s", args[0], err, out)
		}
	}
	return home, nil
})

// coolDown removes the home with what is compiled, if it was made.
func coolDown() {
	if home, err := warm(); err == nil {
		os.RemoveAll(home)
	}
}

// warmUp gives the lab what is compiled.
func (l *lab) warmUp() {
	l.Helper()
	home, err := warm()
	if err != nil {
		l.Fatal(err)
	}
	if err := os.MkdirAll(l.birHome(), 0o700); err != nil {
		l.Fatal(err)
	}
	cache := filepath.Join(home, ".baseinstrunner", "cache")
	if out, err := exec.Command("cp", "-al", cache, l.birHome()).CombinedOutput(); err != nil {
		l.Fatalf("link what is compiled: %v: %s", err, out)
	}
}

// birHome is where bir keeps its data in this lab.
func (l *lab) birHome() string { return filepath.Join(l.home, ".baseinstrunner") }

// nothingIsLeft takes bir out as its user does, and fails the test where the settings
// are not what they were or a process of this lab still lives.
func (l *lab) nothingIsLeft() {
	l.bir("uninstall")
	if got := l.text("vans/.claude/settings.local.json"); got != l.settings {
		l.Errorf("after bir uninstall, the settings are\n%s\nwant\n%s", got, l.settings)
	}
	if got := l.text(".claude.json"); strings.Contains(got, "bir-proxy") {
		l.Errorf("after bir uninstall, a server is still wrapped:\n%s", got)
	}
	l.bir("down")
	l.bir("down", "--service")
	// One that was told to stop is given the time for it.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); len(l.processes()) > 0; {
		select {
		case <-tick.C:
			continue
		case <-deadline:
		}
		break
	}
	for _, p := range l.processes() {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(p) + "/cmdline") // empty where it has ended since
		l.Errorf("after bir down, process %d still runs: %s", p, bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		_ = syscall.Kill(p, syscall.SIGKILL)
	}
}

// text is a file below the home, empty where there is none.
func (l *lab) text(name string) string {
	l.Helper()
	text, err := os.ReadFile(filepath.Join(l.home, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		l.Fatal(err)
	}
	return string(text)
}

// server is where the project's control server is.
func (l *lab) server() locate.File {
	l.Helper()
	file, err := locate.Read(l.birHome(), l.project)
	if err != nil {
		l.Fatal(err)
	}
	return file
}

// breakHooks puts a program in the place of bir-hooks that only fails.
func (l *lab) breakHooks() {
	l.Helper()
	path := l.bin("bir-hooks")
	if err := os.Remove(path); err != nil { // a link, which other labs have, too
		l.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho broken >&2\nexit 1\n"), 0o755); err != nil {
		l.Fatal(err)
	}
}

// killServer ends the project's control server without a word.
func (l *lab) killServer() {
	l.Helper()
	if err := syscall.Kill(l.server().PID, syscall.SIGKILL); err != nil {
		l.Fatal(err)
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
