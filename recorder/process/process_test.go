package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestAProcessIsAliveUntilItHasEnded(t *testing.T) {
	if os.Getenv("BIR_TEST_CHILD") != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestAProcessIsAliveUntilItHasEnded")
	cmd.Env = append(os.Environ(), "BIR_TEST_CHILD=1", "GORACE=atexit_sleep_ms=0") // or it would take a second more
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

func TestAProgramThatWasStartedSaysHowItEnded(t *testing.T) {
	if os.Getenv("BIR_TEST_ENDS") != "" {
		dir, _ := os.Getwd()
		fmt.Println("in", dir)
		os.Exit(3)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	command := Command{
		Args: []string{os.Args[0], "-test.run=TestAProgramThatWasStartedSaysHowItEnded"},
		Env:  append(os.Environ(), "BIR_TEST_ENDS=1"), Dir: dir, Log: filepath.Join(dir, "logs", "a.log"),
	}
	for _, yields := range []bool{false, true} {
		command.Yields = yields
		child, err := Start(command)
		if err != nil {
			t.Fatal(err)
		}
		<-child.done
		ended, how := child.Ended()
		var exit *exec.ExitError
		if !ended || !errors.As(how, &exit) || exit.ExitCode() != 3 || Alive(child.PID) {
			t.Errorf("ended %v: %v", ended, how)
		}
	}
	log, err := os.ReadFile(command.Log)
	if err != nil || strings.Count(string(log), "in "+dir+"\n") != 2 {
		t.Errorf("the log says %q, %v", log, err)
	}
	command.Args = []string{filepath.Join(dir, "nothing")}
	if _, err := Start(command); err == nil {
		t.Error("what is not there was started")
	}
}
