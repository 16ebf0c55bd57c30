package worker

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/dop251/goja"
)

// maxJSONDepth is that of encoding/json, which reads every result.
const maxJSONDepth = 10_000

// jsonReader makes values of JSON text, as JSON.parse does in Node. goja's own
// goes through the tokens of encoding/json: it takes twice the time, refuses 1e400
// and loses lone surrogates.
type jsonReader struct {
	ev     *evaluation
	text   string
	at     int
	depth  int
	values int
}

// readJSON parses a text; a mistake is thrown as the body's SyntaxError.
func (ev *evaluation) readJSON(text string) goja.Value {
	r := &jsonReader{ev: ev, text: text}
	value := r.value()
	if r.space(); r.at < len(r.text) {
		r.fail("Unexpected non-whitespace character after JSON")
	}
	return value
}

// jsonText is a string as UTF-8. A lone surrogate, which that lacks, becomes the
// escape that stands for it.
func jsonText(s goja.String) string {
	text := s.String()
	if !strings.Contains(text, "\uFFFD") {
		return text
	}
	units := unitsOf(s)
	var b strings.Builder
	for i := 0; i < len(units); i++ {
		c := rune(units[i])
		switch {
		case !utf16.IsSurrogate(c):
			b.WriteRune(c)
		case i+1 < len(units) && utf16.DecodeRune(c, rune(units[i+1])) != 0xFFFD:
			b.WriteRune(utf16.DecodeRune(c, rune(units[i+1])))
			i++
		default:
			b.WriteString(`\u` + strconv.FormatInt(int64(c), 16))
		}
	}
	return b.String()
}

func (r *jsonReader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\n', '\t', '\r':
			r.at++
		default:
			return
		}
	}
}

// peek is the byte at hand, 0 at the end.
func (r *jsonReader) peek() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *jsonReader) value() goja.Value {
	if r.values++; r.values%1024 == 0 && r.ev.stopped.Load() != int32(notStopped) {
		panic(r.ev.vm.ToValue("stop")) // the interrupt ends the body before it sees this
	}
	r.space()
	switch c := r.peek(); {
	case c == '"':
		return r.string()
	case c == '{':
		return r.object()
	case c == '[':
		return r.array()
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	case c == 't':
		return r.word("true", r.ev.vm.ToValue(true))
	case c == 'f':
		return r.word("false", r.ev.vm.ToValue(false))
	case c == 'n':
		return r.word("null", goja.Null())
	}
	r.unexpected()
	return nil
}

func (r *jsonReader) word(word string, value goja.Value) goja.Value {
	for i := range len(word) {
		if r.peek() != word[i] {
			r.unexpected()
		}
		r.at++
	}
	return value
}

func (r *jsonReader) deeper() {
	if r.depth++; r.depth > maxJSONDepth {
		panic(r.ev.syntaxError("JSON nested more than " + strconv.Itoa(maxJSONDepth) + " deep is not available in bodies"))
	}
}

func (r *jsonReader) object() goja.Value {
	r.deeper()
	object := r.ev.vm.NewObject()
	r.at++
	if r.space(); r.peek() == '}' {
		r.at++
		r.depth--
		return object
	}
	for first := true; ; first = false {
		key, wide := r.name(first)
		r.ev.setOwn(object, key, wide, r.value())
		r.space()
		switch r.peek() {
		case ',':
			r.at++
		case '}':
			r.at++
			r.depth--
			return object
		default:
			r.fail("Expected ',' or '}' after property value in JSON")
		}
	}
}

// name reads a property's name and its colon. V8's words differ for the first.
func (r *jsonReader) name(first bool) (string, []uint16) {
	if r.space(); r.peek() != '"' {
		if first {
			r.fail("Expected property name or '}' in JSON")
		}
		r.fail("Expected double-quoted property name in JSON")
	}
	key, wide := r.quoted()
	if r.space(); r.peek() != ':' {
		if first {
			r.fail("Expected ':' after property name in JSON")
		}
		r.unexpected()
	}
	r.at++
	return key, wide
}

// setOwn makes a property as JSON.parse does: __proto__ is a name like others.
func (ev *evaluation) setOwn(object *goja.Object, key string, wide []uint16, value goja.Value) {
	switch {
	case wide != nil:
		name := goja.StringFromUTF16(wide)
		descriptor := ev.vm.NewObject()
		_ = descriptor.Set("value", value)
		for _, flag := range []string{"writable", "enumerable", "configurable"} {
			_ = descriptor.Set(flag, true)
		}
		if _, err := ev.defineProperty(goja.Undefined(), object, name, descriptor); err != nil {
			panic(err)
		}
	case key == "__proto__":
		_ = object.DefineDataProperty(key, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	default:
		_ = object.Set(key, value)
	}
}

func (r *jsonReader) array() goja.Value {
	r.deeper()
	var values []any
	r.at++
	if r.space(); r.peek() == ']' {
		r.at++
		r.depth--
		return r.ev.vm.NewArray()
	}
	for {
		values = append(values, r.value())
		r.space()
		switch r.peek() {
		case ',':
			r.at++
		case ']':
			r.at++
			r.depth--
			return r.ev.vm.NewArray(values...)
		default:
			r.fail("Expected ',' or ']' after array element in JSON")
		}
	}
}

// maxExactDigits is of integers that no parsing of floats is needed for.
const maxExactDigits = 15

func (r *jsonReader) number() goja.Value {
	start := r.at
	if r.peek() == '-' {
		r.at++
		if c := r.peek(); c < '0' || c > '9' {
			r.fail("No number after minus sign in JSON")
		}
	}
	if r.peek() == '0' {
		if r.at++; r.peek() >= '0' && r.peek() <= '9' {
			r.fail("Unexpected number in JSON")
		}
	}
	r.digits()
	whole := true
	if r.peek() == '.' {
		whole = false
		if r.at++; !r.digits() {
			r.fail("Unterminated fractional number in JSON")
		}
	}
	if r.peek() == 'e' || r.peek() == 'E' {
		whole = false
		if r.at++; r.peek() == '+' || r.peek() == '-' {
			r.at++
		}
		if !r.digits() {
			r.fail("Exponent part is missing a number in JSON")
		}
	}
	text := r.text[start:r.at]
	if whole && len(text) <= maxExactDigits && text != "-0" {
		n, _ := strconv.ParseInt(text, 10, 64)
		return r.ev.vm.ToValue(n)
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range is Infinity, as in JavaScript
	if f == 0 && text[0] == '-' {
		f = math.Copysign(0, -1)
	}
	return r.ev.vm.ToValue(f)
}

func (r *jsonReader) digits() bool {
	start := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	return r.at > start
}

func (r *jsonReader) string() goja.Value {
	text, wide := r.quoted()
	if wide != nil {
		return goja.StringFromUTF16(wide)
	}
	return r.ev.vm.ToValue(text)
}
