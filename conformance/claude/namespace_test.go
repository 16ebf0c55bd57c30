//go:build linux

package claude

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// exitNoLoopback is how the tests inside say that their namespace is of no use.
const exitNoLoopback = 120

// isolated says that nothing but loopback can be reached from here.
var isolated bool

// runInside runs this test binary again where there is loopback only. It is false where
// the system allows no such namespace: then the tests run here, and the client is told
// to use a proxy that refuses everything.
func runInside() (code int, ok bool) {
	// The signal at the parent's death belongs to the thread that started the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, attr := range namespaces() {
		code, err := again(attr)
		if err == nil && code != exitNoLoopback {
			return code, true
		}
	}
	return 0, false
}

// namespaces are the ways to have a network of one's own: as root, and as anybody whom
// the system allows a user namespace.
func namespaces() []*syscall.SysProcAttr {
	own := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	root := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	user := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER, Pdeathsig: syscall.SIGKILL,
		UidMappings: own(os.Getuid()), GidMappings: own(os.Getgid()), AmbientCaps: []uintptr{unix.CAP_NET_ADMIN}}
	if os.Getuid() == 0 {
		return []*syscall.SysProcAttr{root, user}
	}
	return []*syscall.SysProcAttr{user}
}

// again runs this test binary in namespaces. An error says that it did not start.
func again(attr *syscall.SysProcAttr) (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(cmd.Environ(), roleEnv+"="+roleInside)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = attr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_ = cmd.Wait() // it is the status that counts
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		return code, nil
	}
	return 1, nil // ended by a signal
}

// raiseLoopback brings the one interface of a new network namespace up.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("raise loopback: %w", err)
	}
	return nil
}

func TestNothingButLoopbackIsThere(t *testing.T) {
	if !isolated {
		t.Skip("this system allows no network namespace: the client is pointed at a proxy that refuses everything instead")
	}
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			t.Errorf("the interface %s is up", i.Name)
		}
	}
}
