package worker

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted reads one string. Text with a lone surrogate comes as UTF-16 instead.
func (r *jsonReader) quoted() (string, []uint16) {
	r.at++
	start := r.at
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return r.text[start : r.at-1], nil
		case c == '\\':
			return r.escaped(start)
		case c < ' ':
			r.fail("Bad control character in string literal in JSON")
		}
		r.at++
	}
	r.fail("Unterminated string in JSON")
	return "", nil
}

// escaped reads on at the first escape of a string.
func (r *jsonReader) escaped(start int) (string, []uint16) {
	var b strings.Builder
	var wide []uint16 // set with the first lone surrogate
	write := func(text string) {
		if wide != nil {
			wide = append(wide, utf16.Encode([]rune(text))...)
		} else {
			b.WriteString(text)
		}
	}
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == '"':
			write(r.text[start:r.at])
			r.at++
			return b.String(), wide
		case c == '\\':
			write(r.text[start:r.at])
			char := r.escape()
			start = r.at
			if !utf16.IsSurrogate(char) {
				write(string(char))
				continue
			}
			if wide == nil {
				wide = append([]uint16{}, utf16.Encode([]rune(b.String()))...)
			}
			wide = append(wide, uint16(char))
			continue
		case c < ' ':
			r.fail("Bad control character in string literal in JSON")
		}
		r.at++
	}
	r.fail("Unterminated string in JSON")
	return "", nil
}

var jsonEscapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads one escape. A pair of surrogates is one character.
func (r *jsonReader) escape() rune {
	r.at++
	if r.at == len(r.text) {
		r.unexpected()
	}
	c := r.text[r.at]
	if plain, ok := jsonEscapes[c]; ok {
		r.at++
		return plain
	}
	if c != 'u' {
		r.fail("Bad escaped character in JSON")
	}
	r.at++
	high := r.hex4()
	if high < 0xD800 || high >= 0xDC00 || !strings.HasPrefix(r.text[r.at:], `\u`) {
		return high
	}
	after := r.at
	r.at += 2
	if pair := utf16.DecodeRune(high, r.hex4()); pair != utf8.RuneError {
		return pair
	}
	r.at = after
	return high
}

func (r *jsonReader) hex4() rune {
	var n rune
	for range 4 {
		c := r.peek()
		switch {
		case c >= '0' && c <= '9':
			n = n*16 + rune(c-'0')
		case c >= 'a' && c <= 'f':
			n = n*16 + rune(c-'a') + 10
		case c >= 'A' && c <= 'F':
			n = n*16 + rune(c-'A') + 10
		default:
			r.fail("Bad Unicode escape in JSON")
		}
		r.at++
	}
	return n
}

// fail throws V8's message with the place, which counts UTF-16 units.
func (r *jsonReader) fail(mistake string) {
	panic(r.ev.syntaxError(mistake + " at position " + strconv.Itoa(characters(r.text[:r.at]))))
}

// contextUnits is how much of the text a message shows around a mistake.
const contextUnits = 10

// unexpected throws V8's message about a character where a value should be.
func (r *jsonReader) unexpected() {
	if r.at >= len(r.text) {
		panic(r.ev.syntaxError("Unexpected end of JSON input"))
	}
	switch c := r.peek(); {
	case c == '-' || c >= '0' && c <= '9':
		r.fail("Unexpected number in JSON")
	case c == '"':
		r.fail("Unexpected string in JSON")
	}
	switch r.text {
	case "NaN", "Infinity", "undefined", "[object Object]":
		panic(r.ev.syntaxError(`"` + r.text + `" is not valid JSON`))
	}
	units := utf16.Encode([]rune(r.text))
	place := characters(r.text[:r.at])
	char, _ := utf8.DecodeRuneInString(r.text[r.at:])
	from, to, before, after := 0, len(units), `"`, `"`
	if len(units) > 2*contextUnits {
		if place >= contextUnits {
			from, before = place-contextUnits, `..."`
		}
		if place < len(units)-contextUnits {
			to, after = place+contextUnits, `"...`
		}
	}
	shown := before + string(utf16.Decode(units[from:to])) + after
	panic(r.ev.syntaxError("Unexpected token '" + string(char) + "', " + shown + " is not valid JSON"))
}
