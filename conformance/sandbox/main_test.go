package sandbox_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/bir-run/bir/conformance/sandbox/corpus"
	"github.com/bir-run/bir/sandbox"
	"go.uber.org/goleak"
)

// suite is of level process; level wasm has a package of its own below this one.
var suite = corpus.Suite{Level: sandbox.LevelProcess, Testdata: "testdata"}

func TestMain(m *testing.M) {
	if lieIfAsked(os.Args) || corpus.RelayIfAsked(os.Args, os.Stdin, os.Stdout) {
		return
	}
	dir, err := os.MkdirTemp("", "bir-sandbox-")
	if err == nil {
		suite.Worker, err = corpus.BuildWorker(dir)
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

func TestOwnAttacksEndAsWritten(t *testing.T)                 { suite.OwnAttacks(t) }
func TestPublicAttacksEndSafely(t *testing.T)                 { suite.PublicAttacks(t) }
func TestOwnCorpusRunsAsInNode(t *testing.T)                  { suite.OwnCode(t) }
func TestOrdinaryCodeRunsAsInNode(t *testing.T)               { suite.PublicCode(t) }
func TestAnEvaluationMayBeCancelledAtEveryPoint(t *testing.T) { suite.Cancelled(t) }
