package repl

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
)

const maxHistory = 1000 // lines

// History keeps what was typed, in a file that only its owner reads: lines may hold
// recorded values.
type History struct {
	path  string
	lines []string // the newest last
}

// OpenHistory reads a history. A file that cannot be read is an empty one: the
// history is a comfort, and must not keep anyone from working.
func OpenHistory(path string) *History {
	h := &History{path: path}
	file, err := os.Open(path)
	if err != nil {
		return h
	}
	defer file.Close()
	for scan := bufio.NewScanner(file); scan.Scan(); {
		h.Add(scan.Text())
	}
	h.lines = h.lines[max(0, len(h.lines)-maxHistory):]
	return h
}

// Add keeps a line, unless it repeats the one before.
func (h *History) Add(line string) {
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
}

// Len is the number of lines.
func (h *History) Len() int { return len(h.lines) }

// At is the i-th newest line.
func (h *History) At(i int) string { return h.lines[len(h.lines)-1-i] }

// Save writes the history.
func (h *History) Save() error {
	if len(h.lines) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	lines := h.lines[max(0, len(h.lines)-maxHistory):]
	return os.WriteFile(h.path, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}
