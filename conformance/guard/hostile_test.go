package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
)

// Opcodes of modules that misbehave.
var (
	endlessLoop = guardtest.Join(guardtest.Loop, guardtest.NoResult, guardtest.Br, 0, guardtest.End, guardtest.Unreachable)
	// A call tree without a loop: f(n) calls f(n-1) twice, which takes 2^60 calls.
	callTree = guardtest.Join(guardtest.Param(0), guardtest.If, guardtest.NoResult,
		guardtest.Param(0), guardtest.Const(-1), guardtest.I32Add, guardtest.Call(5),
		guardtest.Param(0), guardtest.Const(-1), guardtest.I32Add, guardtest.Call(5), guardtest.End)
	growForEver = guardtest.Join(guardtest.Loop, guardtest.NoResult,
		guardtest.Const(16), guardtest.Grow(), guardtest.Const(-1), 0x47, // i32.ne
		0x0d, 0, guardtest.End, guardtest.Unreachable) // br_if 0
)

// misbehaving are modules that load as guards and then give no verdict.
func misbehaving() map[string]struct {
	module guardtest.Module
	code   string
} {
	reactor := guardtest.Reactor(guardtest.Allow)
	answer := func(at, length uint32) guardtest.Module {
		return reactor.With("bir_step", guardtest.Const64(guardtest.Packed(at, length)))
	}
	tree := reactor.Add(guardtest.Func{Params: []byte{guardtest.I32}, Code: callTree})
	long := `{"allow":false,"reason":"` + strings.Repeat("x", 70<<10) + `"}`
	type c = struct {
		module guardtest.Module
		code   string
	}
	return map[string]c{
		"a trap":                            {reactor.With("bir_step", guardtest.Join(guardtest.Unreachable)), guard.CodeTrap},
		"a trap in bir_alloc":               {reactor.With("bir_alloc", guardtest.Join(guardtest.Unreachable)), guard.CodeTrap},
		"an endless loop":                   {reactor.With("bir_step", endlessLoop), guard.CodeTimeout},
		"an endless loop in bir_alloc":      {reactor.With("bir_alloc", endlessLoop), guard.CodeTimeout},
		"an endless call tree without loop": {tree.With("bir_step", guardtest.Join(guardtest.Const(60), guardtest.Call(5), guardtest.Unreachable)), guard.CodeTimeout},
		"a memory bomb":                     {reactor.With("bir_step", growForEver), guard.CodeMemory},
		"a pointer out of range":            {answer(1<<31, 14), guard.CodeBadVerdict},
		"a pointer whose end wraps":         {answer(0xfffffff0, 0x20), guard.CodeBadVerdict},
		"a length of 2 GB":                  {answer(guardtest.VerdictAt, 1<<31), guard.CodeBadVerdict},
		"room outside the memory":           {reactor.With("bir_alloc", guardtest.Const(-16)), guard.CodeBadVerdict},
		"an empty verdict":                  {answer(0, 0), guard.CodeBadVerdict},
		"a huge reason text":                {guardtest.Reactor(long), guard.CodeBadVerdict},
		"not UTF-8":                         {guardtest.Reactor("{\"allow\":true,\"reason\":\"\xff\"}"), guard.CodeBadVerdict},
		"not JSON":                          {guardtest.Reactor("allow"), guard.CodeBadVerdict},
		"JSON that is no object":            {guardtest.Reactor("true"), guard.CodeBadVerdict},
		"a JSON null":                       {guardtest.Reactor("null"), guard.CodeBadVerdict},
		"no allow":                          {guardtest.Reactor(`{"reason":"fine"}`), guard.CodeBadVerdict},
		"allow as a string":                 {guardtest.Reactor(`{"allow":"true"}`), guard.CodeBadVerdict},
		"allow in another case":             {guardtest.Reactor(`{"Allow":true}`), guard.CodeBadVerdict},
		"allow given twice":                 {guardtest.Reactor(`{"allow":false,"allow":true}`), guard.CodeBadVerdict},
		"two verdicts":                      {guardtest.Reactor(`{"allow":true}{"allow":false}`), guard.CodeBadVerdict},
		"a code that is a number":           {guardtest.Reactor(`{"allow":true,"code":1}`), guard.CodeBadVerdict},
	}
}

func TestMisbehavingModuleDeniesInTime(t *testing.T) {
	for name, c := range misbehaving() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRigWith(t, timeoutFor(c.code))
			r.drop(t, r.home, "bad.wasm", c.module)
			if err := r.Load(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			started := time.Now()
			v := mustDeny(t, r.Check(t.Context(), step("secret-argument")), c.code)
			if took := time.Since(started); c.code == guard.CodeTimeout && took > patience {
				t.Errorf("the denial took %v", took)
			}
			if v.Failure == "" || v.SHA256 == "" || v.Module != "bad" {
				t.Errorf("the denial does not say what failed in which module: %+v", v)
			}
			// The host is as it was: the next call is answered the same way.
			mustDeny(t, r.Check(t.Context(), step("secret-argument")), c.code)
			log := r.log.String()
			if !strings.Contains(log, "guard.deny") || !strings.Contains(log, v.SHA256) {
				t.Errorf("the denial is not in the log: %s", log)
			}
			if strings.Contains(log, "secret-argument") {
				t.Errorf("the log has the value of an argument: %s", log)
			}
		})
	}
}

