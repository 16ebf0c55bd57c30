//go:build !windows

package daemon

import "syscall"

// detached puts a child into a session of its own.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
