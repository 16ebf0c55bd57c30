package injectionguard

import (
	"strconv"
	"strings"
	"unicode"
)

// The characters that the rules are about.
const (
	// breaks end a line for some reader: a shell, a log, a file format.
	breaks = "\n\r\v\f\u0085\u2028\u2029\x00"
	// always are the characters that no value of a plan that runs its values may
	// have, not even where the sample has them: separators, redirects, expansions,
	// quotes and the escape character. PowerShell takes typographic quotes for quotes.
	always = ";|&`$<>'\"\\\u2018\u2019\u201a\u201b\u201c\u201d\u201e"
	// structural may be there as far as the sample has the same one: globs, braces,
	// parentheses, expansions at the start of a word or in other shells, and what
	// separates the parts of a path, a URL or an assignment.
	structural = "*?[]{}()~!^%#=:@/+,"
	// dashes start an option; PowerShell takes the long ones for it too.
	dashes = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
	// notInIdentifiers are what a value must not have where the sample is a bare
	// identifier, in every plan.
	notInIdentifiers = ";|&`$<>'\"\\/"
)

// sequences start or end a comment in SQL.
var sequences = []string{"--", "/*", "*/"}

func lineBreaks(value, _ string, has class) *fault {
	if !has.any(hasControl | hasWide) {
		return nil
	}
	if i := strings.IndexAny(value, breaks); i >= 0 {
		return &fault{CodeLineBreak, "has " + nameOf(firstRune(value[i:])) + ", which ends a line or a string"}
	}
	return nil
}

// unseen refuses what a reader of the value does not see: controls, zero-width and
// direction marks, what is not assigned, and bytes that are no text.
func unseen(value, _ string, has class) *fault {
	if !has.any(hasControl | hasWide) {
		return nil
	}
	for _, r := range value {
		if r == unicode.ReplacementChar || unicode.IsControl(r) || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return &fault{CodeControl, "has " + nameOf(r) + ", which is not seen"}
		}
	}
	return nil
}

func metacharacters(value, _ string, has class) *fault {
	if !has.any(hasSign | hasDash | hasWide) {
		return nil
	}
	if i := strings.IndexAny(value, always); i >= 0 {
		return &fault{CodeShell, "has " + nameOf(firstRune(value[i:])) + ", which a shell or a query gives a meaning"}
	}
	for _, s := range sequences {
		if strings.Contains(value, s) {
			return &fault{CodeShell, "has " + s + ", which starts an option or a comment"}
		}
	}
	return nil
}

// options refuses words that start like one, unless the sample has such a word.
func options(value, sample string, has class) *fault {
	if has.any(hasDash|hasWide) && startsOption(value) && !startsOption(sample) {
		return &fault{CodeOption, "has a word that starts with a dash and reads as an option"}
	}
	return nil
}

func startsOption(s string) bool {
	for _, word := range strings.Fields(s) {
		if strings.ContainsRune(dashes, firstRune(word)) {
			return true
		}
	}
	return false
}

// numbers keeps a number in a string a number.
func numbers(value, sample string, _ class) *fault {
	if isNumber(sample) && !isNumber(value) {
		return &fault{CodeType, "must be a number, as it was in the recording"}
	}
	return nil
}

func structure(value, sample string, has class) *fault {
	if !has.any(hasSign | hasSpace | hasControl | hasWide) {
		return nil
	}
	for _, r := range value {
		special := strings.ContainsRune(structural, r) || unicode.IsSpace(r)
		if special && !strings.ContainsRune(sample, r) {
			return &fault{CodeStructure, "has " + nameOf(r) + ", which it had not in the recording"}
		}
	}
	return nil
}

// lookalikes refuses signs that stand for ASCII ones elsewhere (full-width and
// typographic forms), and words that mix the alphabets whose letters look alike.
func lookalikes(value, sample string, has class) *fault {
	if !has.any(hasWide) {
		return nil
	}
	for _, r := range value {
		known := r < unicode.MaxASCII || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
		if (!known || isFullWidth(r)) && !strings.ContainsRune(sample, r) {
			return &fault{CodeLookalike, "has " + nameOf(r) + ", which can be taken for another character"}
		}
	}
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if mixesAlphabets(word) {
			return &fault{CodeLookalike, "has a word with letters of two alphabets that look alike"}
		}
	}
	return nil
}

func isFullWidth(r rune) bool { return r >= 0xff00 && r <= 0xffef }

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

// asIdentifier holds in every plan, where the sample has only letters, digits and
// the signs of names.
func asIdentifier(value, sample string, has class) *fault {
	if !isIdentifier(sample) {
		return nil
	}
	if has.any(hasDot) && isTraversal(value) {
		return &fault{CodeTraversal, "leads out of the folder that a bare name stands in"}
	}
	at := -1
	if has.any(hasSign) {
		at = strings.IndexAny(value, notInIdentifiers)
	}
	if at < 0 && has.any(hasControl|hasWide) {
		at = strings.IndexFunc(value, isHidden)
	}
	if at < 0 {
		return nil
	}
	return &fault{CodeIdentifier, "was a bare name in the recording and now has " + nameOf(firstRune(value[at:]))}
}

func isHidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// asPath holds in every plan, where the sample is a path: the value must not climb
// where the sample did not, and must not leave for the root.
func asPath(value, sample string, has class) *fault {
	if !strings.ContainsAny(sample, `/\`) {
		return nil
	}
	if has.any(hasDot) && isTraversal(value) && !isTraversal(sample) {
		return &fault{CodeTraversal, "climbs out of its folder, which it did not in the recording"}
	}
	if isRooted(value) && !isRooted(sample) {
		return &fault{CodePath, "was a relative path in the recording and is now from the root"}
	}
	return nil
}

func isIdentifier(s string) bool {
	for _, r := range s {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
		if !ok {
			return false
		}
	}
	return s != ""
}

func isTraversal(s string) bool {
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' }) {
		if strings.TrimSpace(part) == ".." {
			return true
		}
	}
	return false
}

func isRooted(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, `\`) || strings.HasPrefix(s, "~") ||
		len(s) > 1 && s[1] == ':' && unicode.IsLetter(rune(s[0]))
}

// isNumber takes a decimal number, with a sign, a point and an exponent.
func isNumber(s string) bool {
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(s), "e")
	if scaled && !isInteger(strings.TrimPrefix(exponent, "+")) {
		return false
	}
	whole, fraction, pointed := strings.Cut(mantissa, ".")
	return isInteger(whole) && (!pointed || isDigits(fraction))
}

func isInteger(s string) bool { return isDigits(strings.TrimPrefix(s, "-")) }

func isDigits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// nameOf shows a character safely: what does not print by its code.
func nameOf(r rune) string {
	if r > ' ' && r < unicode.MaxASCII {
		return string(r)
	}
	switch r {
	case ' ':
		return "a space"
	case '\n', '\r':
		return "a line break"
	case '\t':
		return "a tab"
	case 0:
		return "a NUL"
	}
	code := strings.ToUpper(strconv.FormatInt(int64(r), 16))
	return "U+" + strings.Repeat("0", max(0, 4-len(code))) + code
}
