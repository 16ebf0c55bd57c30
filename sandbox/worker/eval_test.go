package worker

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/google/go-cmp/cmp"
)

const (
	// patience is how long what must come may take, on a loaded machine too.
	patience = 2 * time.Minute
	// soon is the time of bodies that only its end ends.
	soon = 100 * time.Millisecond
)

func evaluator() *Evaluator {
	return New(Limits{MemoryBytes: 64 << 20, ResultBytes: 1 << 20})
}

// plain is a body that must return a plain object.
func plain(source string) *wire.Request {
	return &wire.Request{
		Source:  source,
		Args:    []wire.Arg{{Name: "params", JSON: json.RawMessage(`{"x":1,"s":"text"}`)}},
		Plain:   true,
		Zone:    "UTC",
		Timeout: patience,
	}
}

func raw(source string) *wire.Request {
	req := plain(source)
	req.Plain = false
	return req
}

func TestWhatComesBackIsSaidWhenItIsNoPlainObject(t *testing.T) {
	for source, want := range map[string]string{
		"":                            "returned nothing (undefined), not a plain object",
		"return null":                 "returned null, not a plain object",
		"return 'x'":                  "returned a string, not a plain object",
		"return 1":                    "returned a number, not a plain object",
		"return NaN":                  "returned NaN, not a plain object",
		"return true":                 "returned a boolean, not a plain object",
		"return 1n":                   "returned a BigInt, not a plain object",
		"return Symbol()":             "returned a symbol, not a plain object",
		"return [1]":                  "returned an array, not a plain object",
		"return () => 1":              "returned a function, not a plain object",
		"return class {}":             "returned a function, not a plain object",
		"return (async () => ({}))()": "returned a promise, not a plain object",
		"return {then() {}}":          "returned a thenable (an object with a then method), not a plain object",
		"return new Date(0)":          "returned an instance of Date, not a plain object",
		"return new (class Row {})":   "returned an instance of Row, not a plain object",
		"return new Map()":            "returned an instance of Map, not a plain object",
		"return new Proxy({}, {})":    "returned a Proxy, not a plain object",
		"const {proxy, revoke} = Proxy.revocable({}, {}); revoke(); return proxy": "returned a Proxy, not a plain object",
		"return {a: {b: [1, NaN]}}":                                           "returned a value that is no JSON: result.a.b[1] is NaN",
		"return {a: -1/0}":                                                    "returned a value that is no JSON: result.a is Infinity",
		"return {a: {n: 1n}}":                                                 "returned a value that is no JSON: result.a.n is a BigInt",
		"const o = {a: {}}; o.a.b = o; return o":                              "returned a value that is no JSON: result.a.b is a cycle: it refers back to result",
		"const o = {a: {}}; o.a.b = o.a; return o":                            "returned a value that is no JSON: result.a.b is a cycle: it refers back to result.a",
		"return {toJSON() { return 1 }}":                                      "returned an object whose toJSON gives no plain object",
		"return {s: 'x'.repeat(2e6)}":                                         "returned a value of more than 1 MB of JSON",
		"const a = []; a[4294967294] = 1; return {a}":                         "returned a value of more than 1 MB of JSON",
		"let o = {}; for (let i = 0; i < 30; i++) o = {a: o, b: o}; return o": "returned a value of more than 1 MB of JSON",
	} {
		resp := evaluator().Eval(plain(source))
		if resp.Failure == nil {
			t.Errorf("%s: gave %s", source, resp.Value)
		} else if resp.Failure.Type != typeResult || resp.Failure.Message != want {
			t.Errorf("%s:\n got %s %q\nwant result %q", source, resp.Failure.Type, resp.Failure.Message, want)
		}
	}
}

