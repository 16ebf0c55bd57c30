//go:build linux

package demo

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/built"
)

// TestInterruptLeavesNothingBehind presses Ctrl-C in each chapter.
func TestInterruptLeavesNothingBehind(t *testing.T) {
	bin, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	for _, chapter := range []string{"2. ", "4. ", "6. "} {
		dir := t.TempDir()
		cmd := exec.Command(built.Path(bin, "bir"), "demo", "--dir", dir, "--npm", "../npm")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), chapter) {
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Errorf("chapter %s: an interrupted demonstration ended well", chapter)
		}
		for deadline := time.Now().Add(2 * time.Minute); ; {
			left := processesOf(dir)
			if len(left) == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("chapter %s: still running: %q", chapter, left)
			}
		}
	}
}

// processesOf are the command lines of the processes that belong to a folder: they
// name it, or have it in their environment.
func processesOf(dir string) []string {
	var found []string
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, e := range entries {
		environ, _ := os.ReadFile(filepath.Join(e, "environ"))
		line, _ := os.ReadFile(filepath.Join(e, "cmdline"))
		if bytes.Contains(environ, []byte(dir)) || bytes.Contains(line, []byte(dir)) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return found
}
