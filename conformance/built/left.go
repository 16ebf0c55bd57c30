package built

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience is how long processes may take to end on a machine that is busy with much
// else.
const patience = 2 * time.Minute

// Left are the command lines of the processes that belong to a folder: they name it, or
// have it in their environment. Only Linux tells.
func Left(dir string) (found []string) {
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, e := range entries {
		environ, _ := os.ReadFile(filepath.Join(e, "environ"))
		line, _ := os.ReadFile(filepath.Join(e, "cmdline"))
		if bytes.Contains(environ, []byte(dir)) || bytes.Contains(line, []byte(dir)) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// AwaitNone stops what belongs to a folder until nothing is left: what was just being
// started when it was stopped, such as a control server by a proxy, comes later.
func AwaitNone(t testing.TB, dir string, stop func()) {
	t.Helper()
	for until := time.Now().Add(patience); ; runtime.Gosched() {
		stop()
		left := Left(dir)
		if len(left) == 0 {
			return
		}
		if time.Now().After(until) {
			t.Errorf("still running: %q", left)
			return
		}
	}
}
