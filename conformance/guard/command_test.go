package guard_test

import (
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

func TestCommandVerdicts(t *testing.T) {
	say := func(text string) guardtest.Module {
		return guardtest.Command(text, guardtest.Print(uint32(len(text))))
	}
	exit := func(text string, code int32) guardtest.Module {
		return guardtest.Command(text, guardtest.Join(guardtest.Print(uint32(len(text))),
			guardtest.Const(code), guardtest.Call(guardtest.ProcExit)))
	}
	long := `{"allow":true,"reason":"` + strings.Repeat("x", 70<<10) + `"}`
	for name, c := range map[string]struct {
		module guardtest.Module
		code   string // empty: allowed
	}{
		"allows":                  {say(guardtest.Allow), ""},
		"allows and exits with 0": {exit(guardtest.Allow, 0), ""},
		"denies":                  {say(guardtest.Deny), "test_denied"},
		"allows and exits with 1": {exit(guardtest.Allow, 1), guard.CodeTrap},
		"says nothing":            {guardtest.Command("", nil), guard.CodeBadVerdict},
		"says too much":           {say(long), guard.CodeBadVerdict},
		"says it twice":           {say(guardtest.Allow + guardtest.Allow), guard.CodeBadVerdict},
		"breaks off":              {guardtest.Command("", guardtest.Join(guardtest.Unreachable)), guard.CodeTrap},
		"never ends":              {guardtest.Command("", endlessLoop), guard.CodeTimeout},
		"asks for all memory":     {guardtest.Command("", growForEver), guard.CodeMemory},
		"allows, then never ends": {guardtest.Command(guardtest.Allow, guardtest.Join(guardtest.Print(14), endlessLoop)), guard.CodeTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRigWith(t, timeoutFor(c.code))
			r.drop(t, r.home, "cmd.wasm", c.module)
			for range 2 {
				d := r.Check(t.Context(), step("x"))
				if c.code == "" {
					mustAllow(t, d)
				} else {
					mustDeny(t, d, c.code)
				}
			}
		})
	}
}

// A command says what it finds of the world: it allows when it finds nothing.
func TestModuleFindsNoWorldAroundIt(t *testing.T) {
	trapUnless := func(check []byte) []byte {
		return guardtest.Join(check, guardtest.I32Eqz, guardtest.If, guardtest.NoResult, guardtest.Unreachable, guardtest.End)
	}
	empty := func(function uint32) []byte { // the count that it writes to 16 is 0
		return guardtest.Join(guardtest.Const(16), guardtest.Const(20), guardtest.Call(function), guardtest.Drop,
			guardtest.Const(16), guardtest.Load, guardtest.I32Eqz)
	}
	noFolder := guardtest.Join(guardtest.Const(3), guardtest.Const(16), guardtest.Call(guardtest.FdPrestatGet))
	fixedClock := guardtest.Join(
		guardtest.Const(0), guardtest.Const64(1), guardtest.Const(16), guardtest.Call(guardtest.ClockTimeGet), guardtest.Drop,
		guardtest.Const(16), []byte{0x29, 3, 0}, // i64.load
		guardtest.Const64(946684800_000000000), 0x51) // i64.eq
	r := newRig(t)
	r.drop(t, r.home, "curious.wasm", guardtest.Command(guardtest.Allow, guardtest.Join(
		trapUnless(noFolder), trapUnless(empty(guardtest.EnvironSizesGet)), trapUnless(empty(guardtest.ArgsSizesGet)),
		trapUnless(fixedClock), guardtest.Print(14))))
	mustAllow(t, r.Check(t.Context(), step("x")))
}

func TestCommandIsAskedEveryKind(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "cmd.wasm", guardtest.Command(guardtest.Deny, guardtest.Print(uint32(len(guardtest.Deny)))))
	for _, kind := range []guardsdk.Kind{guardsdk.KindPin, guardsdk.KindValue, guardsdk.KindStep} {
		mustDeny(t, r.Check(t.Context(), guardsdk.Request{Kind: kind}), "test_denied")
	}
	if m := module(t, r.Host, "cmd"); m.Form != guard.FormCommand {
		t.Errorf("listed as %+v", m)
	}
}
