// Package words is what the engine knows of English: how a prompt falls into
// tokens, which words carry no meaning, which name a value, and which superlative
// speaks of which field. It is a small fixed table, so that the same prompt is
// always read the same way.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Token is one word of a text, or one quoted string, without the punctuation
// around it.
type Token struct {
	Text   string
	Start  int // of Text, in bytes
	End    int
	Quoted bool
	Breaks bool // a comma or the end of a sentence follows
}

const (
	openers = "([{<\"'`“‘«„"
	closers = ")]}>\"'`”’»"
	marks   = ".,;:!?…"
)

// Tokens splits a text at white space, and `name=value` at its sign.
func Tokens(text string) []Token {
	var tokens []Token
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if unicode.IsSpace(r) {
			at += size
			continue
		}
		if end := quotedEnd(text, at); end > 0 {
			_, closer := utf8.DecodeLastRuneInString(text[:end])
			tokens = append(tokens, Token{Text: text[at+size : end-closer], Start: at + size, End: end - closer, Quoted: true})
			at = end
			continue
		}
		end := wordEnd(text, at)
		tokens = append(tokens, split(text, at, end)...)
		at = end
	}
	return tokens
}

func wordEnd(text string, at int) int {
	if i := strings.IndexFunc(text[at:], unicode.IsSpace); i >= 0 {
		return at + i
	}
	return len(text)
}

var quotes = map[rune]string{'"': `"`, '\'': "'", '`': "`", '“': "”", '„': "“", '«': "»", '‘': "’"}

// quotedEnd is the end of the quoted string that starts at a position, 0 without
// one. An apostrophe closes only before a space, so that "it's" is one word.
func quotedEnd(text string, at int) int {
	r, size := utf8.DecodeRuneInString(text[at:])
	closer, ok := quotes[r]
	if !ok {
		return 0
	}
	for from := at + size; from < len(text); {
		i := strings.Index(text[from:], closer)
		if i < 0 {
			return 0
		}
		end := from + i + len(closer)
		next, _ := utf8.DecodeRuneInString(text[end:])
		if end == len(text) || !unicode.IsLetter(next) && !unicode.IsDigit(next) {
			if i+from == at+size {
				return 0
			}
			return end
		}
		from = end
	}
	return 0
}

// split strips the punctuation around one word and cuts name=value in two.
func split(text string, start, end int) []Token {
	word := text[start:end]
	left := len(word) - len(strings.TrimLeft(word, openers+"#"))
	trimmed := strings.TrimRight(word[left:], closers+marks)
	trimmed = strings.TrimSuffix(strings.TrimSuffix(trimmed, "'s"), "’s")
	if trimmed == "" {
		return nil
	}
	breaks := strings.ContainsAny(word[left+len(trimmed):], marks)
	from := start + left
	if i := strings.IndexByte(trimmed, '='); i > 0 && i < len(trimmed)-1 && !strings.Contains(trimmed, "://") {
		return []Token{
			{Text: trimmed[:i], Start: from, End: from + i},
			{Text: trimmed[i+1:], Start: from + i + 1, End: from + len(trimmed), Breaks: breaks},
		}
	}
	return []Token{{Text: trimmed, Start: from, End: from + len(trimmed), Breaks: breaks}}
}

// Boundary tells whether text may be cut at a position without cutting a word.
func Boundary(text string, at int) bool {
	if at <= 0 || at >= len(text) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return !wordRune(before) || !wordRune(after)
}

// First is the word, or else the single character, that a text starts with.
func First(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	if !wordRune(r) {
		return text[:size]
	}
	for i, r := range text {
		if !wordRune(r) {
			return text[:i]
		}
	}
	return text
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Segments are the lower-case words of a name: "riskScore", "risk_score" and
// "risk-score" are all risk, score.
func Segments(name string) []string {
	var segments []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			segments = append(segments, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	previousLower := false
	for _, r := range name {
		if !wordRune(r) {
			flush()
		} else {
			if unicode.IsUpper(r) && previousLower {
				flush()
			}
			word.WriteRune(r)
		}
		previousLower = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	flush()
	return segments
}

// Camel makes an identifier of words: "risk", "score" gives riskScore.
func Camel(segments ...string) string {
	var out strings.Builder
	for _, segment := range segments {
		segment = strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf && wordRune(r) {
				return r
			}
			return -1
		}, segment)
		if segment == "" {
			continue
		}
		if out.Len() > 0 {
			segment = strings.ToUpper(segment[:1]) + segment[1:]
		} else if segment[0] >= '0' && segment[0] <= '9' {
			continue
		}
		out.WriteString(segment)
	}
	if reserved[out.String()] {
		return out.String() + "Value"
	}
	return out.String()
}

// Singular is the word for one of several: devices, entries, boxes.
func Singular(name string) string {
	switch {
	case strings.HasSuffix(name, "ies") && len(name) > 4:
		return name[:len(name)-3] + "y"
	case strings.HasSuffix(name, "sses"), strings.HasSuffix(name, "xes"), strings.HasSuffix(name, "ches"):
		return name[:len(name)-2]
	case strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss") && !strings.HasSuffix(name, "us") && len(name) > 2:
		return name[:len(name)-1]
	}
	return ""
}
