package jsonrpc

import (
	"bytes"

	"github.com/tidwall/gjson"
)

type field uint8

const (
	fieldNone field = iota
	fieldMethod
	fieldID
	fieldParams
	fieldResult
	fieldError
	fieldCount
)

const maxNames = int(fieldCount) - 1

var messageNames = [fieldCount]string{
	fieldMethod: "method", fieldID: "id", fieldParams: "params", fieldResult: "result", fieldError: "error",
}

// span is where a member's value stands in its line. Offset 0 is the line's
// brace, so the zero span is none.
type span struct{ start, end int }

func (s span) set() bool { return s.end > 0 }

type state uint8

const (
	atStart state = iota // before the opening brace
	atKey                // before a key, or the closing brace
	inKey
	atColon
	atValue
	inString // a member's value that is a string
	inNested // a member's value that is an object or array
	inText   // a string inside that
	inLiteral
	afterValue
	atEnd     // after the closing brace
	isBatch   // an array: nothing more to learn in this pass
	isSettled // an answer whose id came first, under headOnly
	isNoise
)

const (
	// maxKeyBytes is enough for the longest key looked for with each of its
	// letters written as \u0000.
	maxKeyBytes = 64
	// maxCaptureBytes bounds an id or a method: a longer one is never matched.
	maxCaptureBytes = 64 << 10
)

// scanner finds the top-level members of one line. It takes the line in pieces,
// so that a line of any length is classified in bounded memory, and it takes the
// last of two members with one name, as a decoder would.
type scanner struct {
	// headOnly stops at the result or error of an answer whose id came before it.
	// The rest of the line is most of what passes and has nothing to say about which
	// answer it is. The value's end stays unknown.
	headOnly bool
	isObject bool // not a message: nothing is captured
	names    [fieldCount]string
	state    state
	offset   int // bytes of the line seen in earlier pieces
	depth    int
	escaped  bool // the previous byte of the string was a backslash
	field    field
	fields   [fieldCount]span
	key      []byte
	method   []byte
	id       []byte
}

func (s *scanner) reset() {
	*s = scanner{headOnly: s.headOnly, names: messageNames, key: s.key[:0], method: s.method[:0], id: s.id[:0]}
}

// feed takes the next piece of the line.
func (s *scanner) feed(piece []byte) {
	for i := 0; i < len(piece); {
		i = s.step(piece, i)
	}
	s.offset += len(piece)
}

// step consumes at least one byte of piece from i and returns where it stopped.
func (s *scanner) step(piece []byte, i int) int {
	switch s.state {
	case inNested:
		return s.nested(piece, i)
	case inText:
		return s.text(piece, i)
	case inString:
		return s.str(piece, i)
	case inLiteral:
		return s.literal(piece, i)
	case inKey:
		return s.keyText(piece, i)
	case isBatch, isNoise, isSettled:
		return len(piece)
	}
	if c := piece[i]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
		s.between(c, s.offset+i)
	}
	return i + 1
}

// between moves on c, which is neither white space nor inside a key or a value.
func (s *scanner) between(c byte, at int) {
	switch {
	case s.state == atStart && c == '{':
		s.state = atKey
	case s.state == atStart && c == '[':
		s.state = isBatch
	case s.state == atKey && c == '"':
		s.state, s.key = inKey, s.key[:0]
	case s.state == atKey && c == '}', s.state == afterValue && c == '}':
		s.state = atEnd
	case s.state == atColon && c == ':':
		s.state = atValue
	case s.state == atValue:
		s.startValue(c, at)
	case s.state == afterValue && c == ',':
		s.state = atKey
	default:
		s.state = isNoise
	}
}

func (s *scanner) startValue(c byte, at int) {
	s.field = s.fieldOf(s.key)
	s.fields[s.field] = span{start: at}
	switch {
	case s.isObject:
	case s.field == fieldMethod:
		s.method = append(s.method[:0], c)
	case s.field == fieldID:
		s.id = append(s.id[:0], c)
	}
	switch {
	case s.headOnly && s.settles():
		s.state = isSettled
	case c == '"':
		s.state = inString
	case c == '{', c == '[':
		s.state, s.depth = inNested, 1
	default:
		s.state = inLiteral
	}
}

func (s *scanner) settles() bool {
	return (s.field == fieldResult || s.field == fieldError) && s.fields[fieldID].set() && len(s.method) == 0
}

func (s *scanner) endValue(end int) {
	s.fields[s.field].end = end
	s.state = afterValue
}

// str, text and keyText skip to the end of a string; they differ in what
// follows it.

func (s *scanner) str(piece []byte, i int) int {
	end, closed := s.skipString(piece, i)
	s.capture(piece[i:end])
	if closed {
		s.endValue(s.offset + end)
	}
	return end
}

func (s *scanner) text(piece []byte, i int) int {
	end, closed := s.skipString(piece, i)
	if closed {
		s.state = inNested
	}
	return end
}

func (s *scanner) keyText(piece []byte, i int) int {
	end, closed := s.skipString(piece, i)
	text := piece[i:end]
	s.key = append(s.key, text[:min(len(text), maxKeyBytes+1-len(s.key))]...)
	if closed {
		s.state = atColon
	}
	return end
}

