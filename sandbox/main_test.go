package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox"
	"go.uber.org/goleak"

	// The worker is built and not linked; this keeps the go command from taking an
	// old result for one of a changed worker.
	_ "github.com/bir-run/bir/sandbox/confine"
	_ "github.com/bir-run/bir/sandbox/worker"
)

// workerPath is the real worker, as it is shipped. This test binary would not do:
// under the race detector it takes more memory than a body may.
var workerPath string

func TestMain(m *testing.M) {
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
	build := exec.Command("go", "build", "-trimpath", "-o", path, "../cmd/bir-sandbox")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the worker: %w\n%s", err, out)
	}
	return path, nil
}

// patience is how long what must come may take: a loaded machine is twenty times slower
// than a quiet one, and the race detector ten times.
const patience = 2 * time.Minute

// newPool is patient unless it is told not to be. A body that is to end by its time gets
// one of its own, so that the next one has all of the pool's.
func newPool(t testing.TB, config sandbox.Config) *sandbox.Pool {
	t.Helper()
	if config.Command == nil {
		config.Command = []string{workerPath}
	}
	if config.Timeout == 0 {
		config.Timeout = patience
	}
	config.StartTimeout = patience
	pool := sandbox.NewPool(config)
	t.Cleanup(pool.Close)
	return pool
}
