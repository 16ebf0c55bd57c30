package main

import (
	"os"
	"syscall"
)

const detachedProcess = 0x00000008

// detached gives a child no console, so that none flashes up.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess, HideWindow: true}
}

func forbidCore() {} // there are none

func write(f *os.File, text []byte) error {
	_, err := f.Write(text)
	return err
}
