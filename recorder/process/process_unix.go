//go:build unix

package process

import (
	"errors"
	"syscall"
)

// Alive says whether there is such a process. One that has ended counts while nobody
// has waited for it, where the system does not tell: on Linux it does, and in a
// container often nobody ever waits.
func Alive(pid int) bool {
	if pid <= 0 { // a group's
		return false
	}
	err := syscall.Kill(pid, 0)
	return (err == nil || errors.Is(err, syscall.EPERM)) && !ended(pid)
}

// Detached puts a child into a session of its own: what is done to us, or to our
// terminal, is not for it.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// niceness lets the tools of the session that is recorded go first: nobody waits for
// a recording to be stored.
const niceness = 5

func yielding(*syscall.SysProcAttr) {} // it is told once it runs

// stepBack lowers the priority of a detached child, all its threads included. It
// starts as well without.
func stepBack(pid int) { _ = syscall.Setpriority(syscall.PRIO_PGRP, pid, niceness) }
