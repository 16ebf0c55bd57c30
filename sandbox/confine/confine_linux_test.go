package confine_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bir-run/bir/sandbox/confine"
	"github.com/bir-run/bir/sandbox/wire"
)

// asConfined makes this test binary confine itself and try things: it cannot be
// undone in the process of the tests.
const asConfined = "-as-confined"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asConfined {
		held := confine.Process(wire.Setup{MemoryBytes: 64 << 20})
		fmt.Println("held:", strings.Join(held, ", "))
		try(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// try prints what a confined process still can.
func try(dir string) {
	attempt("read", func() error { _, err := os.ReadFile("/etc/hostname"); return err })
	attempt("read own program", func() error { _, err := os.ReadFile("/proc/self/exe"); return err })
	attempt("write", func() error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) })
	attempt("remove", func() error { return os.Remove(filepath.Join(dir, "there")) })
	attempt("run", func() error { return exec.Command("/bin/true").Run() })
	attempt("listen", func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err })
	attempt("connect", func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return err })
	attempt("signal", func() error { return syscall.Kill(os.Getppid(), 0) })
	attempt("raise the limit", func() error {
		return syscall.Setrlimit(2, &syscall.Rlimit{Cur: 1 << 40, Max: 1 << 40}) // RLIMIT_DATA
	})
}

func attempt(name string, f func() error) {
	if err := f(); err == nil || name == "connect" && strings.Contains(err.Error(), "refused") {
		fmt.Println("could:", name)
	}
}

func TestAConfinedProcessReachesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], asConfined, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	if !strings.Contains(string(out), "seccomp") {
		t.Skip("no seccomp on this system")
	}
	for line := range strings.Lines(string(out)) {
		could, ok := strings.CutPrefix(strings.TrimSpace(line), "could: ")
		if ok && (could != "raise the limit" || os.Getuid() != 0) { // root may
			t.Errorf("a confined process could %s", could)
		}
	}
}
