package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
	"go.uber.org/goleak"

	// The worker is built and not linked; this keeps the go command from taking an
	// old result for one of a changed worker.
	_ "github.com/bir-run/bir/sandbox/confine"
	_ "github.com/bir-run/bir/sandbox/wasmhost"
	_ "github.com/bir-run/bir/sandbox/worker"
)

// workerPath is the real worker, as it is shipped.
var workerPath string

func TestMain(m *testing.M) {
	if lieIfAsked(os.Args) {
		return
	}
	dir, err := os.MkdirTemp("", "bir-sandbox-")
	if err == nil {
		workerPath, err = buildWorker(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func buildWorker(dir string) (string, error) {
	path := filepath.Join(dir, "bir-sandbox.exe") // Windows wants the ending, others do not mind
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "../../cmd/bir-sandbox")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the worker: %w\n%s", err, out)
	}
	return path, nil
}

// newPool makes a pool of the real worker. Level wasm is compiled into a folder that
// all tests share, before anything is timed.
func newPool(t testing.TB, config sandbox.Config) *sandbox.Pool {
	t.Helper()
	config.Command = []string{workerPath}
	if config.Level == sandbox.LevelWasm {
		config.CacheDir = guardtest.CacheDir()
		started := time.Now()
		if err := sandbox.Prepare(t.Context(), config, nil); err != nil {
			t.Fatal(err)
		}
		t.Logf("level wasm ready after %v", time.Since(started))
	}
	pool := sandbox.NewPool(config)
	t.Cleanup(pool.Close)
	return pool
}

// atBothLevels runs a test once a level.
func atBothLevels(t *testing.T, test func(t *testing.T, level sandbox.Level)) {
	for _, level := range []sandbox.Level{sandbox.LevelProcess, sandbox.LevelWasm} {
		t.Run(string(level), func(t *testing.T) {
			if level == sandbox.LevelWasm && testing.Short() {
				t.Skip("compiles for ten seconds, and starts many evaluators")
			}
			test(t, level)
		})
	}
}
