package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bir-run/bir/conformance/sandbox/corpus"
	"github.com/bir-run/bir/sandbox"
)

// evaluated holds that an evaluation gave the sum it was asked for, or an error that
// chaos may cause.
func evaluated(t *testing.T, pool *sandbox.Pool, n int, allowed func(error) bool) {
	t.Helper()
	args := sandbox.Args{Params: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}
	body := sandbox.Body{Kind: sandbox.KindParams, Source: "let s = 0; for (let i = 1; i <= 100; i++) s += i; return {n: params.n + s}"}
	result, err := pool.Eval(t.Context(), body, args)
	switch want := fmt.Sprintf(`{"n":%d}`, n+5050); {
	case err == nil && string(result.Value) != want:
		t.Errorf("gave %s, want %s", result.Value, want)
	case err != nil && !allowed(err):
		t.Errorf("%d: %v", n, err)
	}
}

func nothing(error) bool { return false }

func TestAThousandAtOnceShareFourWorkers(t *testing.T) {
	pool := suite.Pool(t, sandbox.Config{Size: 4})
	before := corpus.Holdings()
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range 1000 {
		group.Go(func() {
			<-start
			evaluated(t, pool, i, nothing)
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

func TestALargeResultIsRefusedOrWhole(t *testing.T) {
	const n = 50 << 20
	body := corpus.Raw(fmt.Sprintf("return 'x'.repeat(%d)", n))
	// Reading so much is slow, too, under the race detector: what takes five seconds on a
	// quiet machine takes more than a minute on a loaded one.
	body.Timeout = 5 * corpus.Patience
	small := suite.Pool(t, sandbox.Config{Size: 1, MemoryBytes: 512 << 20})
	_, err := small.Eval(t.Context(), body, sandbox.Args{})
	var fault *sandbox.Error
	if !errors.As(err, &fault) || fault.Type != sandbox.TypeResult {
		t.Errorf("past its limit it gave %v", err)
	}
	corpus.Serves(t, small)
	large := suite.Pool(t, sandbox.Config{Size: 1, MemoryBytes: 1 << 30, ResultBytes: 100 << 20})
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
	pool := sandbox.NewPool(sandbox.Config{Command: []string{path}, Size: 1, MaxEvaluations: 1, Timeout: corpus.Patience, StartTimeout: corpus.Patience})
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
