package command

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxScriptDepth bounds scripts in arguments of scripts: bash -c "bash -c ...".
const maxScriptDepth = 4

// maxNesting bounds what may nest, since the reading nests with it.
const maxNesting = 1000

// posixReader reads a line as bash does, or as a POSIX shell where bash cannot.
type posixReader struct {
	outline
	parser *syntax.Parser
	source string
	depth  int
	last   string // the program of the latest command
	piped  bool   // the command reads what another one writes
}

func (r *posixReader) script(line string) {
	if strings.ContainsRune(line, 0) {
		r.demandExact("holds a NUL")
		return
	}
	if strings.Count(line, "(")+strings.Count(line, "{")+strings.Count(line, "if") > maxNesting {
		r.demandExact("is nested too deep to read")
		return
	}
	file, err := r.parser.Parse(strings.NewReader(line), "")
	if err != nil {
		file, err = syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	}
	if err != nil {
		r.demandExact("is no complete command")
		return
	}
	if why := hidden(file, line); why != "" {
		r.demandExact(why)
		return
	}
	r.source = line
	r.statements(file.Stmts)
}

// hidden finds what runs a command inside a word, where no outline would show it.
func hidden(file *syntax.File, line string) (why string) {
	if !strings.ContainsAny(line, "$`(") {
		return "" // without which there is none
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			why = "holds a command substitution"
		case *syntax.ParamExp:
			if n.Excl || n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
				why = "holds an expansion of an expansion"
			}
		}
		return why == ""
	})
	return why
}

func (r *posixReader) statements(list []*syntax.Stmt) {
	for i, s := range list {
		if i > 0 {
			r.add(joint, ";")
		}
		r.statement(s)
	}
}

func (r *posixReader) statement(s *syntax.Stmt) {
	if s.Negated {
		r.add(joint, "!")
	}
	r.last = ""
	if s.Cmd != nil {
		r.command(s.Cmd)
	}
	for _, redir := range s.Redirs {
		r.redirection(redir)
	}
	if s.Background || s.Coprocess || s.Disown {
		r.add(joint, "&")
	}
}

func (r *posixReader) command(cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		r.call(c)
	case *syntax.BinaryCmd:
		r.binary(c)
	case *syntax.TimeClause: // times what it runs and changes nothing
		if c.Stmt != nil {
			r.statement(c.Stmt)
		}
	case *syntax.Subshell:
		r.group("( )", c.Stmts)
	case *syntax.Block:
		r.group("{ }", c.Stmts)
	case *syntax.IfClause:
		r.conditional(c)
	case *syntax.WhileClause:
		r.group(map[bool]string{false: "while", true: "until"}[c.Until], c.Cond)
		r.group("do", c.Do)
	case *syntax.ForClause:
		r.loop(c)
	case *syntax.TestClause:
		r.add(fixed, sourceOf(c, r.source))
	case *syntax.DeclClause:
		r.add(fixed, sourceOf(c, r.source))
	default:
		r.demandExact("holds a construct that is compared by its text")
	}
}

func (r *posixReader) group(name string, list []*syntax.Stmt) {
	piped := r.piped
	r.add(joint, name)
	r.statements(list)
	r.add(joint, "end of "+name)
	r.piped = piped
}

func (r *posixReader) binary(c *syntax.BinaryCmd) {
	r.statement(c.X)
	r.add(joint, c.Op.String())
	before := r.piped
	r.piped = before || c.Op == syntax.Pipe || c.Op == syntax.PipeAll
	r.statement(c.Y)
	r.piped = before
}

func (r *posixReader) conditional(c *syntax.IfClause) {
	for ; c != nil; c = c.Else {
		r.group("if", c.Cond)
		r.group("then", c.Then)
	}
	r.add(joint, "fi")
}

// loop demands the same variable and the same words to go through.
func (r *posixReader) loop(c *syntax.ForClause) {
	if _, ok := c.Loop.(*syntax.WordIter); !ok || c.Select {
		r.demandExact("holds a loop that is compared by its text")
		return
	}
	r.add(fixed, "for "+sourceOf(c.Loop, r.source))
	r.group("do", c.Do)
}

func (r *posixReader) call(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		r.add(variables, sourceOf(a, r.source))
	}
	if len(c.Args) == 0 {
		return
	}
	words := make([]word, len(c.Args))
	for i, w := range c.Args {
		words[i] = wordOf(w, r.source)
	}
	a := argv{out: &r.outline, script: r.nested, piped: r.piped}
	a.read(words)
	r.last = a.last
}

// nested reads a script that stands in an argument. One command counts as if it
// stood alone, more keep a mark of where they began and ended.
func (r *posixReader) nested(script string) {
	r.depth++
	defer func() { r.depth-- }()
	if r.depth > maxScriptDepth {
		r.demandExact("holds a script inside a script, too deep to follow")
		return
	}
	inner := &posixReader{parser: r.parser, depth: r.depth, piped: r.piped}
	inner.script(script)
	if inner.exact != "" {
		r.demandExact(inner.exact)
		return
	}
	several := false
	for _, p := range inner.parts {
		several = several || p.kind == joint || p.kind == redirect
	}
	if several {
		r.add(joint, "script")
	}
	r.parts = append(r.parts, inner.parts...)
	if several {
		r.add(joint, "end of script")
	}
}

// redirection compares where a command reads and writes. To discard output, or to
// send errors where output goes, changes no place.
func (r *posixReader) redirection(redir *syntax.Redirect) {
	target := wordOf(redir.Word, r.source)
	if redir.Op == syntax.DplOut && isFileNumber(target.text) || isDiscard(redir.Op, target) {
		return
	}
	fd := ""
	if redir.N != nil {
		fd = redir.N.Value
	}
	text := fd + redir.Op.String() + " "
	switch {
	case redir.Hdoc != nil && copiesInput[r.last]:
		text += "text"
	case redir.Hdoc != nil:
		text += sourceOf(redir.Hdoc, r.source)
	case target.plain() && redir.Op != syntax.WordHdoc:
		text += path.Clean(target.text)
	default:
		text += target.text
	}
	r.add(redirect, text)
}

// copiesInput are programs for which a here-document is content and no code.
var copiesInput = map[string]bool{"cat": true, "tee": true}

func isFileNumber(s string) bool { return s == "1" || s == "2" }

func isDiscard(op syntax.RedirOperator, target word) bool {
	writes := op == syntax.RdrOut || op == syntax.AppOut || op == syntax.RdrAll || op == syntax.AppAll || op == syntax.RdrClob
	return writes && target.plain() && target.text == "/dev/null"
}
