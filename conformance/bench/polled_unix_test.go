//go:build unix

package bench

import (
	"os"
	"syscall"
)

func polled(f *os.File) *os.File {
	fd := f.Fd()
	if syscall.SetNonblock(int(fd), true) != nil {
		return f
	}
	return os.NewFile(fd, f.Name())
}
