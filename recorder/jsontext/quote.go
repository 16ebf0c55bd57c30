package jsontext

import (
	"bytes"
	"unicode/utf8"
)

// AppendString appends text as a JSON string. Characters of HTML stay as they are,
// and bytes that are no UTF-8 become U+FFFD, as every decoder would have them.
func AppendString[T ~string | ~[]byte](dst []byte, text T) []byte {
	s := []byte(text)
	if !utf8.Valid(s) {
		s = bytes.ToValidUTF8(s, []byte("\uFFFD"))
	}
	dst = append(dst, '"')
	for {
		n := Special(s, 0)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, s[n])
		s = s[n+1:]
	}
}

func appendEscape(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}
