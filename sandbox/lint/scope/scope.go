// Package scope finds what each name in a function stands for. It knows
// JavaScript's scopes and nothing of what is good or bad in them.
package scope

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// How says what declared a variable.
type How string

// The ways to declare a name. Let is var, too.
const (
	Parameter How = "parameter"
	Let       How = "variable"
	Const     How = "constant"
	Function  How = "function"
	Class     How = "class"
	Caught    How = "caught error"
)

// Variable is one declared name.
type Variable struct {
	Name   string
	How    How
	At     file.Idx
	Scope  *Scope
	Reads  int
	Writes []file.Idx     // but for the one of its declaration
	Init   ast.Expression // what its declaration gives it
	Spared bool           // unused on purpose: it keeps a key out of a rest
}

// Scope is where declared names are known.
type Scope struct {
	Names    map[string]*Variable
	outer    *Scope
	function ast.Node // set where it is a function's
}

// Names is what every name of a body means.
type Names struct {
	Body      *Scope                        // of the function itself
	Variables []*Variable                   // in the order of their declarations
	Of        map[*ast.Identifier]*Variable // nil for a global
	Globals   []*ast.Identifier             // reads of names that nothing declares
	Implicit  map[string]file.Idx           // assigned and declared by nothing
}

// Resolve finds what declares each name in a function.
func Resolve(f *ast.FunctionLiteral) *Names {
	r := &Names{Of: map[*ast.Identifier]*Variable{}, Implicit: map[string]file.Idx{}}
	r.Body = r.enter(nil, f)
	r.parameters(r.Body, f.ParameterList)
	r.hoist(r.Body, f.Body.List)
	r.all(r.Body, f.Body.List)
	return r
}

func (r *Names) enter(outer *Scope, function ast.Node) *Scope {
	return &Scope{outer: outer, function: function, Names: map[string]*Variable{}}
}

func (r *Names) declare(s *Scope, id *ast.Identifier, as How) *Variable {
	name := id.Name.String()
	if v, ok := s.Names[name]; ok {
		r.Of[id] = v
		return v
	}
	v := &Variable{Name: name, How: as, At: id.Idx, Scope: s}
	s.Names[name] = v
	r.Variables = append(r.Variables, v)
	r.Of[id] = v
	return v
}

func (s *Scope) find(name string) *Variable {
	for ; s != nil; s = s.outer {
		if v, ok := s.Names[name]; ok {
			return v
		}
	}
	return nil
}

func (r *Names) parameters(s *Scope, list *ast.ParameterList) {
	for _, binding := range list.List {
		r.targets(s, binding.Target, Parameter)
	}
	if list.Rest != nil {
		r.targets(s, list.Rest, Parameter)
	}
	for _, binding := range list.List {
		r.pattern(s, binding.Target, false)
		r.visit(s, binding.Initializer)
	}
}

// targets declares the names of a pattern.
func (r *Names) targets(s *Scope, pattern ast.Node, as How) {
	switch p := pattern.(type) {
	case *ast.Identifier:
		r.declare(s, p, as)
	case *ast.AssignExpression:
		r.targets(s, p.Left, as)
	case *ast.Binding:
		r.targets(s, p.Target, as)
	case *ast.ArrayPattern:
		for _, element := range p.Elements {
			r.targets(s, element, as)
		}
		r.targets(s, p.Rest, as)
	case *ast.ObjectPattern:
		for _, property := range p.Properties {
			r.property(s, property, as, p.Rest != nil)
		}
		r.targets(s, p.Rest, as)
	}
}

func (r *Names) property(s *Scope, property ast.Property, as How, spared bool) {
	switch p := property.(type) {
	case *ast.PropertyShort:
		r.declare(s, &p.Name, as).Spared = spared
	case *ast.PropertyKeyed:
		r.targets(s, p.Value, as)
		if id, ok := p.Value.(*ast.Identifier); ok {
			r.Of[id].Spared = spared
		}
	}
}

// hoist declares what a function's or block's statements declare for all of it.
func (r *Names) hoist(s *Scope, list []ast.Statement) {
	for _, statement := range list {
		r.lexical(s, statement)
		if s.function != nil {
			r.vars(s, statement)
		}
	}
}

func (r *Names) lexical(s *Scope, statement ast.Node) {
	switch d := statement.(type) {
	case *ast.LexicalDeclaration:
		as := Let
		if d.Token == token.CONST {
			as = Const
		}
		for _, binding := range d.List {
			r.targets(s, binding.Target, as)
		}
	case *ast.ClassDeclaration:
		r.declare(s, d.Class.Name, Class)
	case *ast.FunctionDeclaration:
		r.declare(s, d.Function.Name, Function)
	}
}

// vars declares what belongs to the whole function wherever it stands.
func (r *Names) vars(s *Scope, statement ast.Node) {
	Inspect(statement, func(n ast.Node, _ []ast.Node) bool {
		var list []*ast.Binding
		switch d := n.(type) {
		case *ast.VariableStatement:
			list = d.List
		case *ast.ForLoopInitializerVarDeclList:
			list = d.List
		case *ast.ForIntoVar:
			list = []*ast.Binding{d.Binding}
		case *ast.FunctionDeclaration:
			r.declare(s, d.Function.Name, Function)
		}
		for _, binding := range list {
			r.targets(s, binding.Target, Let)
		}
		return !IsFunction(n)
	})
}
