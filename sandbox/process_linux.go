package sandbox

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ownProcessGroup keeps a terminal's signals away from the worker. Pdeathsig ends
// it with this process even if a body keeps it from seeing its input end.
func ownProcessGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// residentBytes is what a process has in memory, 0 if that cannot be read.
func residentBytes(pid int) int64 {
	statm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(statm))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// pipe is a pipe whose ends block, and that the runtime's poller never sees. Whoever
// reads an answer holds a thread, and the kernel wakes that thread as the worker
// writes; through the poller it takes half as long again.
func pipe() (read, write *os.File, err error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	return os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe"), nil
}