// Whether the stack or the time runs out first depends on the machine.
func TestEndlessRecursionIsStopped(t *testing.T) {
	r := newRigWith(t, timeoutFor(guard.CodeTimeout))
	recurse := guardtest.Func{Params: []byte{guardtest.I32}, Code: guardtest.Join(guardtest.Param(0), guardtest.Call(5))}
	r.drop(t, r.home, "deep.wasm", guardtest.Reactor(guardtest.Allow).Add(recurse).
		With("bir_step", guardtest.Join(guardtest.Const(0), guardtest.Call(5), guardtest.Unreachable)))
	for range 2 {
		v, denied := r.Check(t.Context(), step("x")).Denial()
		if code := v.Verdict.Code; !denied || code != guard.CodeTrap && code != guard.CodeTimeout {
			t.Errorf("got %+v", v)
		}
	}
}

func TestTrappedInstanceIsReplaced(t *testing.T) {
	r := newRig(t)
	// The first call in an instance allows, the second one traps.
	once := guardtest.Join(
		guardtest.GetGlobal(), guardtest.If, guardtest.NoResult, guardtest.Unreachable, guardtest.End,
		guardtest.Const(1), guardtest.SetGlobal(),
		guardtest.Const64(guardtest.Packed(guardtest.VerdictAt, uint32(len(guardtest.Allow)))))
	r.drop(t, r.home, "once.wasm", guardtest.Reactor(guardtest.Allow).With("bir_step", once))
	for range 3 {
		mustAllow(t, r.Check(t.Context(), step("x")))
		mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeTrap)
	}
}

func TestModuleThatGrowsWithEachCallGoesOnAnswering(t *testing.T) {
	r := newRig(t)
	grow := guardtest.Join(
		guardtest.Const(16), guardtest.Grow(), guardtest.Const(-1), 0x46, // i32.eq
		guardtest.If, guardtest.NoResult, guardtest.Unreachable, guardtest.End,
		guardtest.Const64(guardtest.Packed(guardtest.VerdictAt, uint32(len(guardtest.Allow)))))
	r.drop(t, r.home, "leaky.wasm", guardtest.Reactor(guardtest.Allow).With("bir_step", grow))
	for range 200 { // 1 MiB each, and 16 MiB in all allowed
		mustAllow(t, r.Check(t.Context(), step("x")))
	}
}

// A module may keep state, and nothing follows from it: it can only deny more.
func TestStateKeptBetweenCallsStaysInItsModule(t *testing.T) {
	r := newRig(t)
	counting := guardtest.Reactor(guardtest.Deny).With("bir_step", guardtest.Join(
		guardtest.GetGlobal(), guardtest.Const(1), guardtest.I32Add, guardtest.SetGlobal(),
		guardtest.Const64(guardtest.Packed(guardtest.VerdictAt, uint32(len(guardtest.Deny))))))
	r.drop(t, r.home, "b-counting.wasm", counting)
	r.drop(t, r.home, "a-plain.wasm", guardtest.Reactor(guardtest.Allow))
	for range 5 {
		d := r.Check(t.Context(), step("x"))
		if v := mustDeny(t, d, "test_denied"); v.Module != "b-counting" || len(d.Verdicts) != 2 || !d.Verdicts[0].Verdict.Allow {
			t.Errorf("the state of one module reached another: %+v", d)
		}
	}
}

func TestStartFunctionThatNeverEndsIsStopped(t *testing.T) {
	r := newRig(t)
	spin := guardtest.Reactor(guardtest.Allow).Add(guardtest.Func{Code: endlessLoop})
	spin.Start = true
	r.drop(t, r.home, "spin.wasm", spin)
	v := mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeRejected)
	if !strings.Contains(v.Verdict.Reason, "does not start") {
		t.Errorf("reason %q", v.Verdict.Reason)
	}
}

func TestDenialTextCannotSteerATerminal(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "colour.wasm", guardtest.Reactor(`{"allow":false,"code":"c\u001b[2J","reason":"a\u001b[31m\nb\u202e`+strings.Repeat("y", 600)+`"}`))
	v, _ := r.Check(t.Context(), step("x")).Denial()
	if strings.ContainsAny(v.Verdict.Reason+v.Verdict.Code, "\x1b\n\u202e") || len([]rune(v.Verdict.Reason)) > 500 {
		t.Errorf("the text passed as it was: %q %q", v.Verdict.Code, v.Verdict.Reason)
	}
}

