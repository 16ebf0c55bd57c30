// Package statement reads what a database, or another engine that takes text, is
// told to do, far enough to tell two statements of another kind apart. Where two
// engines would read a text differently it says so instead of choosing.
package statement

import (
	"slices"
	"strings"

	sqllexer "github.com/DataDog/go-sqllexer"
)

// Reading is what a text does. Ambiguous is set where engines disagree on where a
// string or a comment ends, as the end of a sentence about the text.
type Reading struct {
	Statements []Statement
	Ambiguous  string
}

// Statement is one statement. Two of them do the same when they are equal.
type Statement struct {
	Verbs string // for people: the verb, the other words that change something, the tables
	Shape string // what must be the same besides
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
	if r.wordless {
		return Reading{Ambiguous: "has no verb that can be read"}
	}
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
	if have, want := show(have.Statements), show(want.Statements); have != want {
		return "runs " + have + " where the step runs " + want
	}
	return "runs " + show(have.Statements) + ", as the step does, on other things or with another condition"
}

func show(statements []Statement) string {
	if len(statements) == 0 {
		return "nothing"
	}
	var verbs []string
	for _, s := range statements {
		verbs = append(verbs, s.Verbs)
	}
	text := strings.Join(verbs, "; ")
	if len(text) > maxShownBytes {
		text = text[:strings.LastIndexByte(text[:maxShownBytes], ' ')+1] + "…"
	}
	return text
}

const maxShownBytes = 80

// ambiguous finds what one engine takes for the end of a string or a comment and
// another one does not.
func ambiguous(text string) (why string) {
	if !strings.ContainsAny(text, "\\/#`[-\x00") {
		return "" // most texts have no sign that is read differently
	}
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
	if !strings.Contains(text, "`") {
		return text
	}
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
