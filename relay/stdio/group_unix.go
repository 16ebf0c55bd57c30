//go:build unix

package stdio

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group is the child's process group, whose number is the child's own.
type group struct {
	id    int
	leash leash
}

func (g *group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	g.leash.prepare(cmd)
}

func (g *group) started(child *os.Process) {
	g.id = child.Pid
	g.leash.tie(g.id)
}

func (g *group) release() { g.leash.release() }

func (g *group) terminate() error { return g.signal(syscall.SIGTERM) }

func (g *group) kill() error { return g.signal(syscall.SIGKILL) }

func (g *group) signal(sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if !ok || g.id == 0 {
		return errors.ErrUnsupported
	}
	return syscall.Kill(-g.id, number)
}

func exitStatus(state *os.ProcessState) int {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
