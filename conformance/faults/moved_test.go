//go:build unix

package faults

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// moved is how many bytes a process has read and written.
func moved(t *testing.T, pid int) (bytes int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		t.Skip("no /proc here")
	}
	for line := range strings.Lines(string(text)) {
		var n int
		if _, err := fmt.Sscanf(line, "rchar: %d", &n); err == nil {
			bytes += n
		}
		if _, err := fmt.Sscanf(line, "wchar: %d", &n); err == nil {
			bytes += n
		}
	}
	return bytes
}
