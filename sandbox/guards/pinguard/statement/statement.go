// Package statement reads what a database, or another engine that takes text, is
// told to do, far enough to tell two statements of another kind apart. Where two
// engines would read a text differently it says so instead of choosing.
package statement

import (
	"slices"
	"strings"

	sqllexer "github.com/DataDog/go-sqllexer"
)

// Reading is what a text does. Each of its statements comes down to its verb and
// the other words in it that change something, in capitals, and for one that changes
// something also to its tables and whether it has a condition. Ambiguous is set where
// engines disagree on where a string or a comment ends, as the end of a sentence
// about the text.
type Reading struct {
	Statements []string
	Ambiguous  string
}

const maxTextBytes = 64 << 10

// Read takes SQL apart, or any language with words, strings and semicolons.
func Read(text string) Reading {
	if len(text) > maxTextBytes {
		return Reading{Ambiguous: "is longer than 64 KiB"}
	}
	text = unquoteNames(text)
	if why := ambiguous(text); why != "" {
		return Reading{Ambiguous: why}
	}
	r := reader{}
	lexer := sqllexer.New(text)
	for {
		token := lexer.Scan()
		if token.Type == sqllexer.EOF {
			break
		}
		if why := r.token(token); why != "" {
			return Reading{Ambiguous: why}
		}
		r.before = beforeOf(token)
	}
	r.end()
	return Reading{Statements: r.statements}
}

// Compare says, as the end of a sentence about the call, why the model's text does
// not do what the step's does. It gives nothing where it does.
func Compare(model, step string) (why string) {
	if strings.TrimSpace(model) == strings.TrimSpace(step) {
		return ""
	}
	want, have := Read(step), Read(model)
	switch {
	case want.Ambiguous != "":
		return "is not an exact copy of the step's statement, which " + want.Ambiguous
	case have.Ambiguous != "":
		return "has a statement that " + have.Ambiguous
	case slices.Equal(have.Statements, want.Statements):
		return ""
	}
	return "runs " + show(have.Statements) + " where the step runs " + show(want.Statements)
}

func show(statements []string) string {
	if len(statements) == 0 {
		return "nothing"
	}
	text := strings.Join(statements, "; ")
	if len(text) > 80 {
		text = text[:strings.LastIndexByte(text[:80], ' ')+1] + "…"
	}
	return text
}

// ambiguous finds what one engine takes for the end of a string or a comment and
// another one does not.
func ambiguous(text string) (why string) {
	switch {
	case strings.Contains(text, `\'`), strings.Contains(text, `\"`), strings.Contains(text, "\\`"):
		return "has a backslash before a quote, which engines read differently"
	case strings.Contains(text, "/*!"), strings.Contains(text, "/*M!"):
		return "has a comment that some engines run"
	case strings.ContainsAny(text, "#`"):
		return "has a # or a backtick, which engines read differently"
	case strings.ContainsRune(text, 0):
		return "holds a NUL"
	case nestedComment(text):
		return "has a comment inside a comment, which engines read differently"
	case tightDashes(text):
		return "has two dashes without a space, which engines read differently"
	case quoteInBrackets(text):
		return "has a quote inside brackets, which engines read differently"
	}
	return ""
}

func nestedComment(text string) bool {
	_, rest, found := strings.Cut(text, "/*")
	for found {
		inside, after, _ := strings.Cut(rest, "*/")
		if strings.Contains(inside, "/*") || strings.ContainsAny(inside, "'\"") {
			return true
		}
		_, rest, found = strings.Cut(after, "/*")
	}
	return false
}

func tightDashes(text string) bool {
	for _, after := range strings.Split(text, "--")[1:] {
		if after != "" && !strings.ContainsAny(after[:1], " \t\r\n") {
			return true
		}
	}
	return false
}

func quoteInBrackets(text string) bool {
	_, rest, found := strings.Cut(text, "[")
	for found {
		inside, after, _ := strings.Cut(rest, "]")
		if strings.ContainsAny(inside, "'\"") {
			return true
		}
		_, rest, found = strings.Cut(after, "[")
	}
	return false
}

