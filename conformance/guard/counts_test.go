package guard_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
)

// counted is what the list shows of the calls, without the time they took.
func counted(t *testing.T, h *guard.Host, name string) guard.Counts {
	t.Helper()
	c := module(t, h, name).Counts
	if timed := c.Calls > 0; timed != (c.P50MS > 0) {
		t.Errorf("%s: half of %d calls took less than %v ms", name, c.Calls, c.P50MS)
	}
	c.P50MS = 0
	return c
}

func TestCallsAreCountedAcrossProcesses(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "a.wasm", guardtest.Reactor(guardtest.Allow))
	r.drop(t, r.home, "b.wasm", guardtest.Reactor(guardtest.Deny).With("bir_pin", guardtest.Join(guardtest.Unreachable)))
	for range 3 {
		mustDeny(t, r.Check(t.Context(), step("x")), "test_denied")
	}
	pin := step("x")
	pin.Kind = "pin"
	mustDeny(t, r.Check(t.Context(), pin), guard.CodeTrap)
	r.Explain(t.Context(), step("x")) // decides nothing, so counts for nothing
	if diff := cmp.Diff(guard.Counts{Calls: 4, Denials: 4, Failures: 1}, counted(t, r.Host, "b")); diff != "" {
		t.Error(diff)
	}
	if err := r.SaveCounts(); err != nil {
		t.Fatal(err)
	}

	second := r.host(t)
	mustDeny(t, second.Check(t.Context(), step("x")), "test_denied")
	if diff := cmp.Diff(guard.Counts{Calls: 5}, counted(t, second, "a")); diff != "" {
		t.Error(diff)
	}
	if err := second.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(guard.Counts{Calls: 5, Denials: 5, Failures: 1}, counted(t, r.Host, "b")); diff != "" {
		t.Error(diff)
	}

	if err := r.Forget("b"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(guard.Counts{}, counted(t, r.Host, "b")); diff != "" {
		t.Error(diff)
	}
}

// Counts are for people: a damaged file changes no verdict, and is replaced.
func TestDamagedCountsDoNotMatter(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "a.wasm", guardtest.Reactor(guardtest.Allow))
	put(t, r.counts, []byte("{"))
	mustAllow(t, r.Check(t.Context(), step("x")))
	if err := r.SaveCounts(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(r.counts)
	if err != nil || !strings.Contains(string(data), `"calls":1`) {
		t.Errorf("%s, %v", data, err)
	}
}

func TestExplainAsksEveryGuard(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "a.wasm", guardtest.Reactor(guardtest.Deny))
	r.drop(t, r.home, "b.wasm", guardtest.Reactor(guardtest.Allow))
	r.drop(t, r.home, "c.wasm", guardtest.Reactor(guardtest.Deny).Without("bir_step"))
	d := r.Explain(t.Context(), step("x"))
	if v := mustDeny(t, d, "test_denied"); v.Module != "a" || len(d.Verdicts) != 2 || !d.Verdicts[1].Verdict.Allow {
		t.Errorf("got %+v", d)
	}
	if strings.Contains(r.log.String(), "guard.deny") {
		t.Error("a denial that decided nothing is in the log")
	}
}

func TestTraceShowsVerdictsThatAllow(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "a.wasm", guardtest.Reactor(guardtest.Allow))
	mustAllow(t, r.Check(t.Context(), step("x")))
	if strings.Contains(r.log.String(), "guard.allow") {
		t.Error("a verdict that allows is in the log without the trace")
	}
	r.trace = true
	mustAllow(t, r.host(t).Check(t.Context(), step("x")))
	if log := r.log.String(); !strings.Contains(log, "level=INFO msg=guard.allow module=a sha256=") {
		t.Errorf("log: %s", log)
	}
}
