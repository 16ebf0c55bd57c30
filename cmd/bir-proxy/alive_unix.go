//go:build unix

package main

import (
	"errors"
	"syscall"
)

// alive says whether there is such a process. One that ended and that nobody has
// waited for yet counts.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// detached puts a child into a session of its own: what the host does to us is not
// for it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
