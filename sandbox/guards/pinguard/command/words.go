package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command. Where the shell would make something else of it
// before the program sees it, text is the word as it is written.
type word struct {
	text    string
	dynamic bool // variables, braces: not known before it runs, may be several words
	glob    bool // names of files, not known either
}

func (w word) plain() bool { return !w.dynamic && !w.glob }

func (w word) isOption() bool { return len(w.text) > 1 && w.text[0] == '-' }

// wordOf reads a word of the source.
func wordOf(w *syntax.Word, source string) word {
	if lit := w.Lit(); lit != "" && !strings.ContainsAny(lit, "\\*?[{~") {
		return word{text: lit} // most words
	}
	var out strings.Builder
	var result word
	for i, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text, special := unescape(p.Value, i == 0)
			result.glob = result.glob || special&hasGlob != 0
			result.dynamic = result.dynamic || special&hasBrace != 0
			out.WriteString(text)
		case *syntax.SglQuoted:
			result.dynamic = result.dynamic || p.Dollar
			out.WriteString(p.Value)
		case *syntax.DblQuoted:
			text, ok := doubleQuoted(p)
			result.dynamic = result.dynamic || !ok
			out.WriteString(text)
		default: // among them *(...), in which zsh may run code
			result.dynamic = true
		}
	}
	result.text = out.String()
	if !result.plain() {
		result.text = sourceOf(w, source)
	}
	return result
}

func sourceOf(n syntax.Node, source string) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(source) {
		return ""
	}
	return source[from:to]
}

func doubleQuoted(q *syntax.DblQuoted) (text string, static bool) {
	var out strings.Builder
	for _, p := range q.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			return "", false
		}
		for i := 0; i < len(lit.Value); i++ {
			b := lit.Value[i]
			if b == '\\' && i+1 < len(lit.Value) && strings.IndexByte("$`\"\\\n", lit.Value[i+1]) >= 0 {
				i++
				b = lit.Value[i]
				if b == '\n' {
					continue
				}
			}
			out.WriteByte(b)
		}
	}
	return out.String(), !q.Dollar
}

const (
	hasGlob = 1 << iota
	hasBrace
)

// unescape takes the backslashes from an unquoted literal, and says what the shell
// would still expand in it.
func unescape(lit string, first bool) (text string, special int) {
	if strings.IndexByte(lit, '\\') < 0 && !strings.ContainsAny(lit, "*?[{~") {
		return lit, 0
	}
	var out strings.Builder
	for i := 0; i < len(lit); i++ {
		b := lit[i]
		switch {
		case b == '\\' && i+1 < len(lit):
			i++
			if lit[i] == '\n' {
				continue
			}
			b = lit[i]
		case b == '*' || b == '?' || b == '[':
			special |= hasGlob
		case b == '{' && strings.Contains(lit[i:], "}") && (strings.Contains(lit[i:], ",") || strings.Contains(lit[i:], "..")):
			special |= hasBrace
		case b == '~' && first && i == 0:
			special |= hasGlob
		}
		out.WriteByte(b)
	}
	return out.String(), special
}
