package lint

import (
	"fmt"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/bir-run/bir/sandbox/lint/scope"
)

func listed(words []string) string {
	switch len(words) {
	case 0:
		return "nothing"
	case 1:
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// clocks tells what is another value in Node each time, and the same here; and what
// hides code from lint.
func (c *checker) clocks() {
	scope.Inspect(c.function, func(n ast.Node, above []ast.Node) bool {
		switch call := n.(type) {
		case *ast.CallExpression:
			c.called(call)
		case *ast.NewExpression:
			if name, ok := c.free(call.Callee); ok && name == "Date" && len(call.ArgumentList) == 0 {
				c.clock(call, "new Date()")
			} else if ok && name == "Function" {
				c.hidden(call, "new Function(…)")
			}
		}
		return true
	})
}

func (c *checker) called(call *ast.CallExpression) {
	if name, ok := c.free(call.Callee); ok {
		switch name {
		case "Date":
			c.clock(call, "Date()")
		case "eval":
			c.hidden(call, "eval(…)")
		case "Function":
			c.hidden(call, "Function(…)")
		}
		return
	}
	object, method, ok := scope.Member(scope.Unwrap(call.Callee))
	if !ok {
		return
	}
	switch name, _ := c.free(object); {
	case name == "Date" && method == "now":
		c.clock(call, "Date.now()")
	case name == "Math" && method == "random":
		c.say(call.Idx0(), Finding{
			Rule: "nondeterministic", Level: Info,
			Message:    "Math.random() gives the same numbers on every replay",
			Suggestion: "if each replay needs another value, make it a parameter",
		})
	}
}

// free is the name of a global.
func (c *checker) free(n ast.Node) (string, bool) {
	id, ok := n.(*ast.Identifier)
	if !ok || c.names.Of[id] != nil {
		return "", false
	}
	return id.Name.String(), true
}

func (c *checker) clock(n ast.Node, what string) {
	c.say(n.Idx0(), Finding{
		Rule: "nondeterministic", Level: Info,
		Message:    what + " shows the clock of the replay, and in a check that of the recording",
		Suggestion: "if the recorded day matters, make it a parameter",
	})
}

func (c *checker) hidden(n ast.Node, what string) {
	c.say(n.Idx0(), Finding{
		Rule: "hidden-code", Level: Warning,
		Message:    what + " runs code that lint cannot read",
		Suggestion: "write the code into the body",
	})
}

// assignments finds constants that are assigned again.
func (c *checker) assignments() {
	for _, v := range c.names.Variables {
		for _, at := range v.Writes {
			if v.How == scope.Const {
				c.say(at, Finding{
					Rule: "constant-assigned", Level: Error,
					Message:    fmt.Sprintf("%s is a const, and assigning to it throws", v.Name),
					Suggestion: fmt.Sprintf("declare it with let %s", v.Name),
				})
			}
		}
	}
}

// loops finds strings that grow in a loop: each += copies the whole string in the
// evaluator, so that a long one takes quadratic time.
func (c *checker) loops() {
	scope.Inspect(c.function, func(n ast.Node, above []ast.Node) bool {
		assign, ok := n.(*ast.AssignExpression)
		if !ok || !repeated(above) {
			return true
		}
		id, ok := assign.Left.(*ast.Identifier)
		if ok && c.grows(assign, id) {
			c.say(assign.Idx0(), Finding{
				Rule: "string-in-loop", Level: Warning,
				Message:    fmt.Sprintf("%s grows in a loop, which copies it each time: a long one runs out of time", id.Name),
				Suggestion: "collect the pieces in an array and join them at the end",
			})
		}
		return true
	})
}

// repeated tells code in a loop, or in a function given to forEach and its like.
func repeated(above []ast.Node) bool {
	for i, n := range above {
		if scope.IsLoop(n) {
			return true
		}
		if call, ok := n.(*ast.CallExpression); ok && i+1 < len(above) && scope.IsFunction(above[i+1]) {
			if _, method, ok := scope.Member(scope.Unwrap(call.Callee)); ok && (method == "forEach" || method == "map" || method == "filter") {
				return true
			}
		}
	}
	return false
}

func (c *checker) grows(assign *ast.AssignExpression, id *ast.Identifier) bool {
	if assign.Operator == token.PLUS {
		v := c.names.Of[id]
		return isText(assign.Right) || v != nil && v.Init != nil && isText(v.Init)
	}
	sum, ok := assign.Right.(*ast.BinaryExpression)
	if !ok || assign.Operator != token.ASSIGN || sum.Operator != token.PLUS {
		return false
	}
	first := leftmost(sum)
	name, ok := scope.Identifier(first)
	v := c.names.Of[id]
	return ok && name == id.Name.String() && (isText(sum) || v != nil && v.Init != nil && isText(v.Init))
}

func leftmost(n ast.Expression) ast.Expression {
	for {
		sum, ok := n.(*ast.BinaryExpression)
		if !ok || sum.Operator != token.PLUS {
			return n
		}
		n = sum.Left
	}
}

// isText tells expressions that surely give a string.
func isText(n ast.Expression) bool {
	switch e := n.(type) {
	case *ast.StringLiteral:
		return true
	case *ast.TemplateLiteral:
		return e.Tag == nil
	case *ast.BinaryExpression:
		return e.Operator == token.PLUS && (isText(e.Left) || isText(e.Right))
	}
	return false
}

// unused finds what is declared and never read. The parameters of the body itself
// are given, and judged by what its result depends on.
func (c *checker) unused() {
	used := map[*scope.Scope]bool{} // a parameter behind is read: the ones before are needed
	for i := len(c.names.Variables) - 1; i >= 0; i-- {
		v := c.names.Variables[i]
		if v.Scope == c.names.Body && v.How == scope.Parameter || v.How == scope.Caught || strings.HasPrefix(v.Name, "_") {
			continue
		}
		if v.Reads > 0 || v.Spared {
			used[v.Scope] = used[v.Scope] || v.How == scope.Parameter
			continue
		}
		if v.How == scope.Parameter && used[v.Scope] {
			continue
		}
		c.say(v.At, Finding{
			Rule: "unused", Level: Info,
			Message:    fmt.Sprintf("the %s %s is never used", v.How, v.Name),
			Suggestion: "remove it",
		})
	}
}
