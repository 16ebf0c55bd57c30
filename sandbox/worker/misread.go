package worker

import (
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"
)

// misread refuses what goja would run with another meaning than Node, silently:
// Unicode properties in regular expressions match nothing there.
func (p *program) misread(tree *ast.Program, function *ast.FunctionLiteral) error {
	if !strings.Contains(p.author.source, `\p{`) && !strings.Contains(p.author.source, `\P{`) {
		return nil
	}
	at := findProperty(reflect.ValueOf(function.Body))
	if at == 0 {
		return nil
	}
	found := tree.File.Position(int(at) - tree.File.Base())
	err := &syntaxError{message: `Unicode properties (\p{…}) in regular expressions are not available: name the characters instead`}
	err.line, err.column = p.author.at(found.Line, found.Column)
	return err
}

// findProperty walks any part of a syntax tree to the first regular expression
// that uses a Unicode property, as a literal or given to RegExp as a string.
func findProperty(v reflect.Value) file.Idx {
	switch v.Kind() {
	case reflect.Interface:
		return findProperty(v.Elem())
	case reflect.Pointer:
		if v.IsNil() {
			return 0
		}
		if at, known := propertyIn(v.Interface()); known {
			return at
		}
		return findProperty(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if at := findProperty(v.Index(i)); at != 0 {
				return at
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				if at := findProperty(v.Field(i)); at != 0 {
					return at
				}
			}
		}
	}
	return 0
}

// propertyIn looks at one node; it is known if its parts need no further look.
func propertyIn(node any) (at file.Idx, known bool) {
	switch n := node.(type) {
	case *ast.RegExpLiteral:
		if strings.Contains(n.Flags, "u") && hasProperty(n.Pattern) {
			return n.Idx, true
		}
		return 0, true
	case *ast.NewExpression:
		at = constructed(n.Callee, n.ArgumentList)
	case *ast.CallExpression:
		at = constructed(n.Callee, n.ArgumentList)
	case *file.File, *ast.Program:
		return 0, true
	}
	return at, at != 0
}

// constructed is the place of a string with a property that RegExp is given.
func constructed(callee ast.Expression, args []ast.Expression) file.Idx {
	name, ok := callee.(*ast.Identifier)
	if !ok || name.Name != unistring.String("RegExp") || len(args) == 0 {
		return 0
	}
	if pattern, ok := args[0].(*ast.StringLiteral); ok && hasProperty(pattern.Value.String()) {
		return pattern.Idx
	}
	return 0
}

func hasProperty(pattern string) bool {
	return strings.Contains(pattern, `\p{`) || strings.Contains(pattern, `\P{`)
}
