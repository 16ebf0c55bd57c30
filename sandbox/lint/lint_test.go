package lint_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/lint"
)

// globals stand for those that the sandbox would name.
var globals = []string{
	"Object", "Array", "JSON", "Math", "Date", "Number", "String", "RegExp", "Map", "Set", "Promise", "Error",
	"TypeError", "Symbol", "console", "undefined", "NaN", "Infinity", "globalThis", "eval", "Function", "parseInt", "isNaN",
}

// parses is a sandbox in which everything parses.
type parses struct{}

func (parses) Eval(_ context.Context, body sandbox.Body, _ sandbox.Args) (sandbox.Result, error) {
	if strings.HasPrefix(body.Source, "return;\n") {
		return sandbox.Result{}, &sandbox.Error{Type: sandbox.TypeResult, Message: "returned nothing (undefined)"}
	}
	list, err := json.Marshal(globals)
	return sandbox.Result{Value: list}, err
}

func check(t *testing.T, kind sandbox.Kind, source string) []lint.Finding {
	t.Helper()
	found, err := lint.Run(t.Context(), parses{}, lint.Subject{Body: sandbox.Body{Kind: kind, Source: source}})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// brief is a finding as the tables here write it.
func brief(f lint.Finding) string {
	return fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Level, f.Rule)
}

