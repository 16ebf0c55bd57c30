// Package text turns strings into bytes and back as Node's Buffer, TextEncoder and
// TextDecoder do. Strings are UTF-16, since a JavaScript string may hold lone
// surrogates. It knows no JavaScript engine.
package text

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encode gives the bytes of units in an encoding that Buffer names. What an
// encoding cannot say is left out or cut, as there.
func Encode(units []uint16, encoding string) []byte {
	switch encoding {
	case "latin1", "ascii":
		out := make([]byte, len(units))
		for i, unit := range units {
			out[i] = byte(unit)
		}
		return out
	case "utf16le":
		out := make([]byte, 0, 2*len(units))
		for _, unit := range units {
			out = append(out, byte(unit), byte(unit>>8))
		}
		return out
	case "hex":
		return fromHex(units)
	case "base64", "base64url":
		return fromBase64(units)
	}
	return []byte(string(utf16.Decode(units))) // a lone surrogate becomes U+FFFD
}

// fromHex stops at the first pair that is none.
func fromHex(units []uint16) []byte {
	out := make([]byte, 0, len(units)/2)
	for i := 0; i+1 < len(units); i += 2 {
		pair, err := hex.DecodeString(string(utf16.Decode(units[i : i+2])))
		if err != nil {
			break
		}
		out = append(out, pair...)
	}
	return out
}

// fromBase64 takes both alphabets, skips what is of none, and ends at padding.
func fromBase64(units []uint16) []byte {
	var clean strings.Builder
	for _, unit := range units {
		c := byte(unit)
		switch {
		case unit > 0x7F:
		case c == '=':
			return decode64(clean.String())
		case c == '-':
			clean.WriteByte('+')
		case c == '_':
			clean.WriteByte('/')
		case c == '+' || c == '/' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			clean.WriteByte(c)
		}
	}
	return decode64(clean.String())
}

func decode64(text string) []byte {
	if len(text)%4 == 1 {
		text = text[:len(text)-1]
	}
	out, _ := base64.RawStdEncoding.DecodeString(text) // clean by now
	return out
}

// Decode gives the text of bytes and how many of them it used: with more to come,
// a character cut off at the end is left. It is not ok where bytes are no text.
func Decode(data []byte, encoding string, more bool) (units []uint16, used int, ok bool) {
	switch encoding {
	case "latin1", "ascii", "windows-1252":
		return single(data, encoding), len(data), true
	case "utf16le", "utf-16le", "utf-16be":
		return wide(data, encoding, more)
	case "hex":
		return ascii(hex.EncodeToString(data)), len(data), true
	case "base64":
		return ascii(base64.StdEncoding.EncodeToString(data)), len(data), true
	case "base64url":
		return ascii(base64.RawURLEncoding.EncodeToString(data)), len(data), true
	}
	return fromUTF8(data, more)
}

func ascii(text string) []uint16 {
	out := make([]uint16, len(text))
	for i := range len(text) {
		out[i] = uint16(text[i])
	}
	return out
}

// windows1252 is what its bytes from 0x80 to 0x9F stand for.
var windows1252 = [32]uint16{
	0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
	0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
}

func single(data []byte, encoding string) []uint16 {
	out := make([]uint16, len(data))
	for i, b := range data {
		out[i] = uint16(b)
		switch {
		case encoding == "ascii":
			out[i] = uint16(b & 0x7F)
		case encoding == "windows-1252" && b >= 0x80 && b < 0xA0:
			out[i] = windows1252[b-0x80]
		}
	}
	return out
}

// wide reads UTF-16. Buffer keeps lone surrogates, a decoder replaces them.
func wide(data []byte, encoding string, more bool) ([]uint16, int, bool) {
	whole := len(data) / 2 * 2
	out := make([]uint16, 0, whole/2)
	for i := 0; i < whole; i += 2 {
		unit := uint16(data[i]) | uint16(data[i+1])<<8
		if encoding == "utf-16be" {
			unit = unit>>8 | unit<<8
		}
		out = append(out, unit)
	}
	if encoding == "utf16le" {
		return out, len(data), true
	}
	if last := len(out) - 1; more && last >= 0 && out[last] >= 0xD800 && out[last] < 0xDC00 {
		out, whole = out[:last], whole-2
	}
	runes := utf16.Decode(out)
	ok := true
	for i, r := range runes {
		ok = ok && (r != utf8.RuneError || out[min(i, len(out)-1)] == utf8.RuneError)
	}
	out = utf16.Encode(runes)
	if whole < len(data) && !more {
		return append(out, utf8.RuneError), len(data), false
	}
	return out, whole, ok
}

// fromUTF8 replaces each part that cannot become a character by one U+FFFD, as the
// encoding standard says; Go would do so byte by byte.
func fromUTF8(data []byte, more bool) (units []uint16, used int, ok bool) {
	ok = true
	units = make([]uint16, 0, len(data))
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			size = broken(data[i:])
			if more && i+size == len(data) && size < needed(data[i]) {
				return units, i, ok
			}
			ok = false
		}
		units = utf16.AppendRune(units, r)
		i += size
	}
	return units, len(data), ok
}

// needed is how many bytes a character has by its first one; 1 for none.
func needed(first byte) int {
	switch {
	case first >= 0xC2 && first < 0xE0:
		return 2
	case first >= 0xE0 && first < 0xF0:
		return 3
	case first >= 0xF0 && first < 0xF5:
		return 4
	}
	return 1
}

// broken is the length of the longest beginning of a character.
func broken(data []byte) int {
	size := needed(data[0])
	for i := 1; i < size; i++ {
		if i >= len(data) {
			return i
		}
		low, high := byte(0x80), byte(0xBF)
		if i == 1 {
			low, high = second(data[0])
		}
		if data[i] < low || data[i] > high {
			return i
		}
	}
	return size
}

// second are the bounds of a character's second byte.
func second(first byte) (low, high byte) {
	switch first {
	case 0xE0:
		return 0xA0, 0xBF
	case 0xED:
		return 0x80, 0x9F
	case 0xF0:
		return 0x90, 0xBF
	case 0xF4:
		return 0x80, 0x8F
	}
	return 0x80, 0xBF
}

// Unescape undoes percent escapes; what is none stays.
func Unescape(text string) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if b, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				out = append(out, b[0])
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}
