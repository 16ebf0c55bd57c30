//go:build unix

package control

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// pending says whether a connection waits to be accepted, or bytes wait to be read.
func pending(c any) bool {
	sys, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return false
	}
	ready := false
	err = raw.Control(func(fd uintptr) {
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0) // an error is none that wait
		ready = n > 0
	})
	return err == nil && ready
}
