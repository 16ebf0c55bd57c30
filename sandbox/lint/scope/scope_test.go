package scope_test

import (
	"fmt"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/sandbox/lint/scope"
)

func resolve(t *testing.T, source string) *scope.Names {
	t.Helper()
	tree, err := parser.ParseFile(nil, "", "(function (p) {"+source+"\n})", 0)
	if err != nil {
		t.Fatal(err)
	}
	return scope.Resolve(tree.Body[0].(*ast.ExpressionStatement).Expression.(*ast.FunctionLiteral))
}

// TestNamesMeanWhatJavaScriptSays gives each declared name with its reads and
// writes, and then what stays global.
func TestNamesMeanWhatJavaScriptSays(t *testing.T) {
	for _, tt := range []struct {
		source string
		want   []string
	}{
		{"return p + q", []string{"p 1 0", "q"}},
		{"let a = 1; { let a = 2; a; } a = 3", []string{"p 0 0", "a 0 1", "a 1 0"}},
		{"x(); var x; { var y = 1; function z() {} } y; z()", []string{"p 0 0", "x 1 0", "y 1 0", "z 1 0", "z 0 0"}},
		{"for (let i = 0; i < 2; i++) f(i); i", []string{"p 0 0", "i 3 1", "f", "i"}},
		{"for (const [k, { v = d }] of p) k + v", []string{"p 1 0", "k 1 0", "v 1 0", "d"}},
		{"for (k in p); let k", []string{"p 1 0", "k 0 1"}},
		{"let a, b, r; [a = d, ...r] = p; ({ b, [c]: a } = p)", []string{"p 2 0", "a 0 2", "b 0 1", "r 0 1", "d", "c"}},
		{"const f = (a, { b = a }) => a + b + p; f()", []string{"p 1 0", "f 1 0", "a 2 0", "b 1 0"}},
		{"return { p, q, [r]: 1, s: 2 }.t", []string{"p 1 0", "q", "r"}},
		{"try {} catch ({ message }) { message }", []string{"p 0 0", "message 1 0"}},
		{"class A extends B { c = d; [e]() { return A } static { let p; p } }", []string{"p 0 0", "A 1 0", "p 1 0", "B", "d", "e"}},
		{"a: for (;;) { continue a }", []string{"p 0 0"}},
		{"const f = function g(n) { return n ? g(n - 1) : 0 }", []string{"p 0 0", "f 0 0", "g 2 0", "n 2 0"}},
		{"switch (p) { case q: let a; default: a }", []string{"p 1 0", "a 1 0", "q"}},
		{"t += 1", []string{"p 0 0", "t"}},
		{"return `${p}${q}` + p?.q?.[r]", []string{"p 2 0", "q", "r"}},
	} {
		names := resolve(t, tt.source)
		var got []string
		for _, v := range names.Variables {
			got = append(got, fmt.Sprintf("%s %d %d", v.Name, v.Reads, len(v.Writes)))
		}
		var globals []string
		for _, id := range names.Globals {
			globals = append(globals, id.Name.String())
		}
		got = append(got, globals...)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.source, diff)
		}
	}
}
