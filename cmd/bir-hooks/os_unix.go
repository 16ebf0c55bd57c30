//go:build unix

package main

import (
	"os"
	"syscall"
)

// detached puts a child into a session of its own.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// forbidCore keeps a payload and the token out of a core file.
func forbidCore() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }

// write writes without os.File, for which a broken pipe on a standard stream is a
// reason to die by a signal.
func write(f *os.File, text []byte) error {
	for fd := int(f.Fd()); len(text) > 0; {
		n, err := syscall.Write(fd, text)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
