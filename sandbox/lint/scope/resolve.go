package scope

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

func (r *Names) all(s *Scope, list []ast.Statement) {
	for _, statement := range list {
		r.visit(s, statement)
	}
}

func (r *Names) parts(s *Scope, n ast.Node) {
	for _, part := range children(n) {
		r.visit(s, part)
	}
}

// visit resolves the names in a node. Its cases are those in which a name is not
// simply read, or in which a scope begins.
func (r *Names) visit(s *Scope, n ast.Node) {
	switch n := n.(type) {
	case nil, *ast.BranchStatement, *ast.MetaProperty:
	case *ast.Identifier:
		r.read(s, n)
	case *ast.PropertyShort:
		r.read(s, &n.Name)
		r.visit(s, n.Initializer)
	case *ast.PropertyKeyed:
		r.keyed(s, n.Computed, n.Key, n.Value)
	case *ast.FieldDefinition:
		r.keyed(s, n.Computed, n.Key, n.Initializer)
	case *ast.MethodDefinition:
		r.keyed(s, n.Computed, n.Key, n.Body)
	case *ast.AssignExpression:
		r.assign(s, n)
	case *ast.UnaryExpression:
		r.visit(s, n.Operand)
		if id, ok := n.Operand.(*ast.Identifier); ok && (n.Operator == token.INCREMENT || n.Operator == token.DECREMENT) {
			r.write(s, id)
		}
	case *ast.Binding:
		r.binding(s, n)
	case *ast.LabelledStatement:
		r.visit(s, n.Statement)
	default:
		r.scoped(s, n)
	}
}

// scoped visits nodes that begin a scope, and all that need nothing special.
func (r *Names) scoped(s *Scope, n ast.Node) {
	switch n := n.(type) {
	case *ast.FunctionLiteral:
		r.function(s, n, n.Name, n.ParameterList, n.Body)
	case *ast.ArrowFunctionLiteral:
		r.function(s, n, nil, n.ParameterList, n.Body)
	case *ast.ClassStaticBlock:
		r.function(s, n, nil, &ast.ParameterList{}, n.Block)
	case *ast.ClassLiteral:
		inner := r.enter(s, nil)
		if n.Name != nil && s.find(n.Name.Name.String()) == nil {
			r.declare(inner, n.Name, Class).Reads++ // its own name in itself need not be used
		}
		r.visit(inner, n.SuperClass)
		for _, element := range n.Body {
			r.visit(inner, element)
		}
	case *ast.BlockStatement:
		inner := r.enter(s, nil)
		r.hoist(inner, n.List)
		r.all(inner, n.List)
	case *ast.ForStatement, *ast.ForInStatement, *ast.ForOfStatement:
		r.loop(r.enter(s, nil), n)
	case *ast.SwitchStatement:
		r.visit(s, n.Discriminant)
		inner := r.enter(s, nil)
		for _, clause := range n.Body {
			r.hoist(inner, clause.Consequent)
		}
		for _, clause := range n.Body {
			r.parts(inner, clause)
		}
	case *ast.CatchStatement:
		inner := r.enter(s, nil)
		if n.Parameter != nil {
			r.targets(inner, n.Parameter, Caught)
		}
		r.visit(inner, n.Body)
	default:
		r.parts(s, n)
	}
}

func (r *Names) function(s *Scope, n ast.Node, name *ast.Identifier, list *ast.ParameterList, body ast.Node) {
	inner := r.enter(s, n)
	if name != nil && r.Of[name] == nil {
		r.declare(inner, name, Function).Reads++ // a name for stacks need not be used
	}
	r.parameters(inner, list)
	switch b := body.(type) {
	case *ast.BlockStatement:
		r.hoist(inner, b.List)
		r.all(inner, b.List)
	default:
		r.parts(inner, b)
	}
}

func (r *Names) loop(s *Scope, n ast.Node) {
	Inspect(n, func(part ast.Node, _ []ast.Node) bool {
		switch d := part.(type) {
		case *ast.LexicalDeclaration:
			r.lexical(s, d)
		case *ast.ForDeclaration:
			as := Let
			if d.IsConst {
				as = Const
			}
			r.targets(s, d.Target, as)
		case *ast.BlockStatement:
			return false
		}
		return part == n || !IsLoop(part) && !IsFunction(part)
	})
	for _, part := range children(n) {
		switch into := part.(type) {
		case *ast.ForDeclaration:
			r.pattern(s, into.Target, false)
		case *ast.ForIntoExpression:
			r.pattern(s, into.Expression, true)
		default:
			r.visit(s, part)
		}
	}
}

func (r *Names) keyed(s *Scope, computed bool, key, value ast.Node) {
	if computed {
		r.visit(s, key)
	}
	if value != nil {
		r.visit(s, value)
	}
}

func (r *Names) binding(s *Scope, b *ast.Binding) {
	r.pattern(s, b.Target, false)
	if id, ok := b.Target.(*ast.Identifier); ok {
		if v := s.find(id.Name.String()); v != nil && v.Init == nil {
			v.Init = b.Initializer
		}
	}
	if b.Initializer != nil {
		r.visit(s, b.Initializer)
	}
}

// pattern resolves the names that a declaration or an assignment gives a value, and
// reads what its defaults, keys and objects need.
func (r *Names) pattern(s *Scope, n ast.Node, assigned bool) {
	switch p := n.(type) {
	case nil:
	case *ast.Identifier:
		r.Of[p] = s.find(p.Name.String())
		if assigned {
			r.write(s, p)
		}
	case *ast.AssignExpression:
		r.pattern(s, p.Left, assigned)
		r.visit(s, p.Right)
	case *ast.ArrayPattern:
		for _, element := range p.Elements {
			r.pattern(s, element, assigned)
		}
		r.pattern(s, p.Rest, assigned)
	case *ast.ObjectPattern:
		for _, property := range p.Properties {
			r.pattern(s, property, assigned)
		}
		r.pattern(s, p.Rest, assigned)
	case *ast.PropertyShort:
		r.pattern(s, &p.Name, assigned)
		r.visit(s, p.Initializer)
	case *ast.PropertyKeyed:
		if p.Computed {
			r.visit(s, p.Key)
		}
		r.pattern(s, p.Value, assigned)
	default:
		r.visit(s, n)
	}
}

func (r *Names) assign(s *Scope, n *ast.AssignExpression) {
	if id, ok := n.Left.(*ast.Identifier); ok && n.Operator != token.ASSIGN {
		r.read(s, id)
	}
	r.pattern(s, n.Left, true)
	r.visit(s, n.Right)
}

func (r *Names) read(s *Scope, id *ast.Identifier) {
	v := s.find(id.Name.String())
	r.Of[id] = v
	if v == nil {
		r.Globals = append(r.Globals, id)
		return
	}
	v.Reads++
}

func (r *Names) write(s *Scope, id *ast.Identifier) {
	name := id.Name.String()
	v := s.find(name)
	r.Of[id] = v
	if v == nil {
		if _, known := r.Implicit[name]; !known {
			r.Implicit[name] = id.Idx
		}
		return
	}
	v.Writes = append(v.Writes, id.Idx)
}
