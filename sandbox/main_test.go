package sandbox_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/confine"
	"github.com/bir-run/bir/sandbox/worker"
	"go.uber.org/goleak"
	_ "time/tzdata"
)

// asWorker makes this test binary a worker, so that the tests need no other.
const asWorker = "-as-worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asWorker {
		if err := worker.Serve(os.Stdin, os.Stdout, confine.Process); err != nil {
			if err == worker.ErrMemory {
				os.Exit(86)
			}
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func newPool(t testing.TB, config sandbox.Config) *sandbox.Pool {
	t.Helper()
	if config.Command == nil {
		config.Command = []string{os.Args[0], asWorker}
	}
	pool := sandbox.NewPool(config)
	t.Cleanup(pool.Close)
	return pool
}
