package sandbox

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func ownProcessGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func pipe() (read, write *os.File, err error) { return os.Pipe() }

// residentBytes is left to the job's limit.
func residentBytes(int) int64 { return 0 }

// What a worker commits before its first body, with room. At level wasm it has the
// guest, its code, and the guest's memory, which is twice the body's.
const (
	workerRestBytes = 128 << 20
	wasmRestBytes   = 512 << 20
)

// job is a Windows job object with one worker in it: the kernel holds its memory
// and ends it with this process, whose handle is the job's last.
type job struct{ handle windows.Handle }

// newJob limits a process that has just started. Without a job the worker's own
// watch is the limit, so a failure here only loses the second one.
func newJob(process *os.Process, level Level, memoryBytes int64) job {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return job{}
	}
	j := job{handle}
	rest := int64(workerRestBytes)
	if level == LevelWasm {
		rest = wasmRestBytes + 2*memoryBytes
	}
	if err := j.limit(uintptr(rest + 2*memoryBytes)); err != nil {
		j.close()
		return job{}
	}
	access := uint32(windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE)
	target, err := windows.OpenProcess(access, false, uint32(process.Pid))
	if err != nil {
		j.close()
		return job{}
	}
	defer windows.CloseHandle(target)
	if err := windows.AssignProcessToJobObject(handle, target); err != nil {
		j.close()
		return job{}
	}
	return j
}

func (j job) limit(bytes uintptr) error {
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{ProcessMemoryLimit: bytes}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY |
		windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
	limits.BasicLimitInformation.ActiveProcessLimit = 1
	_, err := windows.SetInformationJobObject(j.handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	return err
}

func (j job) close() {
	if j.handle != 0 {
		_ = windows.CloseHandle(j.handle)
	}
}
