package worker

import (
	"reflect"
	"strings"
	"unicode/utf16"

	"github.com/bir-run/bir/sandbox/worker/regex"
	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"
)

// Names that no source can spell, for the functions of ours that a body's tree
// calls. They are parameters of a function around the body, not globals.
const (
	regexpName = "%regexp"
	errorName  = "%error"
	thrownName = "%thrown"
)

// pattern is a literal that goja would read otherwise than Node.
type pattern struct {
	re     *regex.Regex
	source string
}

// takePatterns checks the regular expressions of a tree and has those that are not
// plain made by a function of ours.
func (p *program) takePatterns(tree *ast.Program, function *ast.FunctionLiteral) error {
	if !strings.Contains(p.author.source, "/") {
		return nil
	}
	var failure error
	replaceExpressions(reflect.ValueOf(function.Body), func(e ast.Expression) ast.Expression {
		literal, ok := e.(*ast.RegExpLiteral)
		if !ok || failure != nil {
			return nil
		}
		re, reason := compileLiteral(literal)
		if reason != "" {
			failure = p.mistake(tree, literal.Idx, reason)
		}
		if re == nil || re.Plain && !p.uses.lastMatch {
			return nil
		}
		p.patterns = append(p.patterns, pattern{re: re, source: literal.Pattern})
		return call(regexpName, literal.Idx, &ast.NumberLiteral{Idx: literal.Idx, Value: int64(len(p.patterns) - 1)})
	})
	return failure
}

func compileLiteral(literal *ast.RegExpLiteral) (re *regex.Regex, reason string) {
	flags, ok := regex.ParseFlags(literal.Flags)
	if !ok {
		return nil, "Invalid regular expression flags"
	}
	re, err := regex.Compile(utf16.Encode([]rune(literal.Pattern)), flags)
	if err != nil {
		return nil, invalidRegExp(literal.Pattern, literal.Flags, err)
	}
	return re, ""
}

// mistake is a refusal at a place of the tree.
func (p *program) mistake(tree *ast.Program, at file.Idx, reason string) error {
	found := tree.File.Position(int(at) - tree.File.Base())
	err := &syntaxError{message: reason}
	err.line, err.column = p.author.at(found.Line, found.Column)
	return err
}

// call is a call of one of our functions.
func call(name string, at file.Idx, args ...ast.Expression) ast.Expression {
	return &ast.CallExpression{
		Callee:           &ast.Identifier{Name: unistring.String(name), Idx: at},
		LeftParenthesis:  at,
		ArgumentList:     args,
		RightParenthesis: at,
	}
}

// surround makes the tree a function of our functions that gives the body.
func surround(tree *ast.Program, function *ast.FunctionLiteral, names []string) {
	at := function.Function
	list := &ast.ParameterList{Opening: at, Closing: at}
	for _, name := range names {
		list.List = append(list.List, &ast.Binding{Target: &ast.Identifier{Name: unistring.String(name), Idx: at}})
	}
	outer := &ast.FunctionLiteral{
		Function:      at,
		ParameterList: list,
		Body: &ast.BlockStatement{
			LeftBrace:  at,
			List:       []ast.Statement{&ast.ReturnStatement{Return: at, Argument: function}},
			RightBrace: function.Body.RightBrace,
		},
	}
	tree.Body[len(tree.Body)-1] = &ast.ExpressionStatement{Expression: outer}
}

// helperNames are those of our functions that a program takes.
func (p *program) helperNames() []string {
	names := []string{regexpName, errorName, powerName}
	if p.uses.code {
		names = append(names, checkedName, evalName, "eval") // the last is goja's, for it knows only its own
	}
	return names
}

// unwrap gives what a program gives: the function itself, or the one inside ours.
func (ev *evaluation) unwrap(p *program, made goja.Value) (goja.Value, error) {
	if !p.surrounded {
		return made, nil
	}
	outer, _ := goja.AssertFunction(made)
	helpers := []goja.Value{goja.Undefined(), goja.Undefined(), goja.Undefined()}
	if len(p.patterns) > 0 {
		helpers[0] = ev.patternMaker(p)
	}
	if p.catches {
		helpers[1] = native(ev.vm, "", 1, func(c goja.FunctionCall) goja.Value {
			ev.translate(c.Argument(0))
			return c.Argument(0)
		})
	}
	if p.powers {
		helpers[2] = native(ev.vm, "", 2, ev.power)
	}
	if p.uses.code {
		helpers = append(helpers, native(ev.vm, "", 1, ev.checked), ev.indirectEval, ev.eval)
	}
	return outer(goja.Undefined(), helpers...)
}

// patternMaker is the function that gives a program's patterns by their numbers.
func (ev *evaluation) patternMaker(p *program) goja.Value {
	entries := make([]*entry, len(p.patterns))
	return native(ev.vm, "", 1, func(c goja.FunctionCall) goja.Value {
		number := c.Argument(0).ToInteger()
		r := ev.installRegExp()
		if entries[number] == nil {
			literal := p.patterns[number]
			entries[number] = r.entry(literal.re, goja.StringFromUTF16(utf16.Encode([]rune(literal.source))))
		}
		return r.object(entries[number], r.original)
	})
}

// replaceExpressions walks a part of a tree and puts what replace gives in an
// expression's place. A nil leaves it, and goes on inside.
func replaceExpressions(v reflect.Value, replace func(ast.Expression) ast.Expression) {
	switch v.Kind() {
	case reflect.Interface:
		if e, ok := v.Interface().(ast.Expression); ok && v.CanSet() && v.Type() == expressionType {
			if other := replace(e); other != nil {
				v.Set(reflect.ValueOf(other))
				return
			}
		}
		replaceExpressions(v.Elem(), replace)
	case reflect.Pointer:
		if v.IsNil() || v.Type() == fileType || !v.CanInterface() {
			return
		}
		replaceExpressions(v.Elem(), replace)
	case reflect.Slice:
		for i := range v.Len() {
			replaceExpressions(v.Index(i), replace)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanInterface() {
				replaceExpressions(v.Field(i), replace)
			}
		}
	}
}

var (
	expressionType = reflect.TypeFor[ast.Expression]()
	fileType       = reflect.TypeFor[*file.File]()
)
