//go:build !windows

package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

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