// cases are bodies with what is to be found in them.
var cases = []struct {
	name   string
	kind   sandbox.Kind
	source string
	want   []string
}{
	{"a good body", "toolInput", "const p = `/data/${params.region}`;\nreturn { path: p, n: respParams.n };", nil},
	{"a good body with everything", "toolOutput", `
const parsed = JSON.parse(toolOutput);
class Best { #risk = -1; id; static none = new Best();
  take({ id, risk = 0, ...rest }) { if (risk > this.#risk) { this.#risk = risk; this.id = id; this.rest = rest; } return this; }
  get risk() { return this.#risk; } }
const best = new Best();
outer: for (const device of parsed.devices ?? []) {
  for (let i = 0; i < 2; i++) { if (device.skip?.[i]) continue outer; }
  best.take(device);
}
const [first, , third = first] = parsed.list, { a: { b }, ["c"]: c } = parsed;
let n; [n, n] = [1, 2]; ({ n } = parsed); n ??= 1;
function* numbers() { yield* [first, third, b, c, n]; }
switch (n) { case 1: { break; } default: throw new TypeError("no " + n); }
try { JSON.parse("x"); } catch { n++; } finally { n--; }
return { best: best.id, risk: best.risk, all: [...numbers()], [first]: third, none: Best.none };`, nil},
	{"undeclared", "toolInput", "return { path: parms.region, n: nobody };", []string{"1:16 error undeclared", "1:33 error undeclared"}},
	{"undeclared in a shorthand", "toolInput", "return { nobody, p: params };", []string{"1:10 error undeclared"}},
	{"asked for with typeof", "toolInput", "return { n: typeof nobody === 'undefined' ? params.a : nobody };", nil},
	{"a key of with", "toolInput", "with (params) { return { region }; }", []string{"1:37 warning no-return"}},
	{"host", "toolInput", "\n  const r = fetch(params.url);\n  return { r };", []string{"2:13 error host"}},
	{"host behind typeof", "toolInput", "if (typeof process !== 'undefined') return { v: process.env.HOME };\nreturn { v: params.v };",
		[]string{"1:12 warning host", "1:49 warning host"}},
	{"host in a branch never taken", "toolInput", "if (params.never) { setTimeout(() => {}, 1); }\nreturn { v: params.v };", []string{"1:21 error host"}},
	{"host on globalThis", "toolInput", "const f = globalThis.fetch ?? globalThis['process'];\nglobalThis.fetch(params.u); return { f };",
		[]string{"1:11 warning host", "1:31 warning host", "2:1 error host"}},
	{"a name of the host's that is the body's own", "toolInput", "const fetch = (x) => x; return { v: fetch(params.v) };", nil},
	{"an implicit global", "toolInput", "total = 0; for (const x of params.list) total += x; return { total };", []string{"1:1 warning implicit-global"}},
	{"clocks", "toolInput", "return { a: Date.now() - params.t, b: new Date().getDay(), c: Math.random(), d: new Date(params.t) };",
		[]string{"1:13 info nondeterministic", "1:39 info nondeterministic", "1:63 info nondeterministic"}},
	{"hidden code", "toolInput", "return { a: eval(params.a), b: new Function('return 1')() };", []string{"1:13 warning hidden-code", "1:32 warning hidden-code"}},
	{"unreachable", "toolInput", "return { a: params.a };\nconst b = 1;\nfunction c() {}\nreturn { b, c };", []string{"2:1 warning unreachable"}},
	{"unreachable in a branch", "toolInput", "if (false) { params.x(); } else { throw new Error('a'); }\nreturn { a: params.a };",
		[]string{"1:12 warning unreachable", "2:1 warning unreachable"}},
	{"unreachable behind a switch", "toolInput", "switch (params.a) { case 1: return { a: 1 }; default: return { a: 2 }; }\nreturn {};", []string{"2:1 warning unreachable"}},
	{"unreachable in a callback", "toolInput", "return { a: params.l.map((x) => { return x; x++; }) };", []string{"1:45 warning unreachable"}},
	{"reached behind a break", "toolInput", "while (true) { if (params.a) break; }\nreturn { a: params.b };", nil},
	{"reached behind a labelled break", "toolInput", "a: { if (params.a) break a; return { a: params.c }; }\nreturn { a: params.b };", nil},
	{"endless", "toolInput", "for (;;) { params.n++; }", []string{"1:1 error endless"}},
	{"no return", "toolInput", "const x = params.a; x.b = 1;", []string{"1:29 error no-return"}},
	{"some ways without a return", "toolInput", "if (params.a) { return { a: 1 }; }\n", []string{"2:1 warning no-return"}},
	{"a return of the callback only", "toolInput", "params.list.forEach((x) => { return x; });", []string{"1:43 error no-return"}},
	{"not an object", "toolInput", "if (params.a) return [params.a];\nif (params.b) return JSON.stringify(params);\nif (params.c) return;\nreturn 'x' + params.c;",
		[]string{"1:15 error result", "2:15 error result", "3:15 error result"}},
	{"constant", "toolInput", "return { path: '/data/eu' };", []string{"1:1 warning constant"}},
	{"constant though it reads", "toolInput", "const unused = params.region; console.log(unused);\nreturn { path: '/data/eu' };", []string{"2:1 warning constant"}},
	{"constant output", "toolOutput", "return { id: params.id };", []string{"1:1 warning constant"}},
	{"an empty output is fine", "toolOutput", "return {};", nil},
	{"depends through a callback", "toolOutput", "const ids = [];\nJSON.parse(toolOutput).forEach((d) => { ids.push(d.id); });\nreturn { ids };", nil},
	{"depends on a condition", "toolInput", "let p = 'a';\nif (params.b) p = 'b';\nreturn { p };", nil},
	{"depends on which return", "toolInput", "if (params.b) return { p: 'b' };\nreturn { p: 'a' };", nil},
	{"string in a loop", "toolInput", "let s = '';\nfor (const x of params.list) { s += x; }\nreturn { s };", []string{"2:32 warning string-in-loop"}},
	{"string in forEach", "toolInput", "let s;\nparams.list.forEach((x) => { s = s + `${x}\\n`; });\nreturn { s };", []string{"2:30 warning string-in-loop"}},
	{"a sum in a loop", "toolInput", "let n = 0;\nfor (const x of params.list) { n += x; }\nreturn { n };", nil},
	{"constant assigned", "toolInput", "const n = params.n;\nn++;\nreturn { n };", []string{"2:1 error constant-assigned"}},
	{"unused", "toolInput", "const a = 1, { b, ...rest } = params;\nreturn { l: params.l.map((x, i, all) => i), rest, f: params.l.map((_y) => 1) };",
		[]string{"1:7 info unused", "2:33 info unused"}},
	{"columns are an editor's", "toolInput", "return { a: '😀é', b: params.b, c: nobody };", []string{"1:36 error undeclared"}},
	{"lines of every kind", "toolInput", "const a = params.a;\r\nconst b = nobody;\rreturn { a, b };", []string{"2:11 error undeclared"}},
	{"syntax that is lowered", "raw", "async function* g() { yield nobody; yield* x(); }\nreturn (async () => { for await (const v of g()) { using h = v; return fetch(h); } })();",
		[]string{"1:29 error undeclared", "1:44 error undeclared", "2:72 error host"}},
	{"syntax that nobody knows", "raw", "return 1 +* 2;", []string{"1:1 info unread"}},
}

func TestFindings(t *testing.T) {
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			found := check(t, tt.kind, tt.source)
			for _, f := range found {
				got = append(got, brief(f))
				if f.Message == "" || f.Suggestion == "" {
					t.Errorf("no message or suggestion: %+v", f)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%+v", diff, found)
			}
		})
	}
}

func TestSuggestionsNameWhatWasMeant(t *testing.T) {
	for source, want := range map[string]string{
		"return { a: parms.a };":                             "did you mean params?",
		"return { a: Jason.parse(params.a) };":               "declare it, or read it from params or respParams",
		"return { a: JSN.parse(params.a) };":                 "did you mean JSON?",
		"const device = 1; return { a: devise + params.a };": "did you mean device?",
	} {
		found := check(t, "toolInput", source)
		if len(found) == 0 || found[len(found)-1].Suggestion != want && found[0].Suggestion != want {
			t.Errorf("%s: %+v, want %q", source, found, want)
		}
	}
}

