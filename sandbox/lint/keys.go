package lint

import (
	"fmt"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"

	"github.com/bir-run/bir/sandbox/lint/scope"
)

// inherited are what every object has.
var inherited = []string{"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"}

// keys finds reads of what a parameter did not hold in the recording: a slip of the
// pen gives undefined there, and no error.
func (c *checker) keys() {
	given := map[*scope.Variable][]string{}
	for name, keys := range c.subject.Keys {
		if v := c.names.Body.Names[name]; v != nil && len(v.Writes) == 0 {
			given[v] = slices.Concat(keys, inherited)
		}
	}
	if len(given) == 0 {
		return
	}
	c.own(given)
	scope.Inspect(c.function, func(n ast.Node, above []ast.Node) bool {
		if binding, ok := n.(*ast.Binding); ok {
			c.unpacked(binding, given)
		}
		object, key, ok := scope.Member(n)
		if !ok || expected(n, above) {
			return true
		}
		if id, ok := object.(*ast.Identifier); ok {
			c.key(n.Idx0(), id, key, given)
		}
		return true
	})
}

// own adds the keys that the body itself gives a parameter.
func (c *checker) own(given map[*scope.Variable][]string) {
	scope.Inspect(c.function, func(n ast.Node, _ []ast.Node) bool {
		assign, ok := n.(*ast.AssignExpression)
		if !ok {
			return true
		}
		if object, key, ok := scope.Member(assign.Left); ok {
			if id, ok := object.(*ast.Identifier); ok && given[c.names.Of[id]] != nil {
				given[c.names.Of[id]] = append(given[c.names.Of[id]], key)
			}
		}
		return true
	})
}

// unpacked judges const { key } = params. A default says that it may be missing.
func (c *checker) unpacked(b *ast.Binding, given map[*scope.Variable][]string) {
	pattern, isPattern := b.Target.(*ast.ObjectPattern)
	id, isName := b.Initializer.(*ast.Identifier)
	if !isPattern || !isName {
		return
	}
	for _, property := range pattern.Properties {
		if short, ok := property.(*ast.PropertyShort); ok && short.Initializer == nil {
			c.key(short.Name.Idx, id, short.Name.Name.String(), given)
		}
	}
}

func (c *checker) key(at file.Idx, object *ast.Identifier, key string, given map[*scope.Variable][]string) {
	keys, known := given[c.names.Of[object]]
	if !known || slices.Contains(keys, key) {
		return
	}
	suggestion := fmt.Sprintf("if it may be missing, say so: %s.%s ?? …", object.Name, key)
	if best := closest(key, keys); best != "" {
		suggestion = fmt.Sprintf("did you mean %s.%s?", object.Name, best)
	}
	c.say(at, Finding{
		Rule: "unknown-key", Level: Warning, Suggestion: suggestion,
		Message: fmt.Sprintf("%s has no %s in the recording, and this gives undefined", object.Name, key),
	})
}

// expected tells a read whose author knows that there may be nothing.
func expected(n ast.Node, above []ast.Node) bool {
	switch up := above[len(above)-1].(type) {
	case *ast.BinaryExpression:
		return up.Left == n && slices.Contains([]token.Token{token.LOGICAL_OR, token.LOGICAL_AND, token.COALESCE}, up.Operator)
	case *ast.UnaryExpression:
		return true
	case *ast.IfStatement:
		return up.Test == n
	case *ast.ConditionalExpression:
		return up.Test == n
	case *ast.Optional:
		return true
	}
	return false
}
