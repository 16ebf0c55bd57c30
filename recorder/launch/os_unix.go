//go:build !windows

package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/google/renameio/v2"
)

// detached puts a child into a session of its own.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// niceness lets the tools of the session that is recorded go first: nobody waits for
// a recording to be stored.
const niceness = 5

// stepBack lowers the priority of a detached child, all its threads included. It
// starts as well without.
func stepBack(pid int) { _ = syscall.Setpriority(syscall.PRIO_PGRP, pid, niceness) }

// private refuses a file that is another user's, or open to others.
func private(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	case !ok || int(stat.Uid) != os.Getuid():
		return errors.New("it belongs to another user")
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("its mode is %04o, want 0600", info.Mode().Perm())
	}
	return nil
}

func replaceFile(path string, text []byte) error {
	return renameio.WriteFile(path, text, 0o600, renameio.IgnoreUmask())
}
