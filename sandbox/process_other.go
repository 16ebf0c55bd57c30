//go:build !linux && !windows

package sandbox

import (
	"os"
	"syscall"
)

// ownProcessGroup keeps a terminal's signals away from the worker.
func ownProcessGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func pipe() (read, write *os.File, err error) { return os.Pipe() }

// residentBytes is not known without a call into the kernel that needs cgo here;
// the worker's own watch is the limit.
func residentBytes(int) int64 { return 0 }
