package guards_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
	"github.com/bir-run/bir/sandbox/guards/injectionguard"
	"github.com/bir-run/bir/sandbox/guards/pinguard"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// The modules say about every labelled case what the packages say that they were
// built from, and give their own name.
func TestModulesAndPackagesAgree(t *testing.T) {
	h := openHost(t, guardtest.CacheDir())
	for _, p := range pinPairs(t) {
		if json.Valid(p.Model) && json.Valid(p.Step) {
			agree(t, h, "pin-guard", p.request(), pinguard.Check(p.request()))
		}
	}
	for _, g := range valueGroups(t) {
		for _, v := range append(g.Harmless, g.Hostile...) {
			agree(t, h, "injection-guard", g.request(v), injectionguard.Check(g.request(v)))
		}
	}
}

func agree(t *testing.T, h *guard.Host, module string, req guardsdk.Request, want guardsdk.Verdict) {
	t.Helper()
	d := h.Check(t.Context(), req)
	if len(d.Verdicts) != 1 || d.Verdicts[0].Module != module || !d.Verdicts[0].Builtin {
		t.Fatalf("%s was not the one that was asked: %+v", module, d)
	}
	if got := d.Verdicts[0].Verdict; got.Allow != want.Allow || got.Code != want.Code {
		t.Errorf("%s: the module says %+v and the package %+v", module, got, want)
	}
}

// What is too large or too deep for the module's memory or time is denied, and the
// module goes on answering.
func TestModulesSurviveLargeCalls(t *testing.T) {
	h := openHost(t, guardtest.CacheDir())
	deep := strings.Repeat("(", 900) + "ls" + strings.Repeat(")", 900)
	for _, step := range []string{strings.Repeat("ls; ", 15_000), strings.Repeat("a ", 30_000), deep, strings.Repeat("$(", 400), strings.Repeat("{ ", 5000), strings.Repeat("'", 60_000),
		strings.Repeat("if ls; then ", 5000), strings.Repeat("a|", 20_000), strings.Repeat("<<A\n", 10_000), "select " + strings.Repeat("(", 50_000)} {
		for _, tool := range []string{"Bash", "PowerShell"} {
			req := pinPair{Tool: tool, Model: object("command", "ls"), Step: object("command", step)}.request()
			if d := h.Check(t.Context(), req); d.Allow {
				t.Errorf("%s %.30q passes for ls", tool, step)
			}
		}
		same := pinPair{Tool: "Bash", Model: object("command", "ls -a"), Step: object("command", "ls")}
		if d := h.Check(t.Context(), same.request()); !d.Allow {
			t.Fatalf("after %.30q: %+v", step, d)
		}
	}
}
