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
	at := find(reflect.ValueOf(function.Body), propertyIn)
	if at == 0 {
		return nil
	}
	found := tree.File.Position(int(at) - tree.File.Base())
	err := &syntaxError{message: `Unicode properties (\p{…}) in regular expressions are not available: name the characters instead`}
	err.line, err.column = p.author.at(found.Line, found.Column)
	return err
}

// propertyIn finds a regular expression that uses a Unicode property, as a literal
// or given to RegExp as a string.
func propertyIn(node any) (at file.Idx, skip bool) {
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
	}
	return at, false
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
