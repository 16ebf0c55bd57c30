package confine

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// measures are in the order in which they must be taken: after the last ones
// nothing can be opened any more.
func measures(memoryBytes int64) []measure {
	return []measure{
		{"heap watch", func() error { return goMemory(memoryBytes) }},
		{"low priority", lowPriority},
		{"memory limit", func() error { return limitData(memoryBytes) }},
		{"no core dump", func() error { return limit(unix.RLIMIT_CORE, 0) }},
		{"no new privileges", noNewPrivileges},
		{"landlock", func() error { return landlock.V6.BestEffort().Restrict() }},
		{"seccomp", denySyscalls},
	}
}

// niceness leaves the machine to the session that the evaluator serves, and no more
// than that: at 10 a body gets a tenth of a busy core, and an honest one ran into its
// second of wall time; at 5 it gets a quarter.
const niceness = 5

// lowPriority applies to the group, which is this process alone: for a process,
// Linux would change the calling thread only.
func lowPriority() error {
	if unix.Getpgrp() != unix.Getpid() {
		return fmt.Errorf("not in a process group of its own")
	}
	return unix.Setpriority(unix.PRIO_PGRP, 0, niceness)
}

// noNewPrivileges is what both of the last measures ask of a thread.
func noNewPrivileges() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// dataSlack is room for stacks, for garbage and for a slice that is copied as it
// grows, beyond twice the cap.
const dataSlack = 32 << 20

// limitData caps what the process may map for data. It is not RLIMIT_AS, since the
// Go runtime reserves address space that it never uses.
func limitData(memoryBytes int64) error {
	used, err := dataBytes()
	if err != nil {
		return err
	}
	return limit(unix.RLIMIT_DATA, uint64(used+2*memoryBytes+dataSlack))
}

func limit(resource int, value uint64) error {
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value})
}

// dataBytes is what RLIMIT_DATA counts of this process now.
func dataBytes() (int64, error) {
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(status))
	const dataField = 5 // data and stack, in pages
	if len(fields) <= dataField {
		return 0, fmt.Errorf("statm has %d fields", len(fields))
	}
	pages, err := strconv.ParseInt(fields[dataField], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
