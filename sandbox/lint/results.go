package lint

import (
	"fmt"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/lint/flow"
	"github.com/bir-run/bir/sandbox/lint/scope"
)

// flow judges what every function of the body runs through, and the returns of the
// body itself.
func (c *checker) flow() {
	scope.Inspect(c.function, func(n ast.Node, _ []ast.Node) bool {
		switch fn := n.(type) {
		case *ast.FunctionLiteral:
			if ends := c.follow(fn.Body.List); fn == c.function {
				c.returns(ends)
			}
		case *ast.ArrowFunctionLiteral:
			if body, ok := fn.Body.(*ast.BlockStatement); ok {
				c.follow(body.List)
			}
		}
		return true
	})
}

// follow reports on one function, and says whether its end is reached.
func (c *checker) follow(list []ast.Statement) bool {
	found, ends := flow.Follow(list)
	for _, trouble := range found {
		f := Finding{
			Rule: "unreachable", Level: Warning,
			Message: "this is never reached", Suggestion: "remove it, or the return, throw or condition before it",
		}
		if trouble.Why != "" {
			f.Message += ": " + trouble.Why
		}
		if trouble.Endless {
			f = Finding{
				Rule: "endless", Level: Error,
				Message: "this loop never ends, and is stopped when its time is up", Suggestion: "give it a condition, or a break or return",
			}
		}
		c.say(trouble.Node.Idx0(), f)
	}
	return ends
}

// ownReturns are the return statements of the body itself, with what is above them.
func (c *checker) ownReturns(visit func(s *ast.ReturnStatement, above []ast.Node)) {
	scope.Inspect(c.function, func(n ast.Node, above []ast.Node) bool {
		if s, ok := n.(*ast.ReturnStatement); ok {
			visit(s, above)
		}
		return n == ast.Node(c.function) || !scope.IsFunction(n)
	})
}

// returns judges a body whose end is reached, or not.
func (c *checker) returns(endReached bool) {
	if c.subject.Body.Kind == sandbox.KindRaw || !endReached {
		return
	}
	some := false
	c.ownReturns(func(*ast.ReturnStatement, []ast.Node) { some = true })
	if !some {
		c.say(c.function.Body.RightBrace, Finding{
			Rule: "no-return", Level: Error,
			Message:    fmt.Sprintf("this returns nothing, and a %s body must return an object", c.subject.Body.Kind),
			Suggestion: "end it with return { … }",
		})
		return
	}
	c.say(c.function.Body.RightBrace, Finding{
		Rule: "no-return", Level: Warning,
		Message:    "the end can be reached without a return, and then the body fails",
		Suggestion: "return an object on every way, or throw an error that says what is wrong",
	})
}

// results judges what is returned, where its type is plain to see.
func (c *checker) results() {
	if c.subject.Body.Kind == sandbox.KindRaw {
		return
	}
	c.ownReturns(func(s *ast.ReturnStatement, _ []ast.Node) {
		what := notAnObject(s.Argument)
		if what == "" {
			return
		}
		c.say(s.Return, Finding{
			Rule: "result", Level: Error,
			Message:    fmt.Sprintf("this returns %s, and a %s body must return a plain object", what, c.subject.Body.Kind),
			Suggestion: "return an object with it inside: { name: … }",
		})
	})
}

func notAnObject(e ast.Expression) string {
	switch v := e.(type) {
	case nil:
		return "nothing"
	case *ast.ArrayLiteral:
		return "an array"
	case *ast.StringLiteral, *ast.TemplateLiteral:
		return "a string"
	case *ast.NumberLiteral:
		return "a number"
	case *ast.BooleanLiteral:
		return "a boolean"
	case *ast.NullLiteral:
		return "null"
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.ClassLiteral:
		return "a function"
	case *ast.RegExpLiteral:
		return "a regular expression"
	case *ast.CallExpression:
		object, method, ok := scope.Member(v.Callee)
		name, _ := scope.Identifier(object)
		if ok && name == "JSON" && method == "stringify" {
			return "a string"
		}
		if ok && name == "Promise" {
			return "a promise"
		}
	}
	return ""
}

func (c *checker) firstReturn() (at file.Idx) {
	c.ownReturns(func(s *ast.ReturnStatement, _ []ast.Node) {
		if at == 0 {
			at = s.Return
		}
	})
	return at
}
