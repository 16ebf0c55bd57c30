package discover

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// canShare says that two processes of one user may listen on one address, so that the
// next server can before the last one has stopped. Linux refuses it to other users,
// and never picks a shared port where none is asked for; what others do is not known
// well enough.
const canShare = true

func reusable(_, _ string, c syscall.RawConn) error {
	var set error
	err := c.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	if err != nil {
		return err
	}
	return set
}
