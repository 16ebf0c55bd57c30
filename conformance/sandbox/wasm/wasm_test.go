package wasm_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/bir-run/bir/conformance/sandbox/corpus"
	"github.com/bir-run/bir/sandbox"
	"go.uber.org/goleak"
)

var suite = corpus.Suite{Level: sandbox.LevelWasm, Testdata: "../testdata"}

// all runs everything. An attack that costs a worker takes seconds on a busy machine, so
// an ordinary run takes each fifth of those.
var all = flag.Bool("all", false, "run every attack")

const each = 5

func TestMain(m *testing.M) {
	if corpus.RelayIfAsked(os.Args, os.Stdin, os.Stdout) {
		return
	}
	flag.Parse()
	if !*all {
		suite.Every = each
	}
	if testing.Short() {
		return // it compiles for ten seconds, and starts many evaluators
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
