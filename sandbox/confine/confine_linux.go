package confine

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
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
		{"no new privileges", seccomp.SetNoNewPrivs},
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

// denied are system calls that neither the Go runtime nor the evaluator makes once
// it has started. It is a list of what is refused: the runtime's own needs differ
// between versions and machines, and refusing one of those would be a crash.
var denied = []string{
	"open", "openat", "openat2", "creat", "open_by_handle_at", "memfd_create", "memfd_secret",
	"execve", "execveat", "fork", "vfork",
	"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto", "sendmsg", "sendmmsg",
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "kill",
	"unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "mkdir", "mkdirat", "rmdir",
	"mknod", "mknodat", "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "truncate", "utimensat",
	"mount", "umount2", "pivot_root", "chroot", "chdir", "fchdir", "open_tree", "move_mount", "fsopen", "fsmount", "unshare", "setns",
	"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "capset", "personality",
	"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register",
	"keyctl", "add_key", "request_key", "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
	"swapon", "swapoff", "acct", "syslog", "settimeofday", "clock_settime", "adjtimex", "inotify_init1", "fanotify_init",
	"shmget", "shmat", "msgget", "semget", "mq_open",
}

func denySyscalls() error {
	info, err := arch.GetInfo("")
	if err != nil {
		return err
	}
	var names []string
	for _, name := range denied {
		if _, exists := info.SyscallNames[name]; exists {
			names = append(names, name)
		}
	}
	return seccomp.LoadFilter(seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionAllow,
			Syscalls:      []seccomp.SyscallGroup{{Action: seccomp.ActionErrno, Names: names}},
		},
	})
}
