//go:build unix

package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"
)

// Alive says whether there is such a process. One that has ended is not alive, also
// where nobody has waited for it: in a container there may be nobody who does.
func Alive(pid int) bool {
	if pid <= 0 { // a group's
		return false
	}
	err := syscall.Kill(pid, 0)
	return (err == nil || errors.Is(err, syscall.EPERM)) && !zombie(pid)
}

// zombie says whether a process has ended and was not waited for. Where there is no
// /proc, that is not known.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, after, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" ")) // the name may hold anything
	return bytes.HasPrefix(after, []byte("Z")) || bytes.HasPrefix(after, []byte("X"))
}

// Detached puts a child into a session of its own: what is done to us, or to our
// terminal, is not for it.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