func TestValuesComeBackAsTheirJSON(t *testing.T) {
	for source, want := range map[string]string{
		"return {x: params.x, d: new Date(0), u: undefined, f() {}}":                     `{"x":1,"d":"1970-01-01T00:00:00.000Z"}`,
		"return Object.create(null)":                                                     `{}`,
		"return {p: new Proxy({a: 1}, {})}":                                              `{"p":{"a":1}}`,
		"return {'': {'a.b': '<\\u2028>\"'}}":                                            "{\"\":{\"a.b\":\"<\u2028>\\\"\"}}",
		"return {n: [-0, 1e21, 5e-324, 9007199254740993]}":                               `{"n":[0,1e+21,5e-324,9007199254740992]}`,
		"const o = {a: 1}; return {p: o, q: o}":                                          `{"p":{"a":1},"q":{"a":1}}`,
		"JSON.stringify = () => '1'; Object.prototype.toJSON = undefined; return {a: 1}": `{"a":1}`,
		"'use strict'; return {t: this === undefined}":                                   `{"t":true}`,
		"return {t: this === globalThis}":                                                `{"t":true}`,
		"return {a: 1} // comment":                                                       `{"a":1}`,
	} {
		resp := evaluator().Eval(plain(source))
		if resp.Failure != nil || string(resp.Value) != want {
			t.Errorf("%s: gave %s %+v, want %s", source, resp.Value, resp.Failure, want)
		}
	}
}

func TestRawBodiesMayReturnAnyJSON(t *testing.T) {
	for source, want := range map[string]string{
		"":                                 "null",
		"return [NaN, undefined, () => 1]": "[null,null,null]",
		"return Promise.resolve([1])":      "[1]",
		"return (async () => { await null; await null; return 2 })()": "2",
		"return Symbol()": "null",
	} {
		resp := evaluator().Eval(raw(source))
		if resp.Failure != nil || string(resp.Value) != want {
			t.Errorf("%s: gave %s %+v, want %s", source, resp.Value, resp.Failure, want)
		}
	}
	for source, want := range map[string]string{
		"return new Promise(() => {})":              "returned a promise that never settles",
		"return Promise.reject(new TypeError('x'))": "TypeError: x",
		"return 1n": "returned a BigInt",
	} {
		if resp := evaluator().Eval(raw(source)); resp.Failure == nil || resp.Failure.Message != want {
			t.Errorf("%s: gave %s %+v, want %s", source, resp.Value, resp.Failure, want)
		}
	}
}

