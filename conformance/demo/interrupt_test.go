//go:build linux

package demo

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

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
		built.AwaitNone(t, dir, func() {})
	}
}
