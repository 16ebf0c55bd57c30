package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Children are the processes that this one has started and not reaped.
func Children(t *testing.T) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		t.Skip("processes are found in /proc")
	}
	var pids []int
	for _, file := range stats {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if p, there := processOf(pid); there && p.parent == os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Stop stops a process and waits until it does: the signal alone is heeded by one thread
// of it, and on a busy machine another one goes on for a while.
func Stop(t *testing.T, pid int, stop func(pid int) error) {
	t.Helper()
	if err := stop(pid); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the process does not stop", func() bool {
		p, there := processOf(pid)
		return !there || p.state == "T"
	})
}

// process is what /proc has of one.
type process struct {
	name   string
	state  string // one letter
	parent int
}

// processOf is a process, if there is one and it can be looked at.
func processOf(pid int) (process, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process{}, false // it has ended
	}
	// pid (name) state ppid …: the name may have spaces and brackets.
	text := string(data)
	end := max(0, strings.LastIndex(text, ") "))
	_, name, named := strings.Cut(text[:end], "(")
	fields := strings.Fields(text[end:]) // ) state ppid …
	if !named || len(fields) < 3 {
		return process{}, false
	}
	parent, err := strconv.Atoi(fields[2])
	return process{name: name, state: fields[1], parent: parent}, err == nil
}