func TestErrorsNameThePlaceInTheAuthorsText(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   wire.Failure
	}{
		{"return null.x", wire.Failure{Type: typeThrow, Message: "TypeError: Cannot read properties of null (reading 'x')", Line: 1, Column: 13}},
		{"const a = 1;\n\n  throw new RangeError('no')", wire.Failure{Type: typeThrow, Message: "RangeError: no", Line: 3, Column: 9}},
		{"const é = '😀'; missing()", wire.Failure{Type: typeThrow, Message: "ReferenceError: missing is not defined", Line: 1, Column: 24}},
		{"throw 'plain'", wire.Failure{Type: typeThrow, Message: "threw 'plain'", Line: 1, Column: 1}},
		{"throw {code: 7, deep: {er: {still: {more: 1}}}}", wire.Failure{Type: typeThrow, Message: "threw { code: 7, deep: { er: { still: [Object] } } }", Line: 1, Column: 1}},
		{"throw {get message() { throw 1 }}", wire.Failure{Type: typeThrow, Message: "threw a value that cannot be read", Line: 1, Column: 1}},
		{"return {get a() {\n throw new Error('in the result') }}", wire.Failure{Type: typeThrow, Message: "Error: in the result", Line: 2, Column: 8}},
		{"let n = 0;\nwhile (true) n++", wire.Failure{Type: typeTimeout, Message: "ran longer than 50ms and was stopped", Line: 2}},

		{"return {a: 1;}", wire.Failure{Type: typeSyntax, Message: `SyntaxError: Expected "}" but found ";"`, Line: 1, Column: 13}},
		{"const a = 1;\nreturn (", wire.Failure{Type: typeSyntax, Message: "SyntaxError: Unexpected end of the body", Line: 2, Column: 9}},
		{"return 3; /*", wire.Failure{Type: typeSyntax, Message: "SyntaxError: Unexpected end of the body", Line: 1, Column: 13}},
		{"return import('fs')", wire.Failure{Type: typeSyntax, Message: noModules, Line: 1, Column: 8}},
		{"\n import fs from 'fs'", wire.Failure{Type: typeSyntax, Message: noModules, Line: 2, Column: 2}},
		{"return 'é'.replace(/\\p{No}{/u, '')", wire.Failure{Type: typeSyntax, Message: `SyntaxError: Invalid regular expression: /\p{No}{/u: Incomplete quantifier`, Line: 1, Column: 20}},
		{"return new RegExp('\\\\p{Nope}', 'u')", wire.Failure{Type: typeThrow, Message: `SyntaxError: Invalid regular expression: /\p{Nope}/u: Invalid property name`, Line: 1, Column: 8}},
		{"return (5).toLocaleString('de', {style: 'unit'})", wire.Failure{Type: typeThrow, Message: "TypeError: Invalid unit argument for Intl.NumberFormat() ''", Line: 1, Column: 26}},
		{"return fetch('x')", wire.Failure{Type: typeThrow, Message: "ReferenceError: fetch is not defined: bodies cannot reach the network", Line: 1, Column: 13}},
		{"return process.env", wire.Failure{Type: typeThrow, Message: "ReferenceError: process is not defined: bodies cannot reach the process or its environment", Line: 1, Column: 8}},

		// lowered first: the positions come back through a source map
		{"async function* g() {}\n\n    return missing.x", wire.Failure{Type: typeThrow, Message: "ReferenceError: missing is not defined", Line: 3, Column: 12}},
		{"async function* g() {} return missing.x", wire.Failure{Type: typeThrow, Message: "ReferenceError: missing is not defined", Line: 1, Column: 31}},
		{"async function* g() {}\nreturn /[(]/v", wire.Failure{Type: typeSyntax, Line: 2, Column: 8}},
	} {
		req := plain(tt.source)
		if tt.want.Type == typeTimeout {
			req.Timeout = 50 * time.Millisecond
		}
		resp := evaluator().Eval(req)
		if resp.Failure == nil {
			t.Errorf("%s: gave %s", tt.source, resp.Value)
			continue
		}
		got := *resp.Failure
		if tt.want.Message == "" {
			got.Message = ""
		}
		if tt.want.Column == 0 {
			got.Column = 0
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.source, diff)
		}
	}
}

func TestABodyCannotCloseItsFunction(t *testing.T) {
	for _, source := range []string{
		"return 1; }); evil(); (function () {",
		"}), (function () {",
		"}, function () {",
		"})(); (function () {",
		"} , evil) ; (function () {",
		"return {} }); var __evil = 1; (function (params) {",
		"async function* g() {} }); evil(); (function (params) {", // lowered
		"async function* g() {} }); var __evil = evil(); (function (params) {",
		"for await (const x of []); }), (function (params) {",
		"}); async function* g() {} (function (params) { return {}",
		"*/ }); (function () { /*",
		"return {} \u2028 }); (function () {",
	} {
		resp := evaluator().Eval(plain(source))
		if resp.Failure == nil || resp.Failure.Type != typeSyntax {
			t.Errorf("%s: gave %s %+v", source, resp.Value, resp.Failure)
		}
	}
}

func TestNewerSyntaxIsLowered(t *testing.T) {
	for source, want := range map[string]string{
		"return (async () => { async function* g() { yield 1; yield 2 } const o = []; for await (const x of g()) o.push(x); return o })()": "[1,2]",
		"return (async () => { const o = []; for await (const x of [1, Promise.resolve(2)]) o.push(x); return o })()":                      "[1,2]",
		"if (true) { function a() { return 1 } } return a()":                                                                               "1",
		"switch (1) { case 1: function b() { return 2 } } return b()":                                                                      "2",
		"const f = () => { { function c() { return 3 } } return c() }; return f()":                                                         "3",
		"'use strict'; { function d() {} } return typeof d":                                                                                "\"undefined\"",
	} {
		resp := evaluator().Eval(raw(source))
		if resp.Failure != nil || string(resp.Value) != want {
			t.Errorf("%s: gave %s %+v, want %s", source, resp.Value, resp.Failure, want)
		}
	}
}

