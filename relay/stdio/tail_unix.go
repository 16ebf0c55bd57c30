//go:build unix

package stdio

import (
	"os"
	"syscall"
)

// readNow reads what is there, whatever the deadline; 0 for nothing.
func readNow(f *os.File, b []byte) (n int) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	// A file with a deadline does not block.
	err = raw.Control(func(fd uintptr) {
		for {
			if n, err = syscall.Read(int(fd), b); err != syscall.EINTR {
				return
			}
		}
	})
	if err != nil {
		return 0
	}
	return max(n, 0)
}
