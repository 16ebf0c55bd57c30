//go:build unix

package locate

import (
	"os"
	"syscall"
)

// private refuses a file that somebody else may read or write, or has made: what it
// says would then be somebody else's word, or its token known.
func private(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return ErrForeign
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return ErrExposed
	}
	return nil
}
