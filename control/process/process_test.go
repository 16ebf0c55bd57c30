package process

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

func TestAProcessIsAliveUntilItHasEnded(t *testing.T) {
	if os.Getenv("BIR_TEST_CHILD") != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestAProcessIsAliveUntilItHasEnded")
	cmd.Env = append(os.Environ(), "BIR_TEST_CHILD=1")
	cmd.SysProcAttr = Detached()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !Alive(cmd.Process.Pid) || !Alive(os.Getpid()) {
		t.Error("a process that runs is not alive")
	}
	in.Close()
	if runtime.GOOS == "linux" {
		for deadline := time.Now().Add(2 * time.Minute); Alive(cmd.Process.Pid); runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatal("a process that nobody waits for stays alive")
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	for _, pid := range []int{cmd.Process.Pid, 0, -1} {
		if Alive(pid) {
			t.Errorf("process %d is alive", pid)
		}
	}
}