func TestConsoleIsKeptAndBounded(t *testing.T) {
	resp := evaluator().Eval(plain(`
		console.log('a', 1, -0, null, undefined, true, 2n, Symbol('s'));
		console.warn({a: 1, 'b-c': [1, 'x', {d: {e: {f: 1}}}], f() {}, g: class K {}});
		console.error('%s is %d %% %j %i', 'x', 4.5, {a: 1}, 4.5, 'rest');
		console.info(new Date(0), /x/g, new Error('e'), [], {}, new Map());
		const o = {}; o.self = o; console.debug(o);
		console.log({get bad() { throw 1 }}, new Proxy({}, {}));
		console.assert(1 === 2, 'sums'); console.assert(true); console.time('t');
		return {}`))
	want := []string{
		"a 1 -0 null undefined true 2n Symbol(s)",
		"{ a: 1, 'b-c': [ 1, 'x', { d: [Object] } ], f: [Function: f], g: [Function: K] }",
		"x is 4.5 % { a: 1 } 4 rest",
		"1970-01-01T00:00:00.000Z /x/g Error: e [] {} Map {}",
		"{ self: [Circular] }",
		"{ bad: '[Getter]' } [Proxy]",
		"Assertion failed sums",
	}
	if diff := cmp.Diff(want, resp.Console); diff != "" || resp.Failure != nil {
		t.Errorf("%+v (-want +got):\n%s", resp.Failure, diff)
	}
	resp = evaluator().Eval(plain("for (let i = 0; i < 1e4; i++) console.log('x'.repeat(1000)); return {}"))
	if n := len(strings.Join(resp.Console, "")); n > maxConsoleBytes+100 || len(resp.Console) > maxConsoleLines+1 {
		t.Errorf("%d lines, %d bytes were kept", len(resp.Console), n)
	}
}

func TestHostFacilitiesAreNotThere(t *testing.T) {
	names := []string{"GoError"}
	for name := range absent {
		names = append(names, name)
	}
	for _, name := range names {
		resp := evaluator().Eval(raw("return typeof " + name + " + (" + `"` + name + `" in globalThis)`))
		if string(resp.Value) != `"undefinedfalse"` {
			t.Errorf("%s: %s %+v", name, resp.Value, resp.Failure)
		}
	}
}

func TestStacksNameNoFileOfOurs(t *testing.T) {
	resp := evaluator().Eval(raw(`
		let s = new Error('a').stack + console.log.name + console.log;
		try { 'x'.repeat(-1) } catch (e) { s += e.stack + ''.repeat.name + ''.repeat }
		return s`))
	for _, word := range []string{".go", "github.com", "sandbox", "worker", "func1"} {
		if resp.Failure != nil || strings.Contains(string(resp.Value), word) {
			t.Errorf("%s in %s %+v", word, resp.Value, resp.Failure)
		}
	}
}

func TestProgramsAreKeptWithinBounds(t *testing.T) {
	e := evaluator()
	for i := range 2 * maxPrograms {
		e.Eval(plain("return {i: " + strings.Repeat("1", i+1) + "}"))
	}
	if n := e.programs.used.Len(); n != maxPrograms || len(e.programs.byKey) != n {
		t.Errorf("%d programs, %d keys", n, len(e.programs.byKey))
	}
	e.Eval(plain("/*" + strings.Repeat("x", maxProgramBytes) + "*/ return {}"))
	if n := e.programs.used.Len(); n != 1 {
		t.Errorf("%d programs beside one that takes all the room", n)
	}
}

func FuzzEveryBodyGetsAClassifiedAnswer(f *testing.F) {
	for _, source := range []string{"return {a: 1}", "}); (function(){", "async function* g(){}", "throw {}", "return /[/", "`${", "class A { #x", "return {}\u2028}"} {
		f.Add(source)
	}
	e := evaluator()
	f.Fuzz(func(t *testing.T, source string) {
		req := plain(source)
		req.Timeout = soon
		resp := e.Eval(req)
		if resp.Failure == nil && !json.Valid(resp.Value) {
			t.Fatalf("%q gave %q", source, resp.Value)
		}
		if resp.Failure != nil && (resp.Failure.Type == typeSandbox || resp.Failure.Message == "") {
			t.Fatalf("%q: %+v", source, resp.Failure)
		}
	})
}
