package worker

import (
	"math/big"
	"reflect"
	"strings"
	"sync"

	"github.com/bir-run/bir/sandbox/worker/v8math"
	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// powerName is, as the other names that no source can spell, the function of ours that
// stands for **.
const powerName = "%power"

// takePowers has a tree's ** and **= computed by a function of ours, whose last digits
// are those of Node.
func (p *program) takePowers(function *ast.FunctionLiteral) bool {
	if !strings.Contains(p.author.source, "**") {
		return false
	}
	found := false
	var replace func(e ast.Expression) ast.Expression
	inside := func(e ast.Expression) { replaceExpressions(reflect.ValueOf(e), replace) }
	replace = func(e ast.Expression) ast.Expression {
		switch e := e.(type) {
		case *ast.BinaryExpression:
			if e.Operator != token.EXPONENT {
				return nil
			}
			inside(e)
			if folded := foldedPower(e); folded != nil {
				return folded
			}
			found = true
			return call(powerName, e.Left.Idx0(), e.Left, e.Right)
		case *ast.AssignExpression:
			if e.Operator != token.EXPONENT {
				return nil
			}
			inside(e)
			found = true
			return powerAssigned(e)
		}
		return nil
	}
	replaceExpressions(reflect.ValueOf(function.Body), replace)
	return found
}

// hasPowers tells whether a tree has ** or **=.
func (p *program) hasPowers(function *ast.FunctionLiteral) (found bool) {
	if strings.Contains(p.author.source, "**") {
		visit(reflect.ValueOf(function.Body), func(node any) {
			switch node := node.(type) {
			case *ast.BinaryExpression:
				found = found || node.Operator == token.EXPONENT
			case *ast.AssignExpression:
				found = found || node.Operator == token.EXPONENT
			}
		})
	}
	return found
}

// foldedPower is the power of two numbers that are written out.
func foldedPower(e *ast.BinaryExpression) ast.Expression {
	base, isNumber := literalNumber(e.Left)
	exponent, alsoNumber := literalNumber(e.Right)
	if !isNumber || !alsoNumber {
		return nil
	}
	return &ast.NumberLiteral{Idx: e.Left.Idx0(), Value: v8math.Pow(base, exponent)}
}

func literalNumber(e ast.Expression) (float64, bool) {
	if minus, ok := e.(*ast.UnaryExpression); ok && minus.Operator == token.MINUS {
		number, ok := literalNumber(minus.Operand)
		return -number, ok
	}
	literal, ok := e.(*ast.NumberLiteral)
	if !ok {
		return 0, false
	}
	switch number := literal.Value.(type) {
	case int64:
		return float64(number), true
	case float64:
		return number, true
	}
	return 0, false // a BigInt
}

// powerAssigned writes a **= b as a = a ** b. Where the parts of a have effects, two
// functions see to it that they are evaluated once, and before b:
//
//	((r, v) => r.o[r.k] = power(r.v, v))(((o, k) => ({o: o, k: k, v: o[k]}))(…, …), b)
func powerAssigned(e *ast.AssignExpression) ast.Expression {
	at := e.Left.Idx0()
	assigned := func(target, old, value ast.Expression) ast.Expression {
		return &ast.AssignExpression{Operator: token.ASSIGN, Left: target, Right: call(powerName, at, old, value)}
	}
	base, key, member := partsOf(e.Left)
	if member == nil || repeatable(base) && repeatable(key) {
		return assigned(e.Left, e.Left, e.Right)
	}
	if _, isSuper := base.(*ast.SuperExpression); isSuper {
		base = &ast.NullLiteral{Idx: at, Literal: "null"} // no value; member has it
	}
	name := func(s string) ast.Expression { return &ast.Identifier{Name: unistring.String(s), Idx: at} }
	part := func(of string, key string) ast.Expression { return bracket(name(of), textLiteral(key, at), at) }
	taken := object(at, "o", name("%o"), "k", name("%k"), "v", member(name("%o"), name("%k")))
	stored := assigned(member(part("%r", "o"), part("%r", "k")), part("%r", "v"), name("%v"))
	return invoke(arrow(stored, at, "%r", "%v"), at, invoke(arrow(taken, at, "%o", "%k"), at, base, key), e.Right)
}

// partsOf takes a member apart, and gives what puts two other parts together. A target
// that is no member has none.
func partsOf(target ast.Expression) (base, key ast.Expression, member func(base, key ast.Expression) ast.Expression) {
	at := target.Idx0()
	switch target := target.(type) {
	case *ast.DotExpression:
		base, key = target.Left, textLiteral(string(target.Identifier.Name), at)
	case *ast.BracketExpression:
		base, key = target.Left, target.Member
	case *ast.PrivateDotExpression:
		return target.Left, textLiteral("", at), func(base, _ ast.Expression) ast.Expression {
			return &ast.PrivateDotExpression{Left: base, Identifier: target.Identifier}
		}
	default:
		return nil, nil, nil
	}
	if super, ok := base.(*ast.SuperExpression); ok {
		return base, key, func(_, key ast.Expression) ast.Expression { return bracket(super, key, at) }
	}
	return base, key, func(base, key ast.Expression) ast.Expression { return bracket(base, key, at) }
}

// repeatable tells whether an expression can be evaluated twice.
func repeatable(e ast.Expression) bool {
	switch e.(type) {
	case *ast.Identifier, *ast.ThisExpression, *ast.SuperExpression, *ast.StringLiteral, *ast.NumberLiteral:
		return true
	}
	return false
}

func bracket(left, member ast.Expression, at file.Idx) ast.Expression {
	return &ast.BracketExpression{Left: left, Member: member, LeftBracket: at, RightBracket: at}
}

func textLiteral(s string, at file.Idx) ast.Expression {
	return &ast.StringLiteral{Idx: at, Value: unistring.String(s)}
}

// object is a literal of names and values in turn.
func object(at file.Idx, parts ...any) ast.Expression {
	literal := &ast.ObjectLiteral{LeftBrace: at, RightBrace: at}
	for i := 0; i < len(parts); i += 2 {
		literal.Value = append(literal.Value, &ast.PropertyKeyed{
			Key: textLiteral(parts[i].(string), at), Kind: ast.PropertyKindValue, Value: parts[i+1].(ast.Expression),
		})
	}
	return literal
}

func arrow(body ast.Expression, at file.Idx, parameters ...string) ast.Expression {
	list := &ast.ParameterList{Opening: at, Closing: at}
	for _, name := range parameters {
		list.List = append(list.List, &ast.Binding{Target: &ast.Identifier{Name: unistring.String(name), Idx: at}})
	}
	return &ast.ArrowFunctionLiteral{Start: at, ParameterList: list, Body: &ast.ExpressionBody{Expression: body}}
}

func invoke(callee ast.Expression, at file.Idx, args ...ast.Expression) ast.Expression {
	return &ast.CallExpression{Callee: callee, LeftParenthesis: at, ArgumentList: args, RightParenthesis: at}
}

// numericOf makes a number or a BigInt of an object, as operators do.
var numericOf = sync.OnceValue(func() *goja.Program { return goja.MustCompile("", "(function (x) { return -(-x) })", true) })

// power is a ** b.
func (ev *evaluation) power(c goja.FunctionCall) goja.Value {
	a := ev.numeric(c.Argument(0))
	b := ev.numeric(c.Argument(1))
	switch {
	case goja.IsBigInt(a) && goja.IsBigInt(b):
		return ev.bigPower(a.Export().(*big.Int), b.Export().(*big.Int))
	case goja.IsBigInt(a) || goja.IsBigInt(b):
		panic(ev.vm.NewTypeError("Cannot mix BigInt and other types, use explicit conversions"))
	}
	return ev.vm.ToValue(v8math.Pow(a.ToFloat(), b.ToFloat()))
}

func (ev *evaluation) numeric(value goja.Value) goja.Value {
	switch {
	case goja.IsBigInt(value):
		return value
	case !isObject(value):
		return value.ToNumber()
	}
	made, err := ev.vm.RunProgram(numericOf())
	if err != nil {
		panic(err)
	}
	convert, _ := goja.AssertFunction(made)
	number, err := convert(goja.Undefined(), value)
	if err != nil {
		panic(err)
	}
	return number
}

func isObject(value goja.Value) bool {
	_, ok := value.(*goja.Object)
	return ok
}

// maxBigIntBits is V8's.
const maxBigIntBits = 1 << 30

func (ev *evaluation) bigPower(a, b *big.Int) goja.Value {
	switch {
	case b.Sign() < 0:
		panic(ev.newError("RangeError", "undefined must be positive")) // V8 forgets the name
	case a.BitLen() > 1 && (!b.IsInt64() || b.Int64() > maxBigIntBits || int64(a.BitLen()-1)*b.Int64() > maxBigIntBits):
		panic(ev.newError("RangeError", "Maximum BigInt size exceeded"))
	case a.BitLen() > 1:
		ev.needs(float64(a.BitLen()) * float64(b.Int64()) / 8)
		if ev.stopped.Load() != int32(notStopped) {
			return goja.Undefined() // the interrupt ends the body before it sees this
		}
	}
	return ev.vm.ToValue(new(big.Int).Exp(a, b, nil))
}
