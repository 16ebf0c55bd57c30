package stdio

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// leashFD is where the child holds the leash: above the descriptors that shells
// redirect and that runtimes close in their children.
const leashFD = 64

// leash takes the child's whole group with us when we die in a way that leaves us
// no time, such as SIGKILL. The parent-death signal alone would reach the child but
// not what it started, and most servers are started through npx, uvx or a shell.
//
// It is a pipe of which the group holds the reading end and we alone the writing
// end. The reading end is asynchronous, with SIGKILL as its signal and the group as
// its owner: when the kernel closes our end, it kills the group. Nothing is ever
// written to it. Where the kernel refuses one of the calls, the parent-death signal
// and the end of standard input remain.
type leash struct {
	ours, theirs *os.File
}

func (l *leash) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) != nil || files.Cur <= leashFD {
		return // the child could not hold it
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return
	}
	l.ours, l.theirs = ours, theirs
	cmd.ExtraFiles = make([]*os.File, leashFD-2)
	cmd.ExtraFiles[leashFD-3] = theirs
}

func (l *leash) tie(group int) {
	if l.theirs == nil {
		return
	}
	fd := l.theirs.Fd()
	for _, call := range [][2]int{
		{unix.F_SETSIG, int(unix.SIGKILL)},
		{unix.F_SETOWN, -group},
		{unix.F_SETFL, unix.O_ASYNC},
	} {
		if _, err := unix.FcntlInt(fd, call[0], call[1]); err != nil {
			break
		}
	}
	_ = l.theirs.Close()
	runtime.KeepAlive(l.theirs)
}

// release lets go. By then the group is dead.
func (l *leash) release() {
	if l.ours != nil {
		_ = l.ours.Close()
	}
}
