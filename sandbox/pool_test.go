package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox"
	"github.com/google/go-cmp/cmp"
)

func raw(source string) sandbox.Body { return sandbox.Body{Kind: sandbox.KindRaw, Source: source} }

// endless is a body that only the end of its time ends.
func endless(source string) sandbox.Body {
	body := raw(source)
	body.Timeout = 300 * time.Millisecond
	return body
}

// fault is the body's error, which an evaluation must have ended with.
func fault(t *testing.T, err error) *sandbox.Error {
	t.Helper()
	var f *sandbox.Error
	if !errors.As(err, &f) {
		t.Fatalf("got %v, want an error of the body", err)
	}
	return f
}

// stillWorks holds that the pool serves the next body.
func stillWorks(t *testing.T, pool *sandbox.Pool) {
	t.Helper()
	result, err := pool.Eval(t.Context(), raw("return 1"), sandbox.Args{})
	if err != nil || string(result.Value) != "1" {
		t.Fatalf("the next evaluation gave %s, %v", result.Value, err)
	}
}

func TestEachKindGetsItsArguments(t *testing.T) {
	pool := newPool(t, sandbox.Config{})
	args := sandbox.Args{
		Params:     json.RawMessage(`{"p":"<é>"}`),
		RespParams: json.RawMessage(`{"r":2}`),
		ToolOutput: "text \u2028 {}",
		Raw:        []sandbox.Arg{{Name: "b", Value: json.RawMessage("1")}, {Name: "a", Value: json.RawMessage("[2]")}},
	}
	for _, tt := range []struct {
		kind         sandbox.Kind
		source, want string
	}{
		{sandbox.KindParams, "return {n: arguments.length, p: params.p}", `{"n":1,"p":"<é>"}`},
		{sandbox.KindToolInput, "return {n: arguments.length, p: params.p, r: respParams.r}", `{"n":2,"p":"<é>","r":2}`},
		{sandbox.KindToolOutput, "return {n: arguments.length, t: toolOutput, p: params.p, r: respParams.r}", `{"n":3,"t":"text \u2028 {}","p":"<é>","r":2}`},
		{sandbox.KindResponseParams, "return {n: arguments.length, r: respParams.r}", `{"n":2,"r":2}`},
		{sandbox.KindRaw, "return [b, a, arguments.length]", `[1,[2],2]`},
	} {
		result, err := pool.Eval(t.Context(), sandbox.Body{Kind: tt.kind, Source: tt.source}, args)
		if err != nil {
			t.Errorf("%s: %v", tt.kind, err)
			continue
		}
		if diff := cmp.Diff(decode(t, json.RawMessage(tt.want)), decode(t, result.Value)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.kind, diff)
		}
	}
}

func decode(t *testing.T, text json.RawMessage) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestBodiesThatNeverEndAreStopped(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1})
	for name, source := range map[string]string{
		"loop":         "while(true){}",
		"finally":      "while(true){ try { while(true){} } finally { continue } }",
		"regex":        "return /^(?=a)(a+)+$/.test('a'.repeat(40)+'!')",
		"native loop":  "Array.prototype.indexOf.call({length: 2**53-1}, 1)",
		"microtasks":   "const f = () => Promise.resolve().then(f); return f()",
		"result":       "return {get a() { for(;;); }}",
		"thrown value": "throw {get message() { for(;;); }}",
		"sort":         "return [1,2].sort(() => { for(;;); })",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pool.Eval(t.Context(), endless(source), sandbox.Args{})
			if f := fault(t, err); f.Type != sandbox.TypeTimeout {
				t.Errorf("ended as %s: %v", f.Type, f)
			}
			stillWorks(t, pool)
		})
	}
}

// long is the time of bodies that only their memory may end, after much work.
const long = 10 * time.Minute

func TestBodiesThatTakeTooMuchMemoryAreStopped(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1, Timeout: long})
	for name, source := range map[string]string{
		"repeat":      "return 'x'.repeat(2**30)",
		"hidden name": "return 'x'['rep'+'eat'](2**30).length",
		"pad":         "return ''.padEnd(2**29)",
		"push":        "const a = []; for(;;) a.push({})",
		"join":        "return new Array(2**27).join('xxxxxxxxxx').length",
		"typed array": "return new Uint8Array(2**32 - 1).length",
		"many arrays": "const k = []; for(;;) k.push(new Float64Array(131072))",
		"doubling":    "let s = 'x'; for(;;) s += s",
		"wide JSON":   "return JSON.parse('[' + '{},'.repeat(4e6) + '1]').length",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pool.Eval(t.Context(), raw(source), sandbox.Args{})
			if f := fault(t, err); f.Type != sandbox.TypeMemory {
				t.Errorf("ended as %s: %v", f.Type, f)
			}
			stillWorks(t, pool)
		})
	}
}

