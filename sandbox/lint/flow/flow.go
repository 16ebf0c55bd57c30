// Package flow follows the statements of one function: what is never reached, which
// loops never end, and whether the end is reached. It looks at no value but those
// that are written out, so in doubt everything is reached.
package flow

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"

	"github.com/bir-run/bir/sandbox/lint/scope"
)

// Trouble is a statement that is never reached, or a loop that never ends.
type Trouble struct {
	Node    ast.Node
	Endless bool
	Why     string // where it is not what stands before
}

// Follow gives what is wrong with the flow of a function's statements, and says
// whether their end is reached.
func Follow(list []ast.Statement) (found []Trouble, endReached bool) {
	f := &flow{}
	endReached = f.list(list)
	return f.found, endReached
}

type flow struct {
	found   []Trouble
	targets []*target
}

// target is a statement that break may leave.
type target struct {
	label  string
	plain  bool // a loop or switch, which a break without a label leaves
	broken bool
}

// list says whether the end of a list of statements is reached.
func (f *flow) list(list []ast.Statement) bool {
	reached, said := true, false
	for _, statement := range list {
		if !reached && !said && runs(statement) {
			f.unreachable(statement, "")
			said = true
		}
		if reached {
			reached = f.statement(statement)
		}
	}
	return reached
}

// runs tells statements that do something where they stand.
func runs(statement ast.Statement) bool {
	switch s := statement.(type) {
	case *ast.FunctionDeclaration, *ast.EmptyStatement:
		return false
	case *ast.VariableStatement:
		for _, binding := range s.List {
			if binding.Initializer != nil {
				return true
			}
		}
		return false
	}
	return true
}

func (f *flow) unreachable(n ast.Node, why string) {
	f.found = append(f.found, Trouble{Node: n, Why: why})
}

// statement says whether what follows a statement is reached.
func (f *flow) statement(statement ast.Statement) bool {
	switch s := statement.(type) {
	case *ast.ReturnStatement, *ast.ThrowStatement:
		return false
	case *ast.BranchStatement:
		f.leave(s)
		return false
	case *ast.BlockStatement:
		return f.list(s.List)
	case *ast.IfStatement:
		return f.condition(s)
	case *ast.LabelledStatement:
		return f.labelled(s)
	case *ast.SwitchStatement:
		return f.choice(s)
	case *ast.TryStatement:
		return f.try(s)
	}
	if scope.IsLoop(statement) {
		return f.loop(statement, "")
	}
	return true
}

func (f *flow) leave(s *ast.BranchStatement) {
	for i := len(f.targets) - 1; i >= 0; i-- {
		t := f.targets[i]
		if s.Label == nil && t.plain || s.Label != nil && t.label == s.Label.Name.String() {
			t.broken = t.broken || s.Token == token.BREAK
			return
		}
	}
}

func (f *flow) condition(s *ast.IfStatement) bool {
	value, known := constant(s.Test)
	switch {
	case known && !value:
		f.unreachable(s.Consequent, "the condition is always false")
	case known && s.Alternate != nil:
		f.unreachable(s.Alternate, "the condition is always true")
	}
	then := f.statement(s.Consequent)
	otherwise := true
	if s.Alternate != nil {
		otherwise = f.statement(s.Alternate)
	}
	if known {
		return value && then || !value && otherwise
	}
	return then || otherwise
}

// constant is the truth of a condition that is written out.
func constant(test ast.Expression) (value, known bool) {
	switch t := test.(type) {
	case *ast.BooleanLiteral:
		return t.Value, true
	case *ast.NumberLiteral:
		return t.Literal != "0", t.Literal == "0" || t.Literal == "1"
	case *ast.UnaryExpression:
		value, known = constant(t.Operand)
		return !value, known && t.Operator == token.NOT
	}
	return false, false
}

func (f *flow) labelled(s *ast.LabelledStatement) bool {
	if scope.IsLoop(s.Statement) {
		return f.loop(s.Statement, s.Label.Name.String())
	}
	t := f.open(s.Label.Name.String(), false)
	ends := f.statement(s.Statement)
	f.close()
	return ends || t.broken
}

func (f *flow) open(label string, plain bool) *target {
	t := &target{label: label, plain: plain}
	f.targets = append(f.targets, t)
	return t
}

func (f *flow) close() { f.targets = f.targets[:len(f.targets)-1] }

func (f *flow) loop(statement ast.Statement, label string) bool {
	var test ast.Expression
	var body ast.Statement
	forever := false
	switch s := statement.(type) {
	case *ast.ForStatement:
		test, body, forever = s.Test, s.Body, s.Test == nil
	case *ast.WhileStatement:
		test, body = s.Test, s.Body
	case *ast.DoWhileStatement:
		test, body = s.Test, s.Body
	case *ast.ForInStatement:
		body = s.Body
	case *ast.ForOfStatement:
		body = s.Body
	}
	value, known := constant(test)
	forever = forever || known && value
	t := f.open(label, true)
	f.statement(body)
	f.close()
	if forever && !t.broken && !leaves(body) {
		f.found = append(f.found, Trouble{Node: statement, Endless: true})
	}
	return !forever || t.broken
}

// leaves tells a body of a loop with something in it that ends the function or a
// statement around.
func leaves(body ast.Node) bool {
	found := false
	scope.Inspect(body, func(n ast.Node, _ []ast.Node) bool {
		switch s := n.(type) {
		case *ast.ReturnStatement, *ast.ThrowStatement, *ast.YieldExpression, *ast.AwaitExpression:
			found = true
		case *ast.BranchStatement:
			found = found || s.Label != nil
		}
		return !found && !scope.IsFunction(n)
	})
	return found
}

func (f *flow) choice(s *ast.SwitchStatement) bool {
	t := f.open("", true)
	ends := true
	for _, clause := range s.Body {
		ends = f.list(clause.Consequent)
	}
	f.close()
	return ends || t.broken || s.Default < 0
}

func (f *flow) try(s *ast.TryStatement) bool {
	ends := f.statement(s.Body)
	if s.Catch != nil {
		caught := f.statement(s.Catch.Body)
		ends = ends || caught
	}
	if s.Finally != nil {
		return f.statement(s.Finally) && ends
	}
	return ends
}
