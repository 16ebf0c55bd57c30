package lint

import (
	"fmt"
	"slices"

	"github.com/dop251/goja/ast"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/lint/scope"
)

// dependence finds bodies whose result is the same whatever they are given: they
// repeat the recording instead of computing it.
func (c *checker) dependence() {
	if c.subject.Body.Kind == sandbox.KindRaw || c.subject.Body.Kind == sandbox.KindParams {
		return // the parameters may be completed with constants
	}
	if c.has("undeclared", "host", "implicit-global") {
		return // what such a name gives is not to be seen, and the result fails anyway
	}
	g := &graph{c: c, edges: map[*scope.Variable]map[*scope.Variable]bool{}}
	g.build()
	if g.blind || !g.returns || g.empty {
		return
	}
	wanted := c.subject.parameters()
	if c.subject.Body.Kind == sandbox.KindToolOutput {
		wanted = wanted[:1]
	}
	if g.reach(wanted) {
		return
	}
	c.say(c.firstReturn(), Finding{
		Rule: "constant", Level: Warning,
		Message:    fmt.Sprintf("the result does not depend on %s: every replay gets the same", listed(wanted)),
		Suggestion: "compute it from " + listed(wanted),
	})
}

// graph says which variable's value may come from which other's. It has more edges
// than there are, never fewer: what reaches no parameter surely depends on none.
type graph struct {
	c       *checker
	edges   map[*scope.Variable]map[*scope.Variable]bool
	seeds   []*scope.Variable // what the returns and the conditions around them name
	returns bool
	empty   bool // every return is of {}
	blind   bool // names are used in a way that the text does not show
}

func (g *graph) build() {
	g.empty = true
	scope.Inspect(g.c.function, func(n ast.Node, above []ast.Node) bool {
		switch s := n.(type) {
		case *ast.Binding:
			g.link(g.named(s.Target), g.named(s), g.conditions(above))
		case *ast.AssignExpression:
			g.link(g.named(s.Left), g.named(s), g.conditions(above))
		case *ast.UnaryExpression:
			g.link(g.named(s.Operand), g.conditions(above))
		case *ast.CallExpression, *ast.NewExpression:
			g.call(n, above)
		case *ast.ForOfStatement:
			g.link(g.named(s.Into), g.named(s.Source))
		case *ast.ForInStatement:
			g.link(g.named(s.Into), g.named(s.Source))
		case *ast.FunctionDeclaration:
			g.link(g.named(s.Function.Name), g.named(s.Function))
		case *ast.ClassDeclaration:
			g.link(g.named(s.Class.Name), g.named(s.Class))
		case *ast.WithStatement, *ast.ThisExpression:
			g.blind = true
		case *ast.Identifier:
			g.blind = g.blind || g.c.names.Of[s] == nil && s.Name == "arguments"
		}
		return true
	})
	g.c.ownReturns(func(s *ast.ReturnStatement, above []ast.Node) {
		g.returns = true
		object, ok := s.Argument.(*ast.ObjectLiteral)
		g.empty = g.empty && ok && len(object.Value) == 0
		g.seeds = append(g.seeds, g.conditions(above)...)
		if s.Argument != nil {
			g.seeds = append(g.seeds, g.named(s.Argument)...)
		}
	})
}

// call links what is handed over: any of it may be changed, by all of it. A call in
// another one is part of that.
func (g *graph) call(n ast.Node, above []ast.Node) {
	if name, ok := g.c.free(callee(n)); ok && (name == "eval" || name == "Function") {
		g.blind = true
	}
	inner := slices.ContainsFunc(above, func(n ast.Node) bool { return callee(n) != nil })
	if inner {
		return
	}
	all, hub := g.named(n), []*scope.Variable{{}}
	g.link(all, hub)
	g.link(hub, all, g.conditions(above))
}

func callee(n ast.Node) ast.Node {
	switch call := n.(type) {
	case *ast.CallExpression:
		return call.Callee
	case *ast.NewExpression:
		return call.Callee
	}
	return nil
}

// named are the variables in a part of the body, each once.
func (g *graph) named(n ast.Node) []*scope.Variable {
	var all []*scope.Variable
	seen := map[*scope.Variable]bool{nil: true}
	scope.Inspect(n, func(part ast.Node, _ []ast.Node) bool {
		id, ok := part.(*ast.Identifier)
		if short, isShort := part.(*ast.PropertyShort); isShort {
			id, ok = &short.Name, true
		}
		if v := g.c.names.Of[id]; ok && !seen[v] {
			seen[v] = true
			all = append(all, v)
		}
		return true
	})
	return all
}

// conditions are the variables on which it depends that a place is reached.
func (g *graph) conditions(above []ast.Node) []*scope.Variable {
	var all []*scope.Variable
	for _, n := range above {
		switch s := n.(type) {
		case *ast.IfStatement:
			all = append(all, g.named(s.Test)...)
		case *ast.WhileStatement:
			all = append(all, g.named(s.Test)...)
		case *ast.DoWhileStatement:
			all = append(all, g.named(s.Test)...)
		case *ast.ForStatement:
			if s.Test != nil {
				all = append(all, g.named(s.Test)...)
			}
		case *ast.ForOfStatement:
			all = append(all, g.named(s.Source)...)
		case *ast.ForInStatement:
			all = append(all, g.named(s.Source)...)
		case *ast.SwitchStatement:
			all = append(all, g.named(s.Discriminant)...)
		case *ast.TryStatement:
			all = append(all, g.named(s.Body)...) // whether it throws
		}
	}
	return all
}

func (g *graph) link(to []*scope.Variable, from ...[]*scope.Variable) {
	for _, v := range to {
		if g.edges[v] == nil {
			g.edges[v] = map[*scope.Variable]bool{}
		}
		for _, w := range slices.Concat(from...) {
			g.edges[v][w] = true
		}
	}
}

// reach tells whether the result may come from one of the body's parameters.
func (g *graph) reach(parameters []string) bool {
	seen := map[*scope.Variable]bool{}
	next := g.seeds
	for len(next) > 0 {
		v := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		for w := range g.edges[v] {
			next = append(next, w)
		}
	}
	for _, name := range parameters {
		if seen[g.c.names.Body.Names[name]] {
			return true
		}
	}
	return false
}
