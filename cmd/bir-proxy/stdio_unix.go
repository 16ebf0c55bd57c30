//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// polled puts a standard stream into Go's poller, as the pipes of the server are.
// A relay between one end that blocks and one in the poller stalls by up to 10 ms:
// the thread in the blocking read keeps its scheduler slot until it is taken away.
// The flag belongs to the open file, which others may share, so it is set back at
// the end, and a terminal, which the shell shares for certain, is left alone.
func polled(f *os.File) (*os.File, func()) {
	nothing := func() {}
	raw, err := f.SyscallConn()
	if err != nil {
		return f, nothing
	}
	number := -1
	err = raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		if err != nil || flags&unix.O_NONBLOCK != 0 || !pollable(int(fd)) {
			return
		}
		if syscall.SetNonblock(int(fd), true) == nil {
			number = int(fd)
		}
	})
	if err != nil || number < 0 {
		return f, nothing
	}
	return os.NewFile(uintptr(number), f.Name()), func() { _ = syscall.SetNonblock(number, false) }
}

// pollable says whether fd is a pipe or a socket. A file is always ready and a
// terminal is shared.
func pollable(fd int) bool {
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil {
		return false
	}
	kind := stat.Mode & unix.S_IFMT
	return kind == unix.S_IFIFO || kind == unix.S_IFSOCK
}

// forwarded are the signals that end the server. One that we were told to ignore
// (nohup) stays ignored.
func forwarded() []os.Signal {
	var heeded []os.Signal
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			heeded = append(heeded, sig)
		}
	}
	return heeded
}

// failedWrites are signals of writes that also fail with an error.
func failedWrites() []os.Signal { return []os.Signal{syscall.SIGPIPE, syscall.SIGXFSZ} }

// signalStatus is the status of a process that a signal ended.
func signalStatus(sig os.Signal) int {
	if number, ok := sig.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return exitFailed
}
