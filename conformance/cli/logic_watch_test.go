package cli

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/built"
)

// TestLogicTestWatchesWhatItReads saves a body twice while bir watches, once so
// that it does not even parse, and ends it as Ctrl-C does.
func TestLogicTestWatchesWhatItReads(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no interrupt that one process can send to another alone")
	}
	bin, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	body := filepath.Join(t.TempDir(), "body.js")
	save := func(text string) {
		if err := os.WriteFile(body, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save("return 1")
	cmd := exec.CommandContext(t.Context(), built.Path(bin, "bir"), "logic", "test", "--kind", "raw", "--body", body, "--watch")
	cmd.Env = append(os.Environ(), "BIR_HOME="+t.TempDir(), "BIR_LOGIC_TIMEOUT_MS="+logicTimeout)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stuck := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	lines := bufio.NewScanner(out)
	waitFor := func(want string) {
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("it ended before it said %q", want)
	}
	waitFor("value 1")
	waitFor("Ctrl-C ends")
	save("return (")
	waitFor("syntax: ")
	save("return 12345")
	waitFor("value 12345")
	waitFor("Ctrl-C ends")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Errorf("after the interrupt it said %q", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