func TestGarbageIsNotTakenForMemoryInUse(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1, Timeout: long})
	source := "let n = 0; for (let i = 0; i < 20000; i++) n += new Array(1000).fill(i).length; return n"
	result, err := pool.Eval(t.Context(), raw(source), sandbox.Args{})
	if err != nil || string(result.Value) != "20000000" {
		t.Errorf("gave %s, %v", result.Value, err)
	}
}

func TestDeepRecursionIsAnErrorNotACrash(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1})
	for name, source := range map[string]string{
		"function": "function f() { return f() + 1 }\nreturn f()",
		"getter":   "const o = {get a() { return this.a }}; return o.a",
		"replace":  "const f = () => 'a'.replace(/a/, f); return f()",
		"toJSON":   "const f = () => ({toJSON: f}); const o = {a: 1}; o.toJSON = () => JSON.stringify(o); return o",
		"deep":     "let o = 1; for (let i = 0; i < 100000; i++) o = [o]; return o",
		"source":   "return eval('!'.repeat(500000) + 'true')",
	} {
		t.Run(name, func(t *testing.T) {
			result, err := pool.Eval(t.Context(), raw(source), sandbox.Args{})
			if err == nil {
				t.Fatalf("gave %s", result.Value)
			}
			if f := fault(t, err); f.Type == sandbox.TypeSandbox || f.Type == sandbox.TypeTimeout {
				t.Errorf("ended as %s: %v", f.Type, f)
			}
			stillWorks(t, pool)
		})
	}
}

func TestNothingIsLeftForTheNextEvaluation(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1})
	poison := `
		Object.prototype.bad = 1; Array.prototype.bad = 1;
		JSON.stringify = JSON.parse = () => 'forged';
		Symbol.for('k').constructor.bad = 1; Symbol.prototype.bad = 1;
		secret = 1; globalThis.other = 2; (0, eval)('var third = 3');
		Math.random = () => 5; Date.now = () => 42; console.log = () => { throw 1 };
		Promise.resolve().then(() => { globalThis.late = 1 });
		return 1`
	probe := `
		console.log('fine');
		return [({}).bad, [].bad, JSON.stringify({a:1}), JSON.parse('2'), Symbol.for('k').bad,
			typeof secret, typeof other, typeof third, typeof late, Math.random() < 1, Date.now() === 42]`
	want := `[null,null,"{\"a\":1}",2,null,"undefined","undefined","undefined","undefined",true,false]`
	for range 3 {
		if _, err := pool.Eval(t.Context(), raw(poison), sandbox.Args{}); err != nil {
			t.Fatal(err)
		}
		result, err := pool.Eval(t.Context(), raw(probe), sandbox.Args{})
		if err != nil || string(result.Value) != want {
			t.Errorf("gave %s, %v", result.Value, err)
		}
	}
}

func TestTheSameWorldGivesTheSameBytesOnEveryWorker(t *testing.T) {
	body := raw("return [Math.random(), Math.random(), Date.now(), new Date().getHours(), String(new Date()), Object.keys({b:1,a:2})]")
	args := sandbox.Args{World: sandbox.World{Now: time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC), Zone: "Asia/Tokyo", Seed: 7}}
	var first string
	for range 2 {
		pool := newPool(t, sandbox.Config{Size: 1}) // its own worker
		for range 2 {
			result, err := pool.Eval(t.Context(), body, args)
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = string(result.Value)
			}
			if string(result.Value) != first {
				t.Errorf("gave %s, before %s", result.Value, first)
			}
		}
	}
	if !strings.Contains(first, ",1772600767008,14,") {
		t.Errorf("the clock or the zone is not the world's: %s", first)
	}
	args.World.Seed = 8
	other, err := newPool(t, sandbox.Config{}).Eval(t.Context(), body, args)
	if err != nil || string(other.Value) == first {
		t.Errorf("another seed gave %s, %v", other.Value, err)
	}
}

