package injectionguard

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDecodings is how often a value is decoded, since tools may decode one after the
// other: %253B is %3B and then a semicolon.
const maxDecodings = 3

// encoded judges what becomes of the value in a tool that decodes it. The escapes of
// shells and of HTML have signs that are refused anyway; percent escapes have none.
func encoded(value, sample string, has class) *fault {
	if !has.any(hasSign) || !strings.Contains(value, "%") {
		return nil
	}
	plain := decodePercent(sample)
	return whenDecoded(value, func(decoded string) *fault {
		for _, r := range characters() {
			if f := r(decoded, plain, classesIn(decoded)); f != nil {
				return &fault{code: CodeEncoded, words: "has a percent escape that, once it is decoded, " + f.words}
			}
		}
		return nil
	})
}

// whenDecoded judges what the value is after one decoding and after more.
func whenDecoded(value string, judge func(decoded string) *fault) *fault {
	for range maxDecodings {
		decoded := decodePercent(value)
		if decoded == value {
			return nil
		}
		if f := judge(decoded); f != nil {
			return f
		}
		value = decoded
	}
	return nil
}

// decodePercent reads %2F, and %u002F as some servers do. What is no escape stays.
func decodePercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '%' {
			if n, length := escapeAt(s[i+1:]); length > 0 {
				if length == 2 {
					out = append(out, byte(n))
				} else {
					out = utf8.AppendRune(out, rune(n))
				}
				i += length
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func escapeAt(s string) (n uint64, length int) {
	digits := 2
	from := 0
	if len(s) > 0 && (s[0] == 'u' || s[0] == 'U') {
		digits, from = 4, 1
	}
	if len(s) < from+digits {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[from:from+digits], 16, 32)
	if err != nil {
		return 0, 0
	}
	return n, from + digits
}
