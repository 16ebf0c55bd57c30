package lint

import (
	"fmt"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/bir-run/bir/sandbox/lint/scope"
)

// globals judges every read of a name that the body does not declare.
func (c *checker) globals() {
	free := map[*ast.Identifier]bool{}
	for _, id := range c.names.Globals {
		free[id] = true
	}
	scope.Inspect(c.function, func(n ast.Node, above []ast.Node) bool {
		if id, ok := n.(*ast.Identifier); ok && free[id] {
			c.global(id, id.Name.String(), above)
		}
		// A shorthand property reads the name that it has.
		if short, ok := n.(*ast.PropertyShort); ok && free[&short.Name] {
			c.global(&short.Name, short.Name.Name.String(), above)
		}
		if object, name, ok := scope.Member(n); ok {
			if on, isName := scope.Identifier(object); isName && on == "globalThis" {
				c.onGlobalThis(n, name, above)
			}
		}
		return true
	})
	for name, at := range c.names.Implicit {
		c.say(at, Finding{
			Rule: "implicit-global", Level: Warning,
			Message:    fmt.Sprintf("%s is assigned and never declared", name),
			Suggestion: fmt.Sprintf("declare it first: let %s", name),
		})
	}
}

func (c *checker) global(id *ast.Identifier, name string, above []ast.Node) {
	if _, assigned := c.names.Implicit[name]; assigned || name == "arguments" || slices.Contains(c.known, name) {
		return
	}
	asked := underTypeof(above)
	what, suggestion, isHost := host(name)
	switch {
	case isHost && asked:
		c.say(id.Idx, Finding{
			Rule: "host", Level: Warning,
			Message:    fmt.Sprintf("typeof %s is always \"undefined\" here: %s", name, what),
			Suggestion: suggestion,
		})
	case isHost && guarded(name, above):
		c.say(id.Idx, Finding{
			Rule: "host", Level: Warning,
			Message:    fmt.Sprintf("%s is never there, and the typeof before it keeps this from running: %s", name, what),
			Suggestion: suggestion,
		})
	case isHost:
		c.say(id.Idx, Finding{
			Rule: "host", Level: Error,
			Message: fmt.Sprintf("%s is not defined: %s", name, what), Suggestion: suggestion,
		})
	case asked, guarded(name, above), inWith(above):
	default:
		c.say(id.Idx, Finding{
			Rule: "undeclared", Level: Error,
			Message: fmt.Sprintf("%s is not defined", name), Suggestion: c.meant(name),
		})
	}
}

// onGlobalThis judges globalThis.fetch and the like: reading gives undefined, and a
// call fails.
func (c *checker) onGlobalThis(n ast.Node, name string, above []ast.Node) {
	what, suggestion, isHost := host(name)
	if !isHost || slices.Contains(c.known, name) {
		return
	}
	level := Warning
	if call, ok := above[len(above)-1].(*ast.CallExpression); ok && call.Callee == n && !guarded(name, above) {
		level = Error
	}
	c.say(n.Idx0(), Finding{
		Rule: "host", Level: level,
		Message: fmt.Sprintf("globalThis.%s is undefined: %s", name, what), Suggestion: suggestion,
	})
}

func underTypeof(above []ast.Node) bool {
	unary, ok := above[len(above)-1].(*ast.UnaryExpression)
	return ok && unary.Operator == token.TYPEOF
}

// inWith tells code whose names may be an object's keys.
func inWith(above []ast.Node) bool {
	return slices.ContainsFunc(above, func(n ast.Node) bool { _, with := n.(*ast.WithStatement); return with })
}

// guarded tells code that only runs where typeof found the name.
func guarded(name string, above []ast.Node) bool {
	for i, n := range above {
		var test ast.Node
		switch g := n.(type) {
		case *ast.IfStatement:
			test = g.Test
		case *ast.ConditionalExpression:
			test = g.Test
		case *ast.BinaryExpression:
			if g.Operator == token.LOGICAL_AND || g.Operator == token.LOGICAL_OR {
				test = g.Left
			}
		}
		inTest := i+1 < len(above) && above[i+1] == test
		if test != nil && !inTest && asks(test, name) {
			return true
		}
	}
	return false
}

func asks(test ast.Node, name string) bool {
	found := false
	scope.Inspect(test, func(n ast.Node, above []ast.Node) bool {
		if id, ok := scope.Identifier(n); ok && id == name && len(above) > 0 && underTypeof(above) {
			found = true
		}
		if object, key, ok := scope.Member(n); ok && key == name {
			on, isName := scope.Identifier(object)
			found = found || isName && on == "globalThis"
		}
		return !found
	})
	return found
}

// meant is a suggestion for a name that is nearly one that exists.
func (c *checker) meant(name string) string {
	all := slices.Clone(c.known)
	for _, v := range c.names.Variables {
		all = append(all, v.Name)
	}
	if best := closest(name, all); best != "" {
		return "did you mean " + best + "?"
	}
	if len(c.subject.parameters()) == 0 {
		return "declare it"
	}
	return "declare it, or read it from " + listed(c.subject.parameters())
}

// closest is the one of some names that a name may be a slip of, or nothing.
func closest(name string, among []string) string {
	best, least := "", 3
	for _, known := range among {
		if d := distance(name, known); d < least && d < len(known)/2+1 {
			best, least = known, d
		}
	}
	return best
}

// distance counts the letters to change, add or remove between two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			before, row[j+1] = row[j+1], min(before+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
