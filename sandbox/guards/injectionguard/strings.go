package injectionguard

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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
	// blanks take room or none and show nothing, and are not what Unicode calls space.
	blanks = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0"
	// dashes start an option; PowerShell takes the long ones for it too.
	dashes = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
	// notInIdentifiers are what a value must not have where the sample is a bare
	// identifier, in every plan.
	notInIdentifiers = ";|&`$<>'\"\\/"
)

// safeOptions are the letters of options that an option of the sample may become.
const safeOptions = "abghjklmnpqstvwyzAGHLMNQVWYZ0123456789"

// sequences start or end a comment in SQL.
var sequences = []string{"--", "/*", "*/"}

// length bounds what the other rules look at.
func length(value, _ string, _ class) *fault {
	if len(value) > maxStringBytes {
		return &fault{code: CodeTooLarge, words: "is longer than 64 KiB", accepted: "a shorter value"}
	}
	return nil
}

func lineBreaks(value, _ string, has class) *fault {
	if !has.any(hasControl | hasWide) {
		return nil
	}
	if i := strings.IndexAny(value, breaks); i >= 0 {
		return faultAt(CodeLineBreak, value, i, "which ends a line or a string")
	}
	return nil
}

// unseen refuses what a reader of the value does not see: controls, zero-width and
// direction marks, what is not assigned, and bytes that are no text.
func unseen(value, _ string, has class) *fault {
	if !has.any(hasControl | hasWide) {
		return nil
	}
	i := strings.IndexFunc(value, func(r rune) bool {
		return r == unicode.ReplacementChar || unicode.IsControl(r) || !unicode.IsPrint(r) && !unicode.IsSpace(r) ||
			unicode.Is(unicode.Variation_Selector, r) || strings.ContainsRune(blanks, r)
	})
	if i >= 0 {
		return faultAt(CodeControl, value, i, "which is not seen")
	}
	return nil
}

func metacharacters(value, _ string, has class) *fault {
	if !has.any(hasSign | hasDash | hasWide) {
		return nil
	}
	if i := strings.IndexAny(value, always); i >= 0 {
		return faultAt(CodeShell, value, i, "which a shell or a query gives a meaning")
	}
	for _, s := range sequences {
		if i := strings.Index(value, s); i >= 0 {
			return &fault{code: CodeShell, words: "has " + s + " at character " + position(value, i) + ", which starts an option or a comment"}
		}
	}
	return nil
}

// options refuses words that start like one, unless the sample has such a word; and
// even then those that make a program run, write or remove something.
func options(value, sample string, has class) *fault {
	for _, helper := range []string{"ext::", "fd::"} { // git runs what follows
		if strings.HasPrefix(value, helper) && !strings.HasPrefix(sample, helper) {
			return &fault{code: CodeOption, words: "starts with " + helper + ", after which git runs a command"}
		}
	}
	if !has.any(hasDash | hasWide) {
		return nil
	}
	if strings.Contains(value, "/-") && !strings.Contains(sample, "/-") {
		return &fault{code: CodeOption, words: "has a part of a path that starts with a dash and reads as an option where it stands alone"}
	}
	allowed := startsOption(sample)
	for _, word := range strings.Fields(value) {
		switch {
		case !isOption(word):
		case !allowed:
			i := strings.Index(value, word)
			return &fault{code: CodeOption, words: "has a word at character " + position(value, i) + " that starts with a dash and reads as an option"}
		case isDangerousOption(word) && !slices.Contains(strings.Fields(sample), word) && !isNumber(word):
			return &fault{code: CodeOption, words: "has an option with which programs run, write or remove something"}
		}
	}
	return nil
}

func startsOption(s string) bool { return slices.ContainsFunc(strings.Fields(s), isOption) }

func isOption(word string) bool { return strings.ContainsRune(dashes, firstRune(word)) }

// isDangerousOption errs to the safe side, since the program is not known: only
// single letters pass that no common program takes for such a thing.
func isDangerousOption(word string) bool {
	return len(word) > 2 || len(word) == 2 && strings.IndexByte(safeOptions, word[1]) < 0
}

// numbers keeps a number in a string a number.
func numbers(value, sample string, _ class) *fault {
	if isNumber(sample) && !isNumber(value) {
		return &fault{code: CodeType, words: "is no number, as it was in the recording"}
	}
	return nil
}

func structure(value, sample string, has class) *fault {
	if !has.any(hasSign | hasSpace | hasControl | hasWide) {
		return nil
	}
	addresses := isEmail(sample) && isEmail(value) && value[0] != '+'
	i := strings.IndexFunc(value, func(r rune) bool {
		if r == '+' && addresses {
			return false // bob+tag@example.org
		}
		special := strings.ContainsRune(structural, r) || unicode.IsSpace(r)
		return special && !strings.ContainsRune(sample, r)
	})
	if i >= 0 {
		return faultAt(CodeStructure, value, i, "which it had not in the recording")
	}
	return nil
}

// faultAt names the character that starts at the byte.
func faultAt(code, value string, at int, why string) *fault {
	return &fault{code: code, words: "has " + nameOf(firstRune(value[at:])) + " at character " + position(value, at) + ", " + why}
}

// position counts characters from 1.
func position(value string, at int) string {
	return strconv.Itoa(utf8.RuneCountInString(value[:at]) + 1)
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
