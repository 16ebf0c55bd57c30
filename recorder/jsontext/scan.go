// Package jsontext has the passes over JSON text that recording makes for every
// payload: is it valid, where does a string end, how is it spelled as a string. It
// allocates nothing but what it returns. It never decodes a value and never changes
// one; what a payload means is for others to know.
//
// Why not encoding/json? Its Valid takes the text byte by byte, at a fifth of the
// speed, and recording one call would cost as much as relaying ten.
package jsontext

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// Special returns the place of the first byte from i on that has a meaning inside
// a JSON string, or none: a quote, a backslash, a control character. It is len(s)
// where there is none.
func Special(s []byte, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if m := specials(binary.LittleEndian.Uint64(s[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// specials has the high bit set of the first byte of w that is special. Bits above
// that one may be wrong: a borrow runs upwards.
func specials(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & highs
}

// StringEnd returns the place of the closing quote of the string that begins at
// start, and whether there are escapes before it.
func StringEnd(s []byte, start int) (end int, escaped, ok bool) {
	for i := start + 1; ; {
		if i = Special(s, i); i >= len(s) {
			return 0, false, false
		}
		switch s[i] {
		case '"':
			return i, escaped, true
		case '\\':
			escaped = true
			i += 2
		default:
			i++ // a control character does not end a string, whoever wrote it
		}
	}
}

// End returns the end of the value that begins at start, in text that is valid.
func End(s []byte, start int) int {
	depth := 0
	for i := start; i < len(s); {
		switch s[i] {
		case '"':
			end, _, ok := StringEnd(s, i)
			if !ok {
				return len(s)
			}
			i = end + 1
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
			continue
		default:
			i = wordEnd(s, i)
		}
		if depth == 0 {
			return i
		}
	}
	return len(s)
}

// wordEnd returns the end of the number, true, false or null that begins at i.
func wordEnd(s []byte, i int) int {
	for i < len(s) && s[i] > ' ' && s[i] != ',' && s[i] != ']' && s[i] != '}' {
		i++
	}
	return i
}

// Members calls visit with each member of the object that s begins with, or each
// element of the array, which has no key. The key is as it is spelled, with its
// quotes. The text must be valid.
func Members(s []byte, visit func(key, value []byte)) {
	object := s[0] == '{'
	for i := 1; ; {
		i = skip(s, i)
		if i >= len(s) || s[i] == '}' || s[i] == ']' {
			return
		}
		var key []byte
		if object {
			end := End(s, i)
			key = s[i:end]
			i = skip(s, end)
		}
		end := End(s, i)
		visit(key, s[i:end])
		i = end
	}
}

// skip moves past what stands between keys and values.
func skip(s []byte, i int) int {
	for i < len(s) && (s[i] <= ' ' || s[i] == ',' || s[i] == ':') {
		i++
	}
	return i
}