func TestReasonThatQuotesAnArgumentIsLoggedWithout(t *testing.T) {
	for args, reason := range map[string]string{
		`{"path":"s3cr3t-value"}`:                       `s3cr3t-value is bad`,
		`{"pin":36282910}`:                              `36282910 is bad`,
		`{"a":"s3cr3t","b":"s3cr3t-value"}`:             `s3cr3t-value is bad`,
		`{"path":"s3cr3t\nvalue"}`:                      `s3cr3t\\nvalue is bad`,
		`{"deep":[{"er":["two words of it, s3cr3t"]}]}`: `two words of it, s3cr3t is bad`,
	} {
		t.Run(args, func(t *testing.T) {
			r := newRig(t)
			r.drop(t, r.home, "quoting.wasm", guardtest.Reactor(`{"allow":false,"code":"no","reason":"`+reason+`"}`))
			req := step("")
			req.Args = []byte(args)
			v := mustDeny(t, r.Check(t.Context(), req), "no")
			if !strings.HasSuffix(v.Verdict.Reason, " is bad") || strings.Contains(v.Verdict.Reason, "[value]") {
				t.Errorf("the caller got %q", v.Verdict.Reason)
			}
			log := r.log.String()
			if strings.Contains(log, "s3cr3t") || strings.Contains(log, "3628") || !strings.Contains(log, "[value] is bad") {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// Copies of one module are read from the cache at the same time, which wazero alone
// does not survive.
func TestCopiesOfOneModuleLoadTogether(t *testing.T) {
	cached := guardtest.Reactor(guardtest.Allow).Bytes()
	for range 20 {
		r := newRig(t)
		for i := range 8 {
			put(t, filepath.Join(r.home, fmt.Sprintf("copy%d.wasm", i)), cached)
		}
		if d := r.Check(t.Context(), step("x")); !d.Allow || len(d.Verdicts) != 8 {
			t.Fatalf("got %+v", d)
		}
	}
}

// Many callers at once share a few instances, and no verdict gets lost or mixed up.
func TestManyCallersAtOnce(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "a.wasm", guardtest.Reactor(guardtest.Allow))
	r.drop(t, r.project, "b.wasm", guardtest.Reactor(guardtest.Deny))
	release := make(chan struct{})
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			<-release
			for range 20 {
				if v, denied := r.Check(t.Context(), step("x")).Denial(); !denied || v.Module != "b" || v.Verdict.Code != "test_denied" {
					t.Errorf("got %+v", v)
				}
			}
		})
	}
	close(release)
	wg.Wait()
}

// Everything that a module could wish for, with the two imports that guards may have
// among them: the refusal names each of the others.
func TestImportsOfEverythingAreNamed(t *testing.T) {
	greedy := guardtest.Command(guardtest.Allow, guardtest.Print(14))
	for _, name := range []string{"env.system", "env.fetch", "wasi_snapshot_preview1.sock_open", "wasi_snapshot_preview1.sock_accept",
		"wasi_unstable.path_open", "wasi_unstable.fd_write", "bir.allow"} {
		from, function, _ := strings.Cut(name, ".")
		greedy.Imports = append(greedy.Imports, guardtest.Import{Module: from, Name: function})
	}
	r := newRig(t)
	r.drop(t, r.home, "greedy.wasm", greedy)
	v := mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeRejected)
	for _, i := range greedy.Imports {
		allowed := i.Module == "wasi_snapshot_preview1" && !strings.HasPrefix(i.Name, "sock_")
		if named := strings.Contains(v.Verdict.Reason, i.Module+"."+i.Name); named == allowed {
			t.Errorf("%s.%s: %s", i.Module, i.Name, v.Verdict.Reason)
		}
	}
	if v.Module != "greedy" {
		t.Errorf("denied by %s", v.Module)
	}
}

// A thousand modules, each of which misbehaves: the host stays up, answers in time,
// and names each one.
func TestThousandModulesInTheFolder(t *testing.T) {
	const modules, asked = 1000, 100
	r := newRig(t)
	trap := guardtest.Reactor(guardtest.Allow).With("bir_step", guardtest.Join(guardtest.Unreachable)).Bytes()
	for i := range modules {
		put(t, filepath.Join(r.home, fmt.Sprintf("g%03d.wasm", i)), trap)
	}
	if err := r.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	d := r.Explain(t.Context(), step("x"))
	if len(d.Verdicts) != modules {
		t.Fatalf("%d verdicts", len(d.Verdicts))
	}
	for i, v := range d.Verdicts {
		code := guard.CodeTrap
		if i >= asked {
			code = guard.CodeRejected
		}
		if name := fmt.Sprintf("g%03d", i); v.Module != name || v.Verdict.Allow || v.Verdict.Code != code || !strings.Contains(v.Verdict.Reason, name) {
			t.Fatalf("%d: %+v", i, v)
		}
	}
	if m := module(t, r.Host, "g999"); !strings.Contains(m.Problem, "1000 guards and may be 100") {
		t.Errorf("listed as %+v", m)
	}
	// Once they are gone, all is as before.
	if err := os.RemoveAll(r.home); err != nil {
		t.Fatal(err)
	}
	mustAllow(t, r.Check(t.Context(), step("x")))
}
