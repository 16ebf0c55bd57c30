//go:build linux && (amd64 || arm64 || riscv64 || loong64)

package confine

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denied are system calls that neither the Go runtime nor the evaluator makes once
// it has started. It is a list of what is refused: the runtime's own needs differ
// between versions and machines, and refusing one of those would be a crash. What
// only older processors have is in older.
var denied = []uint32{
	unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET,
	unix.SYS_EXECVE, unix.SYS_EXECVEAT,
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_KILL,
	unix.SYS_UNLINKAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_MKDIRAT, unix.SYS_MKNODAT,
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_TRUNCATE, unix.SYS_UTIMENSAT,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_CHDIR, unix.SYS_FCHDIR,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID, unix.SYS_SETREGID, unix.SYS_SETRESUID, unix.SYS_SETRESGID, unix.SYS_SETGROUPS,
	unix.SYS_CAPSET, unix.SYS_PERSONALITY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX,
	unix.SYS_INOTIFY_INIT1, unix.SYS_FANOTIFY_INIT,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_MSGGET, unix.SYS_SEMGET, unix.SYS_MQ_OPEN,
}

// denySyscalls binds every thread of the process, those that are still to come too.
func denySyscalls() error {
	program, err := filter(slices.Concat(denied, older))
	if err != nil {
		return err
	}
	if err := noNewPrivileges(); err != nil { // of this very thread, which may be another one by now
		return err
	}
	given := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&given)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return errno
	}
	if thread != 0 {
		return errors.New("a thread could not be bound")
	}
	return nil
}

// Where the kernel puts what a filter judges: struct seccomp_data.
const (
	callAt = 0
	archAt = 4
)

const (
	allow = unix.SECCOMP_RET_ALLOW
	deny  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// x32Calls is where the second numbering begins that a processor may know for the
	// same calls. No other call has a number as high.
	x32Calls = 0x40000000
)

// filter is the program that refuses calls by their number, and all calls in the way of
// another processor, which have other numbers. It searches: at its loading the kernel
// tries it with every number, and a list of comparisons took longer there than all else
// that confines a process.
func filter(denied []uint32) ([]unix.SockFilter, error) {
	search, err := decide(edges(denied), allow, deny)
	if err != nil {
		return nil, err
	}
	return append([]unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: archAt},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: arch, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: deny},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: callAt},
	}, search...), nil
}

// edges are the numbers from which on the answer is another one: the first is where
// calls begin to be denied.
func edges(denied []uint32) []uint32 {
	denied = slices.Compact(slices.Sorted(slices.Values(denied)))
	var all []uint32
	for _, call := range denied {
		if n := len(all); n > 0 && all[n-1] == call {
			all[n-1]++ // the range goes on
			continue
		}
		all = append(all, call, call+1)
	}
	return append(all, x32Calls)
}

// decide finds the place of a number between edges. below is the answer under the first
// of them, and above the one from there to the second; they take turns.
func decide(edges []uint32, below, above uint32) ([]unix.SockFilter, error) {
	if len(edges) == 0 {
		return []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: below}}, nil
	}
	middle := len(edges) / 2
	under, err := decide(edges[:middle], below, above)
	if err != nil {
		return nil, err
	}
	if middle%2 == 0 {
		below, above = above, below
	}
	over, err := decide(edges[middle+1:], below, above)
	if err != nil {
		return nil, err
	}
	if len(under) > math.MaxUint8 {
		return nil, errors.New("the filter is too long for its jumps")
	}
	ask := unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: edges[middle], Jt: uint8(len(under))}
	return slices.Concat([]unix.SockFilter{ask}, under, over), nil
}
