package scope

import (
	"reflect"

	"github.com/dop251/goja/ast"
)

// children are the parts of a node. goja's tree has no walker of its own.
func children(n ast.Node) []ast.Node {
	v := reflect.ValueOf(n)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil
	}
	var parts []ast.Node
	node := v.Elem()
	for i := range node.NumField() {
		// Declarations are listed a second time for the compiler.
		if node.Type().Field(i).Name != "DeclarationList" {
			parts = appendNodes(parts, node.Field(i))
		}
	}
	return parts
}

func appendNodes(parts []ast.Node, v reflect.Value) []ast.Node {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return parts
		}
		if node, ok := v.Interface().(ast.Node); ok {
			return append(parts, node)
		}
	case reflect.Slice:
		for i := range v.Len() {
			parts = appendNodes(parts, v.Index(i))
		}
	case reflect.Struct:
		// A name that is a part by value is a key or a property, not a variable.
		if declaration, ok := v.Addr().Interface().(*ast.LexicalDeclaration); ok {
			return append(parts, declaration)
		}
	}
	return parts
}

// Inspect visits a node and what is in it, with the nodes above, the nearest last.
// It leaves out the parts of a node for which visit says no.
func Inspect(n ast.Node, visit func(n ast.Node, above []ast.Node) bool) {
	var walk func(n ast.Node, above []ast.Node)
	walk = func(n ast.Node, above []ast.Node) {
		if !visit(n, above) {
			return
		}
		above = append(above, n)
		for _, part := range children(n) {
			walk(part, above)
		}
	}
	walk(n, nil)
}

// IsFunction tells nodes that have a return and a scope of their own.
func IsFunction(n ast.Node) bool {
	switch n.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.ClassStaticBlock:
		return true
	}
	return false
}

// IsLoop tells nodes that run their body again and again.
func IsLoop(n ast.Node) bool {
	switch n.(type) {
	case *ast.ForStatement, *ast.ForInStatement, *ast.ForOfStatement, *ast.WhileStatement, *ast.DoWhileStatement:
		return true
	}
	return false
}

// Identifier is a node that is only a name.
func Identifier(n ast.Node) (string, bool) {
	if id, ok := n.(*ast.Identifier); ok && id != nil {
		return id.Name.String(), true
	}
	return "", false
}

// Member is the name of a property that is read by a name known from the text.
func Member(n ast.Node) (object ast.Node, name string, ok bool) {
	switch m := n.(type) {
	case *ast.DotExpression:
		return Unwrap(m.Left), m.Identifier.Name.String(), true
	case *ast.BracketExpression:
		if key, ok := m.Member.(*ast.StringLiteral); ok {
			return Unwrap(m.Left), key.Value.String(), true
		}
	}
	return nil, "", false
}

// Unwrap takes what `?.` puts around an expression off it.
func Unwrap(n ast.Node) ast.Node {
	for {
		switch o := n.(type) {
		case *ast.Optional:
			n = o.Expression
		case *ast.OptionalChain:
			n = o.Expression
		default:
			return n
		}
	}
}
