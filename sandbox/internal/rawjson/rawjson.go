// Package rawjson reads JSON with little work per byte, for code that runs as a
// WebAssembly guard: there, each turn of a loop pays for a look at the deadline, and
// encoding/json turns a hundred times a byte and doubles the module's size. The host
// has validated what guards read; this package still never reads past the end, and
// takes what it does not understand for an error.
package rawjson

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"
)

// ErrSyntax is any text that is not JSON.
var ErrSyntax = errors.New("not JSON")

const maxDepth = 200

// Number is the text of a number.
type Number string

// Cursor stands before a value in a JSON text. After the first error it has failed
// and gives nothing more.
type Cursor struct {
	data []byte
	err  error
}

// At is a cursor at the start of the text.
func At(data []byte) *Cursor { return &Cursor{data: data} }

// End reports what went wrong, or that something follows the value.
func (c *Cursor) End() error {
	if c.peek() != 0 || len(c.data) > 0 {
		c.fail()
	}
	return c.err
}

func (c *Cursor) fail() {
	c.err, c.data = ErrSyntax, nil
}

// peek is the first byte of the next token, 0 at the end.
func (c *Cursor) peek() byte {
	for len(c.data) > 0 {
		switch b := c.data[0]; b {
		case ' ', '\t', '\r', '\n':
			c.data = c.data[1:]
		default:
			return b
		}
	}
	return 0
}

// take skips the byte if it comes next.
func (c *Cursor) take(b byte) bool {
	if c.peek() != b {
		return false
	}
	c.data = c.data[1:]
	return true
}

// Object calls field with each key; field must read the value.
func (c *Cursor) Object(field func(key string)) {
	c.list('{', '}', func() {
		key := c.String()
		if !c.take(':') {
			c.fail()
			return
		}
		field(key)
	})
}

// Array calls element before each value; element must read it.
func (c *Cursor) Array(element func()) { c.list('[', ']', element) }

func (c *Cursor) list(open, end byte, item func()) {
	if !c.take(open) {
		c.fail()
		return
	}
	if c.take(end) {
		return
	}
	for {
		item()
		if c.err != nil || c.take(end) {
			return
		}
		if !c.take(',') {
			c.fail()
			return
		}
	}
}

// String reads a string.
func (c *Cursor) String() string {
	quoted, escaped := c.quoted()
	if !escaped {
		return string(quoted)
	}
	return c.unescape(quoted)
}

// quoted takes a string without its quotes. It looks for the closing one in whole
// stretches, not byte by byte.
func (c *Cursor) quoted() (inside []byte, escaped bool) {
	if !c.take('"') {
		c.fail()
		return nil, false
	}
	for at, quote := 0, -1; ; {
		if quote < at {
			i := bytes.IndexByte(c.data[at:], '"')
			if i < 0 {
				c.fail()
				return nil, false
			}
			quote = at + i
		}
		i := bytes.IndexByte(c.data[at:quote], '\\')
		if i < 0 {
			inside = c.data[:quote]
			c.data = c.data[quote+1:]
			return inside, escaped
		}
		escaped = true
		at = min(at+i+2, len(c.data)) // past the escaped character
	}
}

func (c *Cursor) unescape(quoted []byte) string {
	out := make([]byte, 0, len(quoted))
	for {
		i := bytes.IndexByte(quoted, '\\')
		if i < 0 {
			return string(append(out, quoted...))
		}
		out = append(out, quoted[:i]...)
		r, length := escape(quoted[i:])
		if length == 0 {
			c.fail()
			return ""
		}
		out = utf8.AppendRune(out, r)
		quoted = quoted[i+length:]
	}
}

// escape reads one escape, or two that make a surrogate pair.
func escape(text []byte) (r rune, length int) {
	if len(text) < 2 {
		return 0, 0
	}
	if text[1] != 'u' {
		const names, values = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
		i := bytes.IndexByte([]byte(names), text[1])
		if i < 0 {
			return 0, 0
		}
		return rune(values[i]), 2
	}
	high, ok := hex4(text)
	if !ok {
		return 0, 0
	}
	if high < 0xd800 || high > 0xdfff {
		return high, 6
	}
	low, ok := hex4(text[6:])
	if ok && high < 0xdc00 && low >= 0xdc00 && low <= 0xdfff {
		return (high-0xd800)<<10 + low - 0xdc00 + 0x10000, 12
	}
	return utf8.RuneError, 6
}

func hex4(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

// Raw takes the next value as it is written.
func (c *Cursor) Raw() []byte {
	c.peek()
	rest := c.data
	c.skip(0)
	if c.err != nil {
		return nil
	}
	return rest[:len(rest)-len(c.data)]
}

func (c *Cursor) skip(depth int) {
	if depth > maxDepth {
		c.fail()
		return
	}
	switch c.peek() {
	case '"':
		c.quoted()
	case '{':
		c.list('{', '}', func() {
			c.quoted()
			if !c.take(':') {
				c.fail()
			}
			c.skip(depth + 1)
		})
	case '[':
		c.list('[', ']', func() { c.skip(depth + 1) })
	default:
		c.word()
	}
}

// word takes a number, true, false or null.
func (c *Cursor) word() string {
	c.peek()
	i := bytes.IndexAny(c.data, " \t\r\n,]}:\"[{")
	if i < 0 {
		i = len(c.data)
	}
	word := string(c.data[:i])
	if _, ok := wordValue(word); !ok {
		c.fail()
		return ""
	}
	c.data = c.data[i:]
	return word
}

func wordValue(word string) (v any, ok bool) {
	switch word {
	case "true":
		return true, true
	case "false":
		return false, true
	case "null":
		return nil, true
	}
	return Number(word), isNumber(word)
}

// isNumber is the grammar of a JSON number.
func isNumber(s string) bool {
	s = trimOne(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if len(s) > 0 && s[0] == '.' {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if len(s) > 0 && (s[0] == 'e' || s[0] == 'E') {
		s = trimOne(s[1:], "+-")
		return len(s) > 0 && digits(s) == len(s)
	}
	return s == ""
}

func trimOne(s, signs string) string {
	if len(s) > 0 && bytes.IndexByte([]byte(signs), s[0]) >= 0 {
		return s[1:]
	}
	return s
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// Int reads a whole number.
func (c *Cursor) Int() int {
	n, err := strconv.Atoi(c.word())
	if err != nil {
		c.fail()
	}
	return n
}

// Bool reads true or false.
func (c *Cursor) Bool() bool {
	v, _ := wordValue(c.word())
	b, ok := v.(bool)
	if !ok {
		c.fail()
	}
	return b
}

// Parse reads a whole text into nil, bool, string, Number, []any and
// map[string]any.
func Parse(data []byte) (any, error) {
	c := At(data)
	v := c.value(0)
	if err := c.End(); err != nil {
		return nil, err
	}
	return v, nil
}

func (c *Cursor) value(depth int) any {
	if depth > maxDepth {
		c.fail()
		return nil
	}
	switch c.peek() {
	case '"':
		return c.String()
	case '[':
		all := []any{}
		c.Array(func() { all = append(all, c.value(depth+1)) })
		return all
	case '{':
		all := map[string]any{}
		c.Object(func(key string) { all[key] = c.value(depth + 1) })
		return all
	}
	v, _ := wordValue(c.word())
	return v
}