func TestManyCallersShareThePool(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 2, MaxEvaluations: 20})
	var group sync.WaitGroup
	start := make(chan struct{})
	for i := range 32 {
		group.Go(func() {
			<-start
			for j := range 10 {
				args := sandbox.Args{Params: json.RawMessage(fmt.Sprintf(`{"x":%d}`, i*100+j))}
				result, err := pool.Eval(t.Context(), sandbox.Body{Kind: sandbox.KindParams, Source: "return {x: params.x}"}, args)
				if want := string(args.Params); err != nil || string(result.Value) != want {
					t.Errorf("gave %s, %v, want %s", result.Value, err, want)
				}
			}
		})
	}
	close(start)
	group.Wait()
	if started := pool.Stats().Started(); started < 16 {
		t.Errorf("%d workers for 320 evaluations, at most 20 each", started)
	}
}

func TestWaitingForASlotCountsAgainstTheCaller(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1})
	leave := sandbox.TakeSlot(pool)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := pool.Eval(ctx, raw("return 1"), sandbox.Args{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	leave()
	stillWorks(t, pool)
}

func TestTheCallersEndStopsItsBody(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1})
	stillWorks(t, pool)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := pool.Eval(ctx, raw("for(;;);"), sandbox.Args{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	stillWorks(t, pool)
}

func TestABodyThatTookTwoWorkersDownIsRefused(t *testing.T) {
	pool := newPool(t, sandbox.Config{Size: 1})
	killer := endless("return Array.prototype.indexOf.call({length: 2**53-1}, 1)")
	var first *sandbox.Error
	for range 2 {
		_, err := pool.Eval(t.Context(), killer, sandbox.Args{})
		first = fault(t, err)
	}
	started := pool.Stats().Started()
	if started != 2 {
		t.Errorf("%d workers were started, want 2", started)
	}
	_, err := pool.Eval(t.Context(), killer, sandbox.Args{})
	if diff := cmp.Diff(first, fault(t, err)); diff != "" {
		t.Errorf("another error than before (-before +now):\n%s", diff)
	}
	if now := pool.Stats().Started(); now != started {
		t.Errorf("%d workers were started for it", now-started)
	}
	patient := killer
	patient.Timeout *= 2
	if _, err := pool.Eval(t.Context(), patient, sandbox.Args{}); pool.Stats().Refused != 1 {
		t.Errorf("with more time it was refused: %v", err)
	}
	stillWorks(t, pool)
}

func TestCallersMistakesNeverReachAWorker(t *testing.T) {
	pool := newPool(t, sandbox.Config{ArgBytes: 100})
	for _, tt := range []struct {
		body sandbox.Body
		args sandbox.Args
		want string
	}{
		{sandbox.Body{Kind: "x"}, sandbox.Args{}, `"x" is no kind of body`},
		{raw("return '\xff'"), sandbox.Args{}, "the body is not UTF-8 at byte 8"},
		{raw(""), sandbox.Args{Raw: []sandbox.Arg{{Name: "a b", Value: json.RawMessage("1")}}}, `"a b" cannot be a parameter's name`},
		{trivial, sandbox.Args{Params: json.RawMessage(`{"a":}`)}, "params is not JSON"},
		{trivial, sandbox.Args{Params: json.RawMessage(`"` + strings.Repeat("x", 100) + `"`)}, "the arguments have 102 bytes, at most 100 allowed"},
	} {
		_, err := pool.Eval(t.Context(), tt.body, tt.args)
		if f := fault(t, err); f.Message != tt.want {
			t.Errorf("got %q, want %q", f.Message, tt.want)
		}
	}
	if started := pool.Stats().Started(); started != 0 {
		t.Errorf("%d workers were started", started)
	}
}

func TestAMissingWorkerIsSaidToBeMissing(t *testing.T) {
	pool := newPool(t, sandbox.Config{Command: []string{"/nowhere/bir-sandbox"}})
	_, err := pool.Eval(t.Context(), trivial, sandbox.Args{})
	if f := fault(t, err); f.Type != sandbox.TypeSandbox || !strings.Contains(f.Message, "bir-sandbox") {
		t.Errorf("got %+v", f)
	}
	pool.Close()
	if _, err := pool.Eval(t.Context(), trivial, sandbox.Args{}); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
