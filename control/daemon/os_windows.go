package daemon

import "syscall"

const detachedProcess = 0x00000008

// detached gives a child no console and a process group of its own.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess, HideWindow: true}
}
