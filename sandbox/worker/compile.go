package worker

import (
	"container/list"
	"crypto/sha256"
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// program is a compiled body. Runtimes may share it.
type program struct {
	code       *goja.Program
	author     author
	wrapped    string // the source inside its function
	uses       uses
	patterns   []pattern
	catches    bool
	powers     bool
	surrounded bool          // the code gives a function that takes ours and gives the body
	lowered    *wire.Lowered // nil where goja takes the body as it is
}

// compiled is a program or why there is none; both are worth keeping.
type compiled struct {
	key     [sha256.Size]byte
	size    int
	program *program
	failure *wire.Failure
}

const (
	maxPrograms     = 256
	maxProgramBytes = 4 << 20 // of source
)

// programs keeps the programs used last.
type programs struct {
	byKey map[[sha256.Size]byte]*list.Element
	used  *list.List // of *compiled, the last used in front
	bytes int
}

func newPrograms() *programs {
	return &programs{byKey: map[[sha256.Size]byte]*list.Element{}, used: list.New()}
}

func (p *programs) compile(req *wire.Request) (*program, *wire.Failure) {
	names := argumentNames(req)
	key := sha256.Sum256([]byte(names + "\x00" + req.Source))
	if element, ok := p.byKey[key]; ok {
		p.used.MoveToFront(element)
		c := element.Value.(*compiled)
		return c.program, c.failure
	}
	c := &compiled{key: key, size: len(req.Source)}
	c.program, c.failure = compile(names, req)
	p.keep(c)
	return c.program, c.failure
}

func (p *programs) keep(c *compiled) {
	p.byKey[c.key] = p.used.PushFront(c)
	p.bytes += c.size
	for p.used.Len() > maxPrograms || p.bytes > maxProgramBytes && p.used.Len() > 1 {
		oldest := p.used.Remove(p.used.Back()).(*compiled)
		delete(p.byKey, oldest.key)
		p.bytes -= oldest.size
	}
}

func argumentNames(req *wire.Request) string {
	names := make([]string, len(req.Args))
	for i, arg := range req.Args {
		names[i] = arg.Name
	}
	return strings.Join(names, ", ")
}

// compile wraps a body as a function and compiles it, lowered only where goja
// refuses it: most bodies never meet esbuild.
func compile(names string, req *wire.Request) (*program, *wire.Failure) {
	prefix := "(function (" + names + ") {"
	wrapped := prefix + req.Source + "\n})"
	arity := len(req.Args)
	p := &program{author: author{source: req.Source, prefix: len(prefix)}, wrapped: wrapped, uses: usesOf(req.Source), lowered: req.Lowered}
	tree, err := parser.ParseFile(nil, sourceName, wrapped, 0, parser.WithDisableSourceMaps)
	if err == nil {
		err = p.build(tree, arity)
	}
	if refused := new(syntaxError); err != nil && !errors.As(err, &refused) {
		if failure := p.syntaxFailure(err); failure.Message == noModules {
			return nil, failure
		}
		if tree, err = p.lower(prefix, wrapped); err == nil {
			err = p.build(tree, arity)
		}
	}
	if err != nil {
		return nil, p.syntaxFailure(err)
	}
	return p, nil
}

// build compiles a tree that is one function of the arity, and means in goja what
// it means in Node.
func (p *program) build(tree *ast.Program, arity int) error {
	function := onlyFunction(tree)
	if function == nil || len(function.ParameterList.List) != arity {
		return &syntaxError{message: leavesFunction}
	}
	if !p.author.mapped && strings.Contains(p.author.source, "function") && blockFunction(function) != 0 {
		return errLower
	}
	return p.adapt(tree, function)
}

// adapt changes what goja would read otherwise than Node, and compiles the tree.
func (p *program) adapt(tree *ast.Program, function *ast.FunctionLiteral) (err error) {
	if err := p.takePatterns(tree, function); err != nil {
		return err
	}
	p.catches = p.takeCatches(function)
	p.takeIntegers(function)
	p.powers = p.takePowers(function)
	p.takeEvals(function)
	if p.surrounded = len(p.patterns) > 0 || p.catches || p.powers || p.uses.code; p.surrounded {
		surround(tree, function, p.helperNames())
	}
	p.code, err = goja.CompileAST(tree, false)
	return err
}

// errLower asks for lowering where goja would accept a body and mean another thing.
var errLower = errors.New("this body has to be lowered")

// onlyFunction is the function literal that a program must be, or nil: a body that
// closes its wrapper leaves more than that behind. What lowering puts in front is
// variables; lower has checked that they are not the body's.
func onlyFunction(tree *ast.Program) *ast.FunctionLiteral {
	body := tree.Body
	for len(body) > 1 {
		if _, ok := body[0].(*ast.VariableStatement); !ok {
			return nil
		}
		body = body[1:]
	}
	if len(body) != 1 {
		return nil
	}
	statement, ok := body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	function, _ := statement.Expression.(*ast.FunctionLiteral)
	return function
}

const (
	leavesFunction = "the body closes the function that it is the inside of"
	noModules      = "SyntaxError: import and export are not available: bodies cannot load modules"
)

// moduleSyntax are the words with which a body would reach another module.
var moduleSyntax = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(import|export)\b`) })

// syntaxError is a refusal whose position is already the author's.
type syntaxError struct {
	message      string
	line, column int
}

func (e *syntaxError) Error() string { return e.message }

func (p *program) syntaxFailure(err error) *wire.Failure {
	f := &wire.Failure{Type: typeSyntax, Message: err.Error()}
	var own *syntaxError
	var list parser.ErrorList
	var late *goja.CompilerSyntaxError
	switch {
	case errors.As(err, &own):
		f.Line, f.Column = own.line, own.column
	case errors.As(err, &list) && len(list) > 0:
		at := list[0].Position
		f.Message = list[0].Message
		f.Line, f.Column = p.author.at(at.Line, at.Column)
	case errors.As(err, &late):
		f.Message = late.Message
		if late.File != nil {
			at := late.File.Position(late.Offset)
			f.Line, f.Column = p.author.at(at.Line, at.Column)
		}
	}
	if moduleSyntax().MatchString(p.author.from(f.Line, f.Column)) {
		f.Message = noModules
	}
	f.Message = "SyntaxError: " + strings.TrimPrefix(f.Message, "SyntaxError: ")
	return f
}