// skipString returns the index behind the closing quote, or the end of piece.
func (s *scanner) skipString(piece []byte, i int) (end int, closed bool) {
	if s.escaped {
		s.escaped = false
		i++
	}
	if end := shortString(piece, i); end > 0 {
		return end, true
	}
	for from := i; ; {
		quote := bytes.IndexByte(piece[i:], '"')
		if quote < 0 {
			s.escaped = backslashes(piece[from:])%2 == 1
			return len(piece), false
		}
		i += quote + 1
		if backslashes(piece[from:i-1])%2 == 0 {
			return i, true
		}
		from = i
	}
}

// backslashes counts those that b ends with. Looking for quotes alone and back from
// each is quicker than to look for both: text has far fewer quotes than line ends.
func backslashes(b []byte) (n int) {
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n
}

// indexFrom returns len(b) where c does not follow.
func indexFrom(b []byte, from int, c byte) int {
	if k := bytes.IndexByte(b[from:], c); k >= 0 {
		return from + k
	}
	return len(b)
}

func (s *scanner) nested(piece []byte, i int) int {
	from := i
	for i < len(piece) {
		switch piece[i] {
		case '"':
			end, closed := s.skipString(piece, i+1)
			if closed {
				i = end
				continue
			}
			s.state = inText
			s.capture(piece[from:])
			return end
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth--; s.depth == 0 {
				s.endValue(s.offset + i + 1)
				return i + 1
			}
		}
		i++
	}
	return len(piece)
}

// shortString returns the index behind a string's closing quote when that is near
// and nothing is escaped, 0 otherwise. Structured results are full of such strings,
// and a loop over a few bytes beats two searches.
func shortString(piece []byte, i int) int {
	for end := min(i+24, len(piece)); i < end; i++ {
		switch piece[i] {
		case '"':
			return i + 1
		case '\\':
			return 0
		}
	}
	return 0
}

func (s *scanner) literal(piece []byte, i int) int {
	for j, c := range piece[i:] {
		switch c {
		case ',', '}', ' ', '\t', '\r', '\n':
			s.capture(piece[i : i+j])
			s.endValue(s.offset + i + j)
			if c == ',' || c == '}' {
				s.between(c, 0)
			}
			return i + j + 1
		case '"', '{', '[', ']', ':':
			s.state = isNoise
			return len(piece)
		}
	}
	s.capture(piece[i:])
	return len(piece)
}

// capture keeps the text of an id or a method, which a Cut line would lose.
func (s *scanner) capture(text []byte) {
	switch {
	case s.isObject:
	case s.field == fieldID && len(s.id)+len(text) <= maxCaptureBytes:
		s.id = append(s.id, text...)
	case s.field == fieldMethod && len(s.method)+len(text) <= maxCaptureBytes:
		s.method = append(s.method, text...)
	}
}

func (s *scanner) fieldOf(key []byte) field {
	if bytes.IndexByte(key, '\\') >= 0 {
		key = append([]byte(gjson.Parse(`"`+string(key)).Str), '"')
	}
	name := key[:len(key)-1]
	for i := range s.names {
		if string(name) == s.names[i] && i != int(fieldNone) {
			return field(i)
		}
	}
	return fieldNone
}

// Object finds members of the object that text begins with, by name: the last of
// each, as raw JSON text, nil without one. At most five names. The size is where the
// object ends; 0 means that text does not begin with one.
func Object(text []byte, names ...string) (values [maxNames][]byte, size int) {
	s := scanner{isObject: true}
	copy(s.names[1:], names)
	for i := 0; i < len(text) && s.state != atEnd; {
		i = s.step(text, i)
		size = i
	}
	if s.state != atEnd {
		return values, 0
	}
	for i := range names {
		if f := s.fields[i+1]; f.set() {
			values[i] = text[f.start:f.end]
		}
	}
	return values, size
}

// message is what the line fed so far is. The state must be reset before the
// next line.
func (s *scanner) message(raw []byte, size int, cut bool) Message {
	m := Message{Raw: raw, Size: size, Cut: cut, fields: s.fields}
	known := s.state == atEnd || s.state == isSettled
	if id := s.fields[fieldID]; known && id.set() && id.end-id.start == len(s.id) {
		m.ID = s.id
	}
	if known && len(s.method) > 0 {
		m.Method = methodName(s.method)
	}
	m.Kind = s.kind(m.Method != "")
	return m
}

func (s *scanner) kind(hasMethod bool) Kind {
	switch {
	case s.state == atStart:
		return Blank
	case s.state == isBatch:
		return Batch
	case s.state == isSettled:
		return Response
	case s.state != atEnd:
		return Noise
	case hasMethod && s.fields[fieldID].set() && string(s.id) != "null":
		return Request
	case hasMethod:
		return Notification
	case s.fields[fieldResult].set() || s.fields[fieldError].set():
		return Response
	}
	return Other
}

// methodName decodes a method. The names that pass with every call are constants,
// so that the usual message costs no allocation.
func methodName(raw []byte) string {
	switch string(raw) {
	case `"tools/call"`:
		return "tools/call"
	case `"notifications/progress"`:
		return "notifications/progress"
	}
	if raw[0] != '"' {
		return ""
	}
	return gjson.ParseBytes(raw).Str
}
