package redact

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote appends the decoded text of a JSON string's inside to dst.
func unquote(dst, body []byte) []byte {
	dst = slices.Grow(dst, len(body))
	for {
		n := bytes.IndexByte(body, '\\')
		if n < 0 {
			return append(dst, body...)
		}
		dst = append(dst, body[:n]...)
		r, size := escape(body[n:])
		dst = utf8.AppendRune(dst, r)
		body = body[n+size:]
	}
}

// escape decodes the escape that b begins with and says how long it is. One that
// JSON does not know stands for its backslash.
func escape(b []byte) (rune, int) {
	if len(b) < 2 {
		return '\\', 1
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r, ok := hex4(b)
	if !ok {
		return '\\', 1
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hex4(b[6:]); ok {
			if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
				return whole, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

// hex4 reads \uXXXX.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

// offsets turns places in a decoded string into places in its raw body. They must
// be asked for in ascending order.
type offsets struct {
	body         []byte
	raw, decoded int
}

func (o *offsets) at(target int) int {
	for o.decoded < target && o.raw < len(o.body) {
		run := bytes.IndexByte(o.body[o.raw:], '\\')
		if run < 0 {
			run = len(o.body) - o.raw
		}
		if run > 0 {
			run = min(run, target-o.decoded)
			o.raw, o.decoded = o.raw+run, o.decoded+run
			continue
		}
		r, size := escape(o.body[o.raw:])
		o.raw, o.decoded = o.raw+size, o.decoded+utf8.RuneLen(r)
	}
	return o.raw
}

// quoteMark spells a replacement for use one string further out.
func quoteMark(with string) string {
	if !strings.ContainsAny(with, `"\`) {
		return with
	}
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(with)
}
