package scan

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted passes a string, with its quotes.
func quoted(text []byte, at int) (end int, ok bool) {
	if at >= len(text) || text[at] != '"' {
		return at, false
	}
	for at++; at < len(text); at++ {
		switch c := text[at]; {
		case c == '"':
			return at + 1, true
		case c < 0x20:
			return at, false
		case c == '\\':
			size := escape(text[at:])
			if size == 0 {
				return at, false
			}
			at += size - 1
		}
	}
	return at, false
}

// escape is the length of the escape that text starts with, and 0 for none.
func escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := unit(text); ok {
			return 6
		}
	}
	return 0
}

// unit reads \uXXXX.
func unit(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range text[2:6] {
		switch {
		case digit(c):
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// String decodes a value that is a string. Half of a surrogate pair becomes U+FFFD,
// and bytes that are not UTF-8 stay what they are: a file may be named so.
func String(value []byte) (string, bool) {
	if end, ok := quoted(value, 0); !ok || end != len(value) {
		return "", false
	}
	value = value[1 : len(value)-1]
	plain := make([]byte, 0, len(value))
	for len(value) > 0 {
		if value[0] != '\\' {
			plain = append(plain, value[0])
			value = value[1:]
			continue
		}
		var size int
		plain, size = unescape(plain, value)
		value = value[size:]
	}
	return string(plain), true
}

// unescape appends what the escape at the start of text stands for, and says how long
// that escape is.
func unescape(plain, text []byte) ([]byte, int) {
	switch c := text[1]; c {
	case 'b':
		return append(plain, '\b'), 2
	case 'f':
		return append(plain, '\f'), 2
	case 'n':
		return append(plain, '\n'), 2
	case 'r':
		return append(plain, '\r'), 2
	case 't':
		return append(plain, '\t'), 2
	case 'u':
		first, _ := unit(text)
		second, _ := unit(text[6:])
		if both := utf16.DecodeRune(first, second); both != utf8.RuneError {
			return utf8.AppendRune(plain, both), 12
		}
		return utf8.AppendRune(plain, first), 6
	default:
		return append(plain, c), 2
	}
}

// Int decodes a value that is a whole number.
func Int(value []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	return n, err == nil && len(value) > 0 && value[0] != '+'
}
