package worker

import (
	"testing"
	"time"
)

// The runtime of the next body is made before anything is known of it.
func TestAPreparedRuntimeHasOneBodyAndItsWorld(t *testing.T) {
	e := evaluator()
	e.prepare()
	prepared := e.fresh
	first := raw("Array.prototype.map = 1; globalThis.left = 1; return [Date.now(), Math.random()]")
	first.Now, first.Seed = time.UnixMilli(1000), 1
	one := e.Eval(first)
	if e.fresh == prepared || prepared.req != first {
		t.Fatal("the prepared runtime was not used, or is kept")
	}
	e.prepare()
	if e.fresh.vm == prepared.vm {
		t.Fatal("a runtime was prepared twice")
	}
	second := raw("return [typeof left, typeof [].map, Date.now(), Math.random()]")
	second.Now, second.Seed = time.UnixMilli(2000), 2
	two := e.Eval(second)
	again := evaluator().Eval(second) // nothing was prepared for this one
	if one.Failure != nil || two.Failure != nil || string(two.Value) != string(again.Value) {
		t.Errorf("gave %s, then %s where %s was to come", one.Value, two.Value, again.Value)
	}
	if want := `["undefined","function",2000,`; string(two.Value)[:len(want)] != want {
		t.Errorf("the second body saw %s", two.Value)
	}
}
