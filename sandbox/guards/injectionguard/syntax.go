package injectionguard

import (
	"strings"
	"sync"
	"unicode"

	sqllexer "github.com/DataDog/go-sqllexer"
	"mvdan.cc/sh/v3/syntax"
)

// A value is not sent alone: a step's body puts it into a command or a query. The
// guard is not told into which, so it tries the places that there are. In each one
// in which the sample was harmless, the value must leave the same syntax tree. It
// does not look for bad patterns, and so it finds also those that nobody knows yet.

// marker is where the value goes.
const marker = "\x00"

// shellPlaces are a word of its own, a part of a path, and both kinds of quotes. The
// first line has them all at once, since reading a line for each would take most of
// a call's time.
var shellPlaces = []struct{ name, template string }{
	{"", "c " + marker + " a/" + marker + "/b \"" + marker + "\" '" + marker + "'"},
	{"as a word of a command", "c " + marker},
	{"as a part of a path in a command", "c a/" + marker + "/b"},
	{"between double quotes in a command", "c \"" + marker + "\""},
	{"between single quotes in a command", "c '" + marker + "'"},
}

// A number or a name may stand bare in a query. Whatever is no single token stands
// between quotes.
const (
	sqlBare   = "a = " + marker + " and"
	sqlQuoted = "a = '" + marker + "' and \"" + marker + "\""
)

// syntaxes compares the trees. A value and a sample of letters, digits, spaces and
// signs without a meaning make the same tree, which need not be read.
func syntaxes(value, sample string, has class) *fault {
	if (isNumber(sample) || sample != "" && isMadeOf(sample, "_")) && changesQuery(sqlBare, value, sample) {
		return syntaxFault("in the place of a number or a name in a query")
	}
	if !(has | classesIn(sample)).any(hasSyntax | hasControl | hasWide) {
		return nil
	}
	if f := shells(value, sample); f != nil {
		return f
	}
	if changesQuery(sqlQuoted, value, sample) {
		return syntaxFault("between quotes in a query")
	}
	return nil
}

// changesQuery compares the tokens of the query with the value and with the sample.
// A sample that does not leave the query whole cannot have stood there.
func changesQuery(template, value, sample string) bool {
	shape := sqlShape(strings.ReplaceAll(template, marker, sample))
	return shape != "" && shape != sqlShape(strings.ReplaceAll(template, marker, withoutMarks(value)))
}

// parsers are kept, since making one costs as much as reading a line.
var parsers = sync.Pool{New: func() any { return syntax.NewParser() }}

func shells(value, sample string) *fault {
	parser := parsers.Get().(*syntax.Parser)
	defer parsers.Put(parser)
	for i, place := range shellPlaces {
		want := shellShape(parser, strings.ReplaceAll(place.template, marker, sample))
		if !isHarmless(want) {
			continue // the sample cannot have stood here
		}
		same := want == shellShape(parser, strings.ReplaceAll(place.template, marker, value))
		switch {
		case i == 0 && same:
			return nil // in all places at once
		case i > 0 && !same:
			return syntaxFault(place.name)
		}
	}
	return nil
}

func syntaxFault(where string) *fault {
	return &fault{code: CodeSyntax, words: "changes the syntax of what is around it, " + where}
}

// shellShape writes the tree of a line without its words: what commands there are,
// how many words with which quotes and expansions. Words that follow each other and
// are plain count as one, since prose may have more of them. It is empty for what
// does not parse.
func shellShape(parser *syntax.Parser, line string) string {
	file, err := parser.Parse(strings.NewReader(line), "")
	if err != nil {
		return ""
	}
	var out shape
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil:
			out.add(')')
		case *syntax.File:
		case *syntax.Word:
			out.add('w')
		case *syntax.Lit:
			out.literal(n.Value)
		case *syntax.SglQuoted:
			out.add('s')
		case *syntax.DblQuoted:
			out.add('d')
		case *syntax.Stmt:
			out.statement(n)
		case *syntax.CallExpr:
			out.add('c')
		default:
			out.add(more) // nothing that a plain word has
			out.text = append(out.text, line[n.Pos().Offset():n.End().Offset()]...)
		}
		return true
	})
	return string(out.text)
}

// more marks what only a value has that does more than to be a word.
const more = '\x01'

// isHarmless takes a tree for the sample's place only where it is one command of
// words. A sample with a semicolon never stood bare.
func isHarmless(shape string) bool {
	return strings.Count(shape, "S") == 1 && !strings.ContainsRune(shape, more)
}

// shape is a tree as text.
type shape struct{ text []byte }

func (s *shape) add(node byte) {
	s.text = append(s.text, node)
	const word = "wl))"
	if n := len(s.text); n >= 2*len(word) && string(s.text[n-2*len(word):]) == word+word {
		s.text = s.text[:n-len(word)] // one more plain word
	}
}

func (s *shape) statement(n *syntax.Stmt) {
	s.add('S')
	if n.Negated || n.Background || n.Coprocess || n.Disown {
		s.add(more)
	}
}

// literal keeps the signs that the shell expands.
func (s *shape) literal(text string) {
	s.add('l')
	for i := range len(text) {
		if strings.IndexByte("*?[]{}~!", text[i]) >= 0 {
			s.text = append(s.text, text[i])
		}
	}
}

// sqlShape writes the tokens of a query by their types. Every kind of word is one:
// a name may be a keyword by chance. It is empty for what engines would not read in
// the same way.
func sqlShape(query string) string {
	lexer := sqllexer.New(query)
	var out []byte
	for {
		token := lexer.Scan()
		switch token.Type {
		case sqllexer.EOF:
			return string(out)
		case sqllexer.SPACE:
		case sqllexer.ERROR, sqllexer.UNKNOWN, sqllexer.INCOMPLETE_STRING:
			return ""
		case sqllexer.IDENT, sqllexer.COMMAND, sqllexer.KEYWORD, sqllexer.FUNCTION, sqllexer.BOOLEAN, sqllexer.NULL,
			sqllexer.PROC_INDICATOR, sqllexer.CTE_INDICATOR, sqllexer.ALIAS_INDICATOR:
			out = append(out, 'w')
		default:
			out = append(out, 'A'+byte(token.Type))
		}
	}
}

// withoutMarks takes the marks from their letters, which the lexer would part.
func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsMark(r) {
			return -1
		}
		return r
	}, s)
}
