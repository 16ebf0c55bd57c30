package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
)

// TestOwnAttacksEndAsWritten runs our own cases, in order in one worker, through
// the machinery of `bir logic test`. What is not about time gets more of it, so
// that a busy machine changes nothing.
func TestOwnAttacksEndAsWritten(t *testing.T) {
	all, err := cases.Load("testdata/attacks.json")
	if err != nil {
		t.Fatal(err)
	}
	var timed, others []cases.Case
	for _, c := range all {
		if strings.HasPrefix(c.ID, "time/") {
			timed = append(timed, c)
		} else {
			others = append(others, c)
		}
	}
	runAll(t, newPool(t, sandbox.Config{Size: 1, Timeout: 300 * time.Millisecond}), timed)
	runAll(t, newPool(t, sandbox.Config{Size: 1, Timeout: 10 * time.Second}), others)
}

func runAll(t *testing.T, pool *sandbox.Pool, all []cases.Case) {
	t.Helper()
	ran := 0
	for out, err := range cases.Run(t.Context(), pool, all) {
		if err != nil {
			t.Fatal(err)
		}
		if ran++; !out.OK {
			t.Errorf("%s: %s", out.ID, out.Difference)
		}
	}
	if ran == 0 || ran != len(all) {
		t.Errorf("%d of %d cases ran", ran, len(all))
	}
}
