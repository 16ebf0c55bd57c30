package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/sandbox/corpus"
	"github.com/bir-run/bir/sandbox"
)

// evaluated holds that an evaluation gave the sum it was asked for, or an error that
// chaos may cause.
func evaluated(t *testing.T, pool *sandbox.Pool, ctx context.Context, n int, allowed func(error) bool) bool {
	t.Helper()
	args := sandbox.Args{Params: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}
	body := sandbox.Body{Kind: sandbox.KindParams, Source: "let s = 0; for (let i = 1; i <= 100; i++) s += i; return {n: params.n + s}"}
	result, err := pool.Eval(ctx, body, args)
	switch want := fmt.Sprintf(`{"n":%d}`, n+5050); {
	case err == nil && string(result.Value) != want:
		t.Errorf("gave %s, want %s", result.Value, want)
	case err != nil && !allowed(err):
		t.Errorf("%d: %v", n, err)
	}
	return err == nil
}

func nothing(error) bool { return false }

func TestAThousandAtOnceShareFourWorkers(t *testing.T) {
	pool := suite.Pool(t, sandbox.Config{Size: 4, Timeout: 10 * time.Second})
	before := corpus.Holdings()
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range 1000 {
		group.Go(func() {
			<-start
			evaluated(t, pool, t.Context(), i, nothing)
		})
	}
	close(start)
	group.Wait()
	if stats := pool.Stats(); stats.Started() > 4 || stats.Evaluations() != 1000 {
		t.Errorf("%d evaluations by %d workers", stats.Evaluations(), stats.Started())
	}
	pool.Close()
	before.AreBack(t)
}

// A cancelled caller gets its context's error or the value, wherever the evaluation
// was: waiting, starting a worker, in a body, on the way back.
func TestAnEvaluationMayBeCancelledAtEveryPoint(t *testing.T) {
	pool := suite.Pool(t, sandbox.Config{Size: 2, Timeout: 10 * time.Second})
	cancelled := func(err error) bool {
		return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	}
	values, ended := 0, 0
	for after := time.Duration(0); after < 20*time.Millisecond; after += 200 * time.Microsecond {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		if evaluated(t, pool, ctx, int(after), cancelled) {
			values++
		} else {
			ended++
		}
		cancel()
	}
	if ended == 0 {
		t.Error("nothing was cancelled")
	}
	t.Logf("%d gave their value, %d were cancelled", values, ended)
	corpus.Serves(t, pool)
}

func TestALargeResultIsRefusedOrWhole(t *testing.T) {
	const n = 50 << 20
	body := corpus.Raw(fmt.Sprintf("return 'x'.repeat(%d)", n))
	small := suite.Pool(t, sandbox.Config{Size: 1, Timeout: 10 * time.Second, MemoryBytes: 512 << 20})
	_, err := small.Eval(t.Context(), body, sandbox.Args{})
	var fault *sandbox.Error
	if !errors.As(err, &fault) || fault.Type != sandbox.TypeResult {
		t.Errorf("past its limit it gave %v", err)
	}
	corpus.Serves(t, small)
	large := suite.Pool(t, sandbox.Config{Size: 1, Timeout: 10 * time.Second, MemoryBytes: 1 << 30, ResultBytes: 100 << 20})
	result, err := large.Eval(t.Context(), body, sandbox.Args{})
	if err != nil || len(result.Value) != n+2 {
		t.Errorf("within its limit it gave %d bytes, %v", len(result.Value), err)
	}
	corpus.Serves(t, large)
}

// TestASwappedProgramIsNoticed: an update replaces the worker's program while a pool
// has workers of the old one.
func TestASwappedProgramIsNoticed(t *testing.T) {
	good, err := os.ReadFile(suite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bir-sandbox.exe")
	swap := func(program []byte) {
		t.Helper()
		next := path + ".new"
		if err := errors.Join(os.WriteFile(next, program, 0o700), os.Rename(next, path)); err != nil {
			t.Skipf("a program in use cannot be replaced here: %v", err)
		}
	}
	swap(good)
	pool := sandbox.NewPool(sandbox.Config{Command: []string{path}, Size: 1, Timeout: 10 * time.Second, MaxEvaluations: 1})
	defer pool.Close()
	corpus.Serves(t, pool)
	for _, bad := range []string{"", "no program at all", "#!/bin/sh\necho no worker\n", "#!/bin/sh\nexit 3\n"} {
		swap([]byte(bad))
		_, err := pool.Eval(t.Context(), corpus.Raw("return 1"), sandbox.Args{})
		var fault *sandbox.Error
		if !errors.As(err, &fault) || fault.Type != sandbox.TypeSandbox {
			t.Errorf("with %q in its place: %v", bad, err)
		}
	}
	swap(good)
	corpus.Serves(t, pool)
}

// children are the processes that this one has started and not reaped.
func children(t *testing.T) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		t.Skip("processes are found in /proc")
	}
	var pids []int
	for _, file := range stats {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state ppid …: the name may have spaces and brackets.
		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}
