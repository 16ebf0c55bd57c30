//go:build unix

package sandbox_test

import (
	"errors"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/sandbox/corpus"
	"github.com/bir-run/bir/sandbox"
)

// TestWorkersMayBeKilledAtAnyTime: callers get their value, or hear that the evaluator
// ended twice, and nothing is left.
func TestWorkersMayBeKilledAtAnyTime(t *testing.T) {
	others := corpus.Children(t)
	pool := suite.Pool(t, sandbox.Config{Size: 4})
	before := corpus.Holdings()
	stop := make(chan struct{})
	var killer, callers sync.WaitGroup
	killer.Go(func() {
		often := time.NewTicker(3 * time.Millisecond)
		defer often.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-often.C:
			}
			pids := slices.DeleteFunc(corpus.Children(t), func(pid int) bool { return slices.Contains(others, pid) })
			if len(pids) > 0 {
				_ = syscall.Kill(pids[i%len(pids)], syscall.SIGKILL) // it may have ended
			}
		}
	})
	lost := func(err error) bool {
		var fault *sandbox.Error
		return errors.As(err, &fault) && fault.Type == sandbox.TypeSandbox
	}
	for i := range 8 {
		callers.Go(func() {
			for j := range 40 {
				evaluated(t, pool, 100*i+j, lost)
			}
		})
	}
	callers.Wait()
	close(stop)
	killer.Wait()
	t.Logf("killed: %v", pool.Stats().Kills)
	corpus.Serves(t, pool)
	pool.Close()
	before.AreBack(t)
	if left := slices.DeleteFunc(corpus.Children(t), func(pid int) bool { return slices.Contains(others, pid) }); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// TestAStoppedWorkerIsReplaced: it looks like a body that does not end.
func TestAStoppedWorkerIsReplaced(t *testing.T) {
	others := corpus.Children(t)
	pool := suite.Pool(t, sandbox.Config{Size: 1})
	corpus.Serves(t, pool)
	for _, pid := range corpus.Children(t) {
		if !slices.Contains(others, pid) {
			corpus.Stop(t, pid, func(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) })
		}
	}
	body := corpus.Raw("return 2")
	body.Timeout = time.Second
	_, err := pool.Eval(t.Context(), body, sandbox.Args{})
	var fault *sandbox.Error
	if !errors.As(err, &fault) || fault.Type != sandbox.TypeTimeout {
		t.Errorf("got %v", err)
	}
	corpus.Serves(t, pool)
}
