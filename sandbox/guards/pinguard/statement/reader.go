package statement

import (
	"slices"
	"strings"

	sqllexer "github.com/DataDog/go-sqllexer"
)

// reader collects the statements of a text.
type reader struct {
	statements []Statement
	wordless   bool // there was a statement without a word

	verbs     []string // of the statement that is read
	tables    []string
	changes   bool
	condition bool
	tokens    []token
	before    before
	naming    bool // the word before is followed by the name of a table
}

// token is one of a statement, as it is written.
type token struct {
	text    string
	literal bool
}

// before is what stands directly before a token, without a space.
type before int

const (
	nothingBefore before = iota
	numberBefore
	wordBefore
)

func beforeOf(t *sqllexer.Token) before {
	switch {
	case t.Type == sqllexer.NUMBER:
		return numberBefore
	case isLetters(t.Value) && t.Type != sqllexer.STRING:
		return wordBefore
	}
	return nothingBefore
}

func (r *reader) token(t *sqllexer.Token) (ambiguous string) {
	switch t.Type {
	case sqllexer.SPACE, sqllexer.MULTILINE_COMMENT:
		return ""
	case sqllexer.COMMENT:
		if strings.ContainsAny(strings.TrimRight(t.Value, "\r\n"), "\r\v\f\u0085\u2028") {
			return "has a comment that ends where another engine goes on"
		}
		return ""
	case sqllexer.ERROR, sqllexer.INCOMPLETE_STRING, sqllexer.UNKNOWN, sqllexer.DOLLAR_QUOTED_FUNCTION, sqllexer.DOLLAR_QUOTED_STRING:
		return "has a string or a sign that engines read differently"
	case sqllexer.STRING, sqllexer.NUMBER, sqllexer.POSITIONAL_PARAMETER, sqllexer.BIND_PARAMETER, sqllexer.BOOLEAN, sqllexer.NULL:
		r.tokens = append(r.tokens, token{t.Value, true})
		return ""
	case sqllexer.PUNCTUATION:
		r.punctuation(t.Value)
		return ""
	}
	if isLetters(t.Value) && r.before == numberBefore {
		return "has a word tight after a number, which engines read differently"
	}
	r.tokens = append(r.tokens, token{t.Value, false})
	r.word(t)
	return ""
}

func (r *reader) punctuation(sign string) {
	n := len(r.verbs)
	if sign == ";" {
		r.end()
		return
	}
	if sign == "(" && n > 1 && r.verbs[n-1] == "REPLACE" && r.before == wordBefore {
		r.verbs = r.verbs[:n-1] // the function
		r.changes = slices.ContainsFunc(r.verbs, func(v string) bool { return kindOf(v)&changesSomething != 0 })
	}
	r.tokens = append(r.tokens, token{sign, false})
}

func isLetters(s string) bool {
	return s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
}

// word keeps the first word of a statement, and each later one that changes
// something, reaches out of the database or joins another query.
func (r *reader) word(t *sqllexer.Token) {
	if !isLetters(t.Value) {
		return
	}
	name := t.Value[strings.LastIndexByte(t.Value, '.')+1:]
	isCall := t.Type == sqllexer.FUNCTION
	is := kindOf(name)
	if isCall && reaches(strings.ToUpper(name)) {
		is |= changesSomething
	}
	if r.naming && !isCall && is&(beforeTable|withinTable) == 0 {
		r.tables = append(r.tables, t.Value)
		r.naming = false
		return
	}
	r.naming = is&beforeTable != 0 || r.naming && !isCall
	r.condition = r.condition || is&startsCondition != 0
	r.changes = r.changes || is&changesSomething != 0
	if len(r.verbs) == 0 || is&(changesSomething|joinsQuery) != 0 {
		r.verbs = append(r.verbs, strings.ToUpper(name))
	}
}

// end closes a statement. An empty one is none.
func (r *reader) end() {
	defer func() { *r = reader{statements: r.statements, wordless: r.wordless} }()
	if len(r.verbs) == 0 {
		r.wordless = r.wordless || len(r.tokens) > 0
		return
	}
	verb, rest := r.verbs[0], slices.Clone(r.verbs[1:])
	if verb == "WITH" { // what changes something is among the rest; without it the statement reads
		verb = "SELECT"
	}
	slices.Sort(rest)
	words := append([]string{verb}, rest...)
	if r.changes {
		words = append(words, r.tables...)
		if !r.condition {
			words = append(words, "without WHERE")
		}
	}
	s := Statement{Verbs: strings.Join(words, " ")}
	if r.changes {
		s.Shape = shapeOf(r.verbs[0], r.tokens)
	}
	r.statements = append(r.statements, s)
}

// shapeOf is what must be the same in two statements that change something. What is
// put into a table may differ, and what a condition compares with; the rest of an
// UPDATE or a DELETE may not, and of anything else nothing may.
func shapeOf(verb string, tokens []token) string {
	var out []string
	skipping := false
	for _, t := range tokens {
		if !t.literal {
			t.text = strings.ToUpper(t.text)
		}
		switch {
		case verb == "INSERT" || verb == "UPSERT":
			if t.literal || !insertWords[t.text] {
				continue
			}
		case verb == "UPDATE" && t.text == "SET":
			skipping = true
		case verb == "UPDATE" && (t.text == "WHERE" || t.text == "FROM" || t.text == "SELECT" || t.text == "RETURNING"):
			skipping = false
		}
		switch {
		case skipping && t.text != "SET":
		case t.literal && (verb == "UPDATE" || verb == "DELETE"):
			out = append(out, "?")
		default:
			out = append(out, t.text)
		}
	}
	return strings.Join(out, " ")
}

// insertWords are those that make an INSERT do more than to add what it is given.
var insertWords = setOf("INTO SELECT OR REPLACE IGNORE CONFLICT DUPLICATE UPDATE DELETE DO OVERWRITE TABLE WITH FROM")
