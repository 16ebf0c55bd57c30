package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/off"
)

func TestSessionStartStartsTheControlServerOnce(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.install("bir-control")
	file := b.serve(saying(`{"a":1}`))
	if out := b.run("SessionStart", payload, announceVar+"="+encode(t, file)); out != `{"a":1}` {
		t.Errorf("printed %q", out)
	}
	b.run("SessionStart", payload)
	b.run("PreToolUse", payload)
	if diff := cmp.Diff([]string{"--root " + b.project + " --detach"}, b.starts()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/session/start", "/session/start", "/tool/pre"}, b.paths()); diff != "" {
		t.Error(diff)
	}
}

func TestOnlySessionStartStartsTheControlServer(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.install("bir-control")
	for _, name := range []string{"UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd", "Setup"} {
		b.run(name, payload)
	}
	if starts := b.starts(); len(starts) > 0 {
		t.Errorf("started %q", starts)
	}
}

func TestDeadControlServerIsReplaced(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.install("bir-control")
	b.announce(locate.File{URL: "http://127.0.0.1:1", Token: "x", PID: 1 << 30, Version: "v2"})
	file := b.serve(saying(`{"a":1}`))
	if out := b.run("SessionStart", payload, announceVar+"="+encode(t, file)); out != `{"a":1}` {
		t.Errorf("printed %q", out)
	}
	if len(b.starts()) != 1 {
		t.Errorf("started %q", b.starts())
	}
}

// TestOtherVersionIsHandedOver: which one stays is for bir-control to say.
func TestOtherVersionIsHandedOver(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.install("bir-control")
	file := b.serve(saying(`{"a":1}`))
	file.Version = "v1"
	b.announce(file)
	if out := b.run("SessionStart", payload); out != `{"a":1}` {
		t.Errorf("printed %q", out)
	}
	b.run("PreToolUse", payload)
	if len(b.starts()) != 1 {
		t.Errorf("started %q", b.starts())
	}
}

func TestStoppedControlServerStaysStopped(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.install("bir-control")
	b.write(locate.StoppedPath(b.home, b.project), "", 0o600)
	if out := b.run("SessionStart", payload); out != "" {
		t.Errorf("printed %q", out)
	}
	file := b.serve(saying(`{"a":1}`))
	file.Version = "v1"
	b.announce(file) // it is still ending
	if out := b.run("SessionStart", payload); out != `{"a":1}` {
		t.Errorf("printed %q", out)
	}
	if starts := b.starts(); len(starts) > 0 {
		t.Errorf("started %q", starts)
	}
}

func TestControlServerThatCannotStartIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(b *bed){
		"no bir-control": func(*bed) {},
		"not a program":  func(b *bed) { b.write(filepath.Join(b.dir, "bir-control"), "not a program", 0o700) },
		"a folder":       func(b *bed) { os.Mkdir(filepath.Join(b.dir, "bir-control"), 0o700) },
	} {
		b := newBed(t)
		prepare(b)
		if out := b.run("SessionStart", payload); out != "" {
			t.Errorf("%s: printed %q", name, out)
		}
	}
}

// TestControlServerThatHangsIsNotWaitedFor: what was to replace an older one does not
// end, so that the older one is asked.
func TestControlServerThatHangsIsNotWaitedFor(t *testing.T) {
	b := newBed(t)
	b.install("bir-control")
	holder, err := net.Listen("unix", filepath.Join(b.socketDir, "holder")) // its end ends what hangs
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	file := b.serve(saying(`{"a":1}`))
	file.Version = "v1"
	b.announce(file)
	t.Setenv(startsVar, b.startLog)
	t.Setenv(hangVar, holder.Addr().String())
	h := hook{name: "SessionStart", home: b.home, project: b.project, version: "v2",
		began: time.Now().Add(time.Minute), startWait: 100 * time.Millisecond,
		executable: func() (string, error) { return filepath.Join(b.dir, "bir-hooks"), nil }}
	if out, err := h.run(strings.NewReader(payload)); err != nil || string(out) != `{"a":1}` {
		t.Errorf("printed %q, error %v", out, err)
	}
	child, err := holder.Accept() // it was started, and is there still
	if err != nil {
		t.Fatal(err)
	}
	child.Close()
}

// TestSwitchIsReadAsItIsWritten holds the reading here against package off.
func TestSwitchIsReadAsItIsWritten(t *testing.T) {
	home, project := t.TempDir(), real(t.TempDir())
	link := filepath.Join(t.TempDir(), "é \"link\"")
	if err := os.Symlink(project, link); err != nil {
		t.Skip("no symbolic links here")
	}
	for _, c := range []struct {
		name, thrown, asked string
		off                 bool
	}{
		{"the folder", project, project, true},
		{"a link to it", link, project, true},
		{"by the link", project, link, true},
		{"the link itself", link, link, true},
		{"another", filepath.Dir(link), project, false},
		{"everywhere", "", project, true},
	} {
		if _, err := off.Set(home, "", false); err != nil {
			t.Fatal(err)
		}
		if turnedOff(home, c.asked) {
			t.Errorf("%s: off though it is on", c.name)
		}
		if _, err := off.Set(home, c.thrown, true); err != nil {
			t.Fatal(err)
		}
		if got := turnedOff(home, c.asked); got != c.off {
			t.Errorf("%s: off %v, want %v", c.name, got, c.off)
		}
	}
}
