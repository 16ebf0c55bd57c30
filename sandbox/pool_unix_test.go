//go:build unix

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/wire"
)

func signal(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatalf("signal %v to %d: %v", sig, pid, err)
	}
}

func TestAWorkerThatSomebodyKilledIsReplaced(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1})
	stillWorks(t, pool)
	pid := sandbox.IdlePIDs(pool)[0]
	signal(t, pid, syscall.SIGSTOP) // so that the kill comes while it is busy
	ended := make(chan error)
	go func() { // ends with the evaluation
		_, err := pool.Eval(t.Context(), raw("return 1"), sandbox.Args{})
		ended <- err
	}()
	for len(sandbox.IdlePIDs(pool)) > 0 {
		runtime.Gosched()
	}
	signal(t, pid, syscall.SIGKILL)
	if err := <-ended; err != nil {
		t.Errorf("got %v", err)
	}
	if started := pool.Stats().Started(); started != 2 {
		t.Errorf("%d workers were started, want 2", started)
	}
}

// A worker that is used often has the garbage of hundreds of bodies; one at rest has none.
func TestAWorkerAtRestGivesItsMemoryBack(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1, Timeout: 10 * time.Second})
	for range 20 {
		if _, err := pool.Eval(t.Context(), raw("return Array.from({length: 1e4}, (_, i) => ({i})).length"), sandbox.Args{}); err != nil {
			t.Fatal(err)
		}
	}
	busy := pool.Stats().ResidentBytes
	if busy == 0 {
		t.Skip("no way to read it on this system")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for pool.Stats().ResidentBytes >= 20<<20 {
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("it had %d KB, and has %d", busy>>10, pool.Stats().ResidentBytes>>10)
		}
	}
	t.Logf("it had %d KB, and has %d", busy>>10, pool.Stats().ResidentBytes>>10)
}

func TestCloseLeavesNoProcess(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1})
	stillWorks(t, pool)
	pids := sandbox.IdlePIDs(pool)
	pool.Close()
	if len(pids) != 1 {
		t.Fatalf("idle workers: %v", pids)
	}
	if err := syscall.Kill(pids[0], 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the worker is still there: %v", err)
	}
}

// TestAWorkerEndsWithItsPool holds it for a busy one: a killed pool closes nothing
// but its pipes.
func TestAWorkerEndsWithItsPool(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, workerPath)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{
		wire.Setup{Version: wire.Version, MemoryBytes: 64 << 20, ResultBytes: 1 << 20, FrameBytes: 1 << 20},
		wire.Request{Source: "for(;;);", Zone: "UTC", Timeout: time.Hour},
	} {
		frame, err := wire.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write(frame); err != nil {
			t.Fatal(err)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}

func TestWorkerHasNoEnvironmentAndIsConfined(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the environment of another process is read from /proc")
	}
	t.Setenv("BIR_TEST_SECRET", "x")
	pool := newPool(t, sandbox.Config{Size: 1})
	stillWorks(t, pool)
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", sandbox.IdlePIDs(pool)[0]))
	if err != nil {
		t.Fatal(err)
	}
	if len(environ) > 0 {
		t.Errorf("the worker's environment: %q", environ)
	}
	held := strings.Join(pool.Stats().Levels[sandbox.LevelProcess].Confinement, ", ")
	for _, want := range []string{"memory limit", "no new privileges", "seccomp"} {
		if !strings.Contains(held, want) {
			t.Errorf("%s does not hold the worker, only: %s", want, held)
		}
	}
	t.Log("held by:", held)
}
