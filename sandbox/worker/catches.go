package worker

import (
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

// takeCatches has every caught value pass through a function of ours, which puts
// the engine's own messages into V8's words: bodies read them.
func (p *program) takeCatches(function *ast.FunctionLiteral) bool {
	if !strings.Contains(p.author.source, "catch") {
		return false
	}
	found := false
	visit(reflect.ValueOf(function.Body), func(node any) {
		if try, ok := node.(*ast.TryStatement); ok && try.Catch != nil && try.Catch.Parameter != nil {
			found = true
			takeCatch(try)
		}
	})
	return found
}

func takeCatch(try *ast.TryStatement) {
	at := try.Catch.Catch
	if name, ok := try.Catch.Parameter.(*ast.Identifier); ok {
		seen := &ast.ExpressionStatement{Expression: call(errorName, at, &ast.Identifier{Name: name.Name, Idx: at})}
		try.Catch.Body.List = append([]ast.Statement{seen}, try.Catch.Body.List...)
		return
	}
	// A pattern takes the value apart at once, so it is caught once before.
	thrown := &ast.Identifier{Name: unistring.String(thrownName), Idx: at}
	again := &ast.ThrowStatement{Throw: at, Argument: call(errorName, at, thrown)}
	try.Body = &ast.BlockStatement{
		LeftBrace:  try.Body.LeftBrace,
		RightBrace: try.Body.RightBrace,
		List: []ast.Statement{&ast.TryStatement{
			Try:  try.Try,
			Body: try.Body,
			Catch: &ast.CatchStatement{
				Catch:     at,
				Parameter: thrown,
				Body:      &ast.BlockStatement{LeftBrace: at, RightBrace: at, List: []ast.Statement{again}},
			},
		}},
	}
}

// visit walks a part of a tree, the inside of a node before the node itself.
func visit(v reflect.Value, see func(node any)) {
	switch v.Kind() {
	case reflect.Interface:
		visit(v.Elem(), see)
	case reflect.Pointer:
		if v.IsNil() || v.Type() == fileType || !v.CanInterface() {
			return
		}
		visit(v.Elem(), see)
		see(v.Interface())
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), see)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			visit(v.Field(i), see)
		}
	}
}
