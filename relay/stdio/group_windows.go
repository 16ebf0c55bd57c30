package stdio

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object that dies with us: Windows closes our handle, and with
// the last handle goes every process in the job.
type group struct {
	job windows.Handle
}

func (g *group) prepare(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CreationFlags = windows.CREATE_NEW_PROCESS_GROUP
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return
	}
	g.job = job
}

// started puts the child into the job. What it started before that, in its first
// microseconds, is outside.
func (g *group) started(child *os.Process) {
	handle, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(child.Pid))
	if err != nil {
		return
	}
	_ = windows.AssignProcessToJobObject(g.job, handle)
	_ = windows.CloseHandle(handle)
}

func (g *group) release() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
		g.job = 0
	}
}

// terminate is kill: Windows has no SIGTERM to send to another process.
func (g *group) terminate() error { return g.kill() }

func (g *group) kill() error {
	if g.job == 0 {
		return errors.ErrUnsupported
	}
	return windows.TerminateJobObject(g.job, 1)
}

func (g *group) signal(os.Signal) error { return errors.ErrUnsupported }

func exitStatus(state *os.ProcessState) int { return state.ExitCode() }