func TestKeysThatTheRecordingLacksAreFound(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   []string
	}{
		{"return { a: params.region, b: params['regoin'], c: respParams.id };", []string{"1:31 warning unknown-key"}},
		{"const { region, regions, zone = 1 } = params;\nreturn { region, regions, zone };", []string{"1:17 warning unknown-key"}},
		{"return { a: params.zone ?? params.region, b: params.zone ? 1 : 2, c: !params.zone, d: params.zone?.x, e: params.hasOwnProperty('x') };", nil},
		{"params.zone = 1; if (params.zone) return { a: params.region + params.zone }; return { b: respParams.whatever };", nil},
		{"return { l: params.list.map((params) => params.zone) };", []string{"1:13 warning unknown-key"}},
	} {
		subject := lint.Subject{
			Body: sandbox.Body{Kind: "toolInput", Source: tt.source}, Keys: map[string][]string{"params": {"region"}},
		}
		found, err := lint.Run(t.Context(), parses{}, subject)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, brief(f))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.source, diff)
		}
	}
}

type evaluatorFunc func(sandbox.Body) (sandbox.Result, error)

func (f evaluatorFunc) Eval(_ context.Context, body sandbox.Body, _ sandbox.Args) (sandbox.Result, error) {
	return f(body)
}

func TestWhatDoesNotParseIsOneErrorInTheAuthorsText(t *testing.T) {
	ev := evaluatorFunc(func(sandbox.Body) (sandbox.Result, error) {
		return sandbox.Result{}, &sandbox.Error{Type: sandbox.TypeSyntax, Message: "SyntaxError: no", Line: 3, Column: 4}
	})
	got, err := lint.Run(t.Context(), ev, lint.Subject{Body: sandbox.Body{Kind: "params", Source: "a\n   b c"}})
	want := []lint.Finding{{Rule: "syntax", Level: lint.Error, Message: "SyntaxError: no", Line: 2, Column: 4}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestSandboxThatCannotBeAskedIsAnError(t *testing.T) {
	for _, cause := range []error{context.Canceled, &sandbox.Error{Type: sandbox.TypeSandbox, Message: "no worker"}} {
		ev := evaluatorFunc(func(sandbox.Body) (sandbox.Result, error) { return sandbox.Result{}, cause })
		if found, err := lint.Run(t.Context(), ev, lint.Subject{}); !errors.Is(err, cause) || found != nil {
			t.Errorf("%v: found %v, error %v", cause, found, err)
		}
	}
}

// TestNamesInQuestionAreWrittenOut holds what a sandbox that makes some globals only
// for a body that names them needs.
func TestNamesInQuestionAreWrittenOut(t *testing.T) {
	var asked string
	ev := evaluatorFunc(func(body sandbox.Body) (sandbox.Result, error) {
		asked = body.Source
		return sandbox.Result{Value: json.RawMessage(`["URL", "globalThis"]`)}, nil
	})
	source := "return { u: new URL(params.u), b: globalThis.Buffer }"
	found, err := lint.Run(t.Context(), ev, lint.Subject{Body: sandbox.Body{Kind: "toolInput", Source: source}})
	if err != nil || len(found) != 0 || !strings.Contains(asked, `"Buffer","URL"`) {
		t.Errorf("%v, found %v, asked %s", err, found, asked)
	}
}

// FuzzCheck holds that no text makes lint panic, and that every finding stands in
// the text.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"return {}", "a: for (const [x = y, ...z] of w) continue a;", "class A extends B { static { this.#x = 1 } #x }",
		"({ a, b: { c } = {}, ...d } = e)", "`${a}` ?? b?.[c]?.(d)", "switch (a) { default: }", "try {} catch ({ a }) {} finally {}",
		"x = async ({ a } = {}) => await a, function f() { new.target }", "for (var i in o); do ; while (0)", "}) (function () {", "/*", "\u2028\r\n\u2029",
		"async function* g() { yield* 1 } for await (const a of b);", "label: { break label }", "for (const x of y) for (let z = 0;;) with (a) b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if strings.Count(source, "(")+strings.Count(source, "[")+strings.Count(source, "{") > 1000 {
			t.Skip() // the sandbox refuses what nests that deep before lint reads it
		}
		lines := 1 + strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(source), "\n")
		for _, finding := range check(t, "toolInput", source) {
			if finding.Line < 1 || finding.Line > lines || finding.Column < 1 {
				t.Errorf("%+v stands outside of %q", finding, source)
			}
		}
	})
}
