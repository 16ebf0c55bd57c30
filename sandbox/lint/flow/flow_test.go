package flow_test

import (
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"github.com/bir-run/bir/sandbox/lint/flow"
)

func TestTheEndIsReachedOrNot(t *testing.T) {
	for source, want := range map[string]bool{
		"":                             true,
		"return":                       false,
		"if (a) return; else throw b":  false,
		"if (a) return":                true,
		"if (true) return; else b()":   false,
		"for (;;) {}":                  false,
		"for (;;) break":               true,
		"a: for (;;) for (;;) break a": true,
		"for (;;) { switch (a) { case 1: break } }":            false,
		"for (;;) for (;;) break":                              false,
		"while (!0) continue":                                  false,
		"do { return } while (a)":                              true, // in doubt
		"for (const a of b) return":                            true,
		"a: { break a }":                                       true,
		"a: { return }":                                        false,
		"switch (a) { case 1: return; default: throw b }":      false,
		"switch (a) { case 1: return }":                        true,
		"switch (a) { case 1: default: if (b) break; return }": true,
		"try { return } catch { throw a }":                     false,
		"try { return } catch {}":                              true,
		"try { a() } finally { return }":                       false,
		"function f() { return } f()":                          true,
		"return; function f() {} var x;":                       false,
	} {
		tree, err := parser.ParseFile(nil, "", "(function () {"+source+"\n})", 0)
		if err != nil {
			t.Fatal(err)
		}
		f := tree.Body[0].(*ast.ExpressionStatement).Expression.(*ast.FunctionLiteral)
		if _, got := flow.Follow(f.Body.List); got != want {
			t.Errorf("%s: end reached %v, want %v", source, got, want)
		}
	}
}
