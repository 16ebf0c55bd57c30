package jsontext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// AppendString appends text as a JSON string. Characters of HTML stay as they are,
// and bytes that are no UTF-8 become U+FFFD, as every decoder would have them.
func AppendString[T ~string | ~[]byte](dst []byte, text T) []byte {
	s := []byte(text)
	if !utf8.Valid(s) {
		s = bytes.ToValidUTF8(s, []byte("\uFFFD"))
	}
	dst = append(slices.Grow(dst, len(s)+len(s)/8+2*word), '"')
	for len(s) > 0 {
		dst, s = appendRun(dst, s)
		if len(s) > 0 {
			dst = appendEscape(dst, s[0])
			s = s[1:]
		}
	}
	return append(dst, '"')
}

const word = 8

// appendRun appends what needs no escape and returns the rest. It copies while it
// looks: a word with something special in it is written whole, and then taken back.
func appendRun(dst, s []byte) (longer, rest []byte) {
	for len(s) >= word {
		n := len(dst)
		if cap(dst)-n < word {
			dst = slices.Grow(dst, len(s)+word)
		}
		w := binary.LittleEndian.Uint64(s)
		binary.LittleEndian.PutUint64(dst[n:n+word], w)
		m := specials(w)
		if m != 0 {
			plain := bits.TrailingZeros64(m) >> 3
			return dst[:n+plain], s[plain:]
		}
		dst, s = dst[:n+word], s[word:]
	}
	n := Special(s, 0)
	return append(dst, s[:n]...), s[n:]
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
