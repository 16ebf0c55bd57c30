package sandbox_test

import (
	"testing"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
)

// TestOwnAttacksEndAsWritten runs our own cases, in order in one pool of one
// worker, through the machinery of `bir logic test`.
func TestOwnAttacksEndAsWritten(t *testing.T) {
	all, err := cases.Load("testdata/attacks.json")
	if err != nil {
		t.Fatal(err)
	}
	pool := newPool(t, sandbox.Config{Size: 1})
	ran := 0
	for out, err := range cases.Run(t.Context(), pool, all) {
		if err != nil {
			t.Fatal(err)
		}
		if ran++; !out.OK {
			t.Errorf("%s: %s", out.ID, out.Difference)
		}
	}
	if ran != len(all) {
		t.Errorf("%d of %d cases ran", ran, len(all))
	}
}
