package jsontext

// maxDepth is how deep a valid text nests at most, as encoding/json has it.
const maxDepth = 10_000

// Span is where a string stands in its text, from quote to quote.
type Span struct{ Start, End int }

// Valid says whether s is one JSON value, as encoding/json's Valid does.
func Valid(s []byte) bool {
	_, ok := Long(s, len(s))
	return ok
}

// Long lists the strings of more than size bytes, keys among them, and says whether
// s is valid.
func Long(s []byte, size int) ([]Span, bool) {
	v := validator{s: s, size: size}
	v.space()
	if !v.value(0) {
		return nil, false
	}
	v.space()
	return v.long, v.i == len(s)
}

type validator struct {
	s    []byte
	i    int
	size int
	long []Span
}

func (v *validator) value(depth int) bool {
	if v.i >= len(v.s) || depth > maxDepth {
		return false
	}
	switch v.s[v.i] {
	case '{':
		return v.object(depth + 1)
	case '[':
		return v.array(depth + 1)
	case '"':
		return v.str()
	case 't':
		return v.word("true")
	case 'f':
		return v.word("false")
	case 'n':
		return v.word("null")
	}
	return v.number()
}

func (v *validator) object(depth int) bool {
	v.i++
	if v.space(); v.is('}') {
		return depth <= maxDepth
	}
	for {
		if v.space(); v.i >= len(v.s) || v.s[v.i] != '"' || !v.str() {
			return false
		}
		if v.space(); !v.is(':') {
			return false
		}
		if v.space(); !v.value(depth) {
			return false
		}
		if v.space(); v.is('}') {
			return true
		}
		if !v.is(',') {
			return false
		}
	}
}

func (v *validator) array(depth int) bool {
	v.i++
	if v.space(); v.is(']') {
		return depth <= maxDepth
	}
	for {
		if v.space(); !v.value(depth) {
			return false
		}
		if v.space(); v.is(']') {
			return true
		}
		if !v.is(',') {
			return false
		}
	}
}

// str moves past a string, whose opening quote is here.
func (v *validator) str() bool {
	start := v.i
	for i := start + 1; ; {
		if i = Special(v.s, i); i >= len(v.s) {
			return false
		}
		switch v.s[i] {
		case '"':
			if v.i = i + 1; v.i-start > v.size {
				v.long = append(v.long, Span{start, v.i})
			}
			return true
		case '\\':
			n := escape(v.s[i:])
			if n == 0 {
				return false
			}
			i += n
		default:
			return false
		}
	}
}

// escape is the length of the escape that s begins with, 0 for one that JSON does
// not know.
func escape(s []byte) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(s) >= 6 && isHex(s[2]) && isHex(s[3]) && isHex(s[4]) && isHex(s[5]) {
			return 6
		}
	}
	return 0
}

func isHex(b byte) bool { return isDigit(b) || b|0x20 >= 'a' && b|0x20 <= 'f' }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func (v *validator) number() bool {
	v.is('-')
	if !v.is('0') && !v.digits() {
		return false
	}
	if v.is('.') && !v.digits() {
		return false
	}
	if v.is('e') || v.is('E') {
		if !v.is('+') {
			v.is('-')
		}
		return v.digits()
	}
	return true
}

// digits moves past one digit at least.
func (v *validator) digits() bool {
	start := v.i
	for v.i < len(v.s) && isDigit(v.s[v.i]) {
		v.i++
	}
	return v.i > start
}

func (v *validator) word(word string) bool {
	end := v.i + len(word)
	if end > len(v.s) || string(v.s[v.i:end]) != word {
		return false
	}
	v.i = end
	return true
}

// is moves past b, if that is what comes next.
func (v *validator) is(b byte) bool {
	if v.i < len(v.s) && v.s[v.i] == b {
		v.i++
		return true
	}
	return false
}

func (v *validator) space() {
	for v.i < len(v.s) && v.s[v.i] <= ' ' && (v.s[v.i] == ' ' || v.s[v.i] == '\n' || v.s[v.i] == '\r' || v.s[v.i] == '\t') {
		v.i++
	}
}
