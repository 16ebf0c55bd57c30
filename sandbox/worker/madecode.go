package worker

import (
	"reflect"
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// Code that a body makes at run time, by eval or a constructor of functions, passes
// through the same changes as the body: otherwise goja would read some of it
// differently from Node without a word. Names as those in literals.go.
const (
	checkedName = "%checked" // what eval is given goes through it
	evalName    = "%eval"    // eval where it is a value and not called by its name
)

// makesCode tells whether a source may run code that it makes.
func makesCode(source string) bool {
	if !strings.Contains(source, "eval") && !strings.Contains(source, "Function") && !strings.Contains(source, "constructor") {
		return false
	}
	words := wordsOf(source)
	if words["eval"] || words["Function"] {
		return true
	}
	for rest := source; ; {
		before, after, found := strings.Cut(rest, "constructor")
		if !found {
			return false
		}
		member := strings.HasSuffix(strings.TrimRight(before, " \t\r\n"), ".")
		if member && sight().MatchString(after) {
			rest = after
			continue
		}
		if member || !strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), "(") {
			return true // what stands before a parenthesis is a class's own
		}
		rest = after
	}
}

// sight finds what only looks at a constructor: its name, a comparison.
var sight = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\??\.name\b|\s*[!=]==?[^=])`) })

// takeEvals has the code of each eval checked, and eval itself be ours where it is
// handed on.
func (p *program) takeEvals(function *ast.FunctionLiteral) {
	if !p.uses.code || !strings.Contains(p.author.source, "eval") {
		return
	}
	var replace func(e ast.Expression) ast.Expression
	replace = func(e ast.Expression) ast.Expression {
		switch e := e.(type) {
		case *ast.Identifier:
			if e.Name == "eval" {
				return &ast.Identifier{Name: evalName, Idx: e.Idx}
			}
		case *ast.CallExpression:
			if callee, ok := e.Callee.(*ast.Identifier); ok && callee.Name == "eval" {
				replaceExpressions(reflect.ValueOf(e.ArgumentList), replace)
				if len(e.ArgumentList) > 0 {
					e.ArgumentList[0] = call(checkedName, callee.Idx, e.ArgumentList[0])
				}
				return e
			}
		}
		return nil
	}
	replaceExpressions(reflect.ValueOf(function.Body), replace)
}

// constructorsProgram puts functions in front of the constructors of functions. They are
// JavaScript for the reason that RegExp's is.
var constructorsProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("Function", `(function (make) {
	const {setPrototypeOf, defineProperty} = Object;
	const front = (original, kind) => {
		const Front = function (...args) {
			const made = make(kind, args, original);
			if (new.target !== undefined && new.target !== Front) setPrototypeOf(made, new.target.prototype);
			return made;
		};
		defineProperty(Front, 'name', {value: original.name, configurable: true});
		defineProperty(Front, 'length', {value: 1, configurable: true});
		defineProperty(Front, 'prototype', {value: original.prototype, writable: false});
		defineProperty(original.prototype, 'constructor', {value: Front, writable: kind === 'function', enumerable: false, configurable: true});
		return Front;
	};
	const Async = (async () => {}).constructor, Generator = (function* () {}).constructor;
	const Front = front(Function, 'function');
	setPrototypeOf(front(Async, 'async function'), Front);
	setPrototypeOf(front(Generator, 'function*'), Front);
	defineProperty(globalThis, 'Function', {value: Front, writable: true, enumerable: false, configurable: true});
})`, true)
})

// installMadeCode puts ours in the place of what runs code.
func (ev *evaluation) installMadeCode() {
	ev.eval = ev.vm.Get("eval").(*goja.Object)
	original, _ := goja.AssertFunction(ev.eval)
	ev.indirectEval = native(ev.vm, "eval", 1, func(c goja.FunctionCall) goja.Value {
		value, err := original(goja.Undefined(), ev.checked(c))
		if err != nil {
			panic(err)
		}
		return value
	})
	hide(ev.vm.GlobalObject(), "eval", ev.indirectEval)
	made, err := ev.vm.RunProgram(constructorsProgram())
	if err != nil {
		panic(err)
	}
	install, _ := goja.AssertFunction(made)
	if _, err := install(goja.Undefined(), native(ev.vm, "", 3, ev.makeFunction)); err != nil {
		panic(err)
	}
}

// makeFunction makes a function of the texts of its parameters and its body.
func (ev *evaluation) makeFunction(c goja.FunctionCall) goja.Value {
	given := c.Argument(1).(*goja.Object)
	texts := make([]goja.Value, given.Get("length").ToInteger())
	parts := make([]string, len(texts))
	for i := range texts {
		value := given.Get(ev.vm.ToValue(i).String())
		if _, isSymbol := value.(*goja.Symbol); isSymbol {
			panic(ev.vm.NewTypeError("Cannot convert a Symbol value to a string"))
		}
		texts[i] = ev.textOf(value)
		parts[i] = texts[i].String()
	}
	body := ""
	if last := len(parts) - 1; last >= 0 {
		body, parts = parts[last], parts[:last]
	}
	text := "(" + c.Argument(0).String() + " anonymous(" + strings.Join(parts, ",") + "\n) {\n" + body + "\n})"
	function, err := ev.function(text)
	if err != nil {
		panic(ev.syntaxError(err.Error()))
	}
	if function == nil { // the original says why
		original, _ := goja.AssertConstructor(c.Argument(2))
		if _, err := original(nil, texts...); err != nil {
			panic(err)
		}
		panic(ev.syntaxError("Arg string terminates parameters early"))
	}
	return function
}

// function is what a text that is one function gives, nil where it is none.
func (ev *evaluation) function(text string) (goja.Value, error) {
	tree, err := parser.ParseFile(nil, "", text, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, nil
	}
	literal := onlyFunction(tree)
	if literal == nil {
		return nil, nil
	}
	if blockFunction(literal) != 0 {
		return nil, notAtRunTime("a function in a block")
	}
	p := &program{author: author{source: text}, wrapped: text, uses: ev.program.uses}
	if err := p.adapt(tree, literal); err != nil {
		return nil, err
	}
	made, err := ev.vm.RunProgram(p.code)
	if err != nil {
		panic(err)
	}
	return ev.unwrap(p, made)
}

func notAtRunTime(what string) error {
	return &syntaxError{message: what + " is not available in code made at run time"}
}

// checked is what eval is given in place of a code: the code where goja reads it as Node
// does, or the value of an expression that needs nothing around it.
func (ev *evaluation) checked(c goja.FunctionCall) goja.Value {
	code, isText := c.Argument(0).(goja.String)
	if !isText {
		return c.Argument(0)
	}
	text := code.String()
	tree, err := parser.ParseFile(nil, "", text, 0, parser.WithDisableSourceMaps)
	if err != nil {
		return code // eval says why
	}
	alone := standsAlone(tree)
	err = ev.program.misread(tree, text)
	if err == nil {
		return code
	}
	if alone {
		if function, _ := ev.function("(function () { return (" + strings.TrimRight(text, "; \t\r\n") + "\n) })"); function != nil {
			return ev.asCode(function)
		}
	}
	panic(ev.syntaxError(err.Error()))
}

// asCode is the value of a function as eval would give it: a text has to be code that
// gives it.
func (ev *evaluation) asCode(function goja.Value) goja.Value {
	run, _ := goja.AssertFunction(function)
	value, err := run(goja.Undefined())
	if _, isText := value.(goja.String); err == nil && isText {
		value, err = ev.stringify(goja.Undefined(), value)
	}
	if err != nil {
		panic(err)
	}
	return value
}

// misread says what of a code goja would read otherwise than Node. It changes the tree.
func (p *program) misread(tree *ast.Program, text string) error {
	function := &ast.FunctionLiteral{Body: &ast.BlockStatement{List: tree.Body}}
	made := &program{author: author{source: text}, wrapped: text, uses: p.uses}
	if blockFunction(function) != 0 {
		return notAtRunTime("a function in a block")
	}
	if err := made.takePatterns(tree, function); err != nil {
		return err
	}
	switch {
	case len(made.patterns) > 0:
		return notAtRunTime("such a regular expression")
	case made.takeIntegers(function):
		return notAtRunTime("such a number")
	case made.hasPowers(function):
		return notAtRunTime("**")
	case wordsOf(text)["eval"]:
		return notAtRunTime("eval")
	}
	return nil
}

// known are the globals that an expression may name and still need nothing around it.
const known = " Array BigInt Boolean Date Infinity JSON Math NaN Number Object RegExp String isFinite isNaN parseFloat parseInt undefined "

// standsAlone tells whether a code is one expression that means the same anywhere.
func standsAlone(tree *ast.Program) bool {
	if len(tree.Body) != 1 {
		return false
	}
	if _, ok := tree.Body[0].(*ast.ExpressionStatement); !ok {
		return false
	}
	alone := true
	visit(reflect.ValueOf(tree.Body), func(node any) {
		switch node := node.(type) {
		case *ast.Identifier:
			alone = alone && strings.Contains(known, " "+node.Name.String()+" ")
		case *ast.ThisExpression, *ast.MetaProperty, *ast.AssignExpression, *ast.UnaryExpression:
			if unary, ok := node.(*ast.UnaryExpression); !ok || unary.Operator.String() == "++" || unary.Operator.String() == "--" || unary.Operator.String() == "delete" {
				alone = false
			}
		}
	})
	return alone
}