// unquoteNames writes `name` as name, where the name is one.
func unquoteNames(text string) string {
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 {
		return text
	}
	for i := 1; i < len(parts); i += 2 {
		if !isName(parts[i]) {
			return text
		}
	}
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "q_" + parts[i] // no keyword, whatever its name
	}
	return strings.Join(parts, "")
}

func isName(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
	}
	return s != ""
}

// reader collects the statements of a text.
type reader struct {
	statements []string
	verbs      []string
	tables     []string
	condition  bool
	before     before
	naming     bool // the word before is followed by the name of a table
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
	case sqllexer.SPACE, sqllexer.COMMENT, sqllexer.MULTILINE_COMMENT, sqllexer.STRING, sqllexer.QUOTED_IDENT, sqllexer.NUMBER,
		sqllexer.POSITIONAL_PARAMETER, sqllexer.BIND_PARAMETER:
		if t.Type == sqllexer.COMMENT && strings.ContainsAny(strings.TrimRight(t.Value, "\r\n"), "\r\v\f\u0085\u2028") {
			return "has a comment that ends where another engine goes on"
		}
		return ""
	case sqllexer.ERROR, sqllexer.INCOMPLETE_STRING, sqllexer.UNKNOWN, sqllexer.DOLLAR_QUOTED_FUNCTION, sqllexer.DOLLAR_QUOTED_STRING:
		return "has a string or a sign that engines read differently"
	case sqllexer.PUNCTUATION:
		switch n := len(r.verbs); {
		case t.Value == ";":
			r.end()
		case t.Value == "(" && n > 1 && r.verbs[n-1] == "REPLACE" && r.before == wordBefore:
			r.verbs = r.verbs[:n-1] // the function
		}
		return ""
	}
	if isLetters(t.Value) && r.before == numberBefore {
		return "has a word tight after a number, which engines read differently"
	}
	r.word(t)
	return ""
}

func isLetters(s string) bool {
	return s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
}

// word keeps the first word of a statement, and each later one that changes
// something or reaches out of the database.
func (r *reader) word(t *sqllexer.Token) {
	if !isLetters(t.Value) {
		return
	}
	upper := strings.ToUpper(t.Value)
	if i := strings.LastIndexByte(upper, '.'); i >= 0 {
		upper = upper[i+1:]
	}
	isCall := t.Type == sqllexer.FUNCTION
	if r.naming && !tableFollows[upper] && !skipped[upper] {
		r.tables = append(r.tables, t.Value)
		r.naming = false
		return
	}
	r.naming = tableFollows[upper] || r.naming
	r.condition = r.condition || upper == "WHERE"
	if len(r.verbs) == 0 || writes(upper, isCall) {
		r.verbs = append(r.verbs, upper)
	}
}

// tableFollows are the words before the name of what a statement changes, and
// skipped are those that may stand between.
var (
	tableFollows = map[string]bool{"FROM": true, "INTO": true, "UPDATE": true, "TABLE": true, "DATABASE": true, "SCHEMA": true,
		"VIEW": true, "INDEX": true, "ON": true, "TRUNCATE": true, "USER": true, "ROLE": true}
	skipped = map[string]bool{"IF": true, "NOT": true, "EXISTS": true, "ONLY": true, "LOW_PRIORITY": true, "IGNORE": true, "QUICK": true}
)

// end closes a statement. One of them without a word is none.
func (r *reader) end() {
	if len(r.verbs) == 0 {
		return
	}
	verb, rest := r.verbs[0], slices.Clone(r.verbs[1:])
	if verb == "WITH" { // what changes something is among the rest; without it the statement reads
		verb = "SELECT"
	}
	changes := writing[verb] || len(rest) > 0
	slices.Sort(rest)
	words := append([]string{verb}, slices.Compact(rest)...)
	if changes {
		words = append(words, r.tables...)
		if !r.condition {
			words = append(words, "without WHERE")
		}
	}
	r.statements = append(r.statements, strings.Join(words, " "))
	r.verbs, r.tables, r.condition, r.naming = nil, nil, false, false
}
