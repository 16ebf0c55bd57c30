package injectionguard

import (
	"strings"
	"unicode"
)

// lookalikes refuses signs that stand for ASCII ones elsewhere (full-width and
// typographic forms, letters that look like signs), and words that mix the alphabets
// whose letters look alike.
func lookalikes(value, sample string, has class) *fault {
	if !has.any(hasWide) {
		return nil
	}
	i := strings.IndexFunc(value, func(r rune) bool { return looksLikeAnother(r) && !strings.ContainsRune(sample, r) })
	if i >= 0 {
		return faultAt(CodeLookalike, value, i, "which can be taken for another character")
	}
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if mixesAlphabets(word) {
			return &fault{code: CodeLookalike, words: "has a word with letters of two alphabets that look alike"}
		}
	}
	return nil
}

// letterSigns are letters and marks by their category, and signs by their look:
// modifier letters that databases turn into quotes, clicks that look like | and !.
const letterSigns = "\u02b9\u02ba\u02bb\u02bc\u02bd\u02be\u02bf\u02c8\u02ca\u02cb\u02ee\u0340\u0341\u01c0\u01c1\u01c2\u01c3" +
	"\ua78c\ua789\u0374\u037a\u1fbd\u1fbf\u1fef\u1ffd\u1ffe\ua4fc\ua4fd\u1427\u1428\u3033\u3034\u3035\u2cfa"

// looksLikeAnother finds what is no letter, digit or mark of a script beyond ASCII,
// and the letters that compatibility forms turn into ASCII.
func looksLikeAnother(r rune) bool {
	if r < unicode.MaxASCII {
		return false
	}
	known := unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
	return !known || isCompatibility(r) || strings.ContainsRune(letterSigns, r)
}

// isCompatibility covers full-width and half-width forms, mathematical letters,
// letter-like symbols and ligatures.
func isCompatibility(r rune) bool {
	switch {
	case r >= 0xff00 && r <= 0xffef && !(r >= 0xff66 && r <= 0xffdc), r >= 0x1d400 && r <= 0x1d7ff, r >= 0x2100 && r <= 0x214f,
		r >= 0xfb00 && r <= 0xfb06, r >= 0xfe50 && r <= 0xfe6f, r >= 0x1f100 && r <= 0x1f1ff:
		return true
	}
	return false
}

func mixesAlphabets(word string) bool {
	var latin, other bool
	for _, r := range word {
		if unicode.Is(unicode.Latin, r) {
			latin = true
		} else if unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee) {
			other = true
		}
	}
	return latin && other
}
