package intl

import (
	"slices"
	"strings"
)

// incorrectLocale is the error for a tag that is none.
func incorrectLocale() *Error { return RangeError("Incorrect locale information provided") }

// Canonical is a language tag in its canonical form.
func Canonical(tag string) (string, *Error) {
	c := canonicalizer{rest: strings.Split(strings.ToLower(tag), "-")}
	if len(tag) > maxTagBytes || !c.language() || !c.variants() {
		return "", incorrectLocale()
	}
	// What follows is left to ICU, whose error has other words.
	isExtension := len(c.rest) > 0 && len(c.rest[0]) == 1 || len(c.rest) == 1 && c.rest[0] == ""
	switch {
	case c.extensions():
		return strings.Join(c.out, "-"), nil
	case isExtension:
		return "", RangeError("Invalid language tag: " + tag)
	}
	return "", incorrectLocale()
}

// maxTagBytes is far over any tag that means something: looking for doubled variants
// takes its square.
const maxTagBytes = 1000

// canonicalizer takes subtags off the front of rest.
type canonicalizer struct {
	rest, out []string
}

func (c *canonicalizer) next(fits func(string) bool) (string, bool) {
	if len(c.rest) == 0 || !fits(c.rest[0]) {
		return "", false
	}
	first := c.rest[0]
	c.rest = c.rest[1:]
	return first, true
}

// replaced are languages that have another code today.
var replaced = map[string]string{"iw": "he", "in": "id", "ji": "yi", "mo": "ro", "tl": "fil", "jw": "jv"}

func (c *canonicalizer) language() bool {
	language, ok := c.next(func(s string) bool { return isLetters(s) && (len(s) == 2 || len(s) == 3 || len(s) >= 5 && len(s) <= 8) })
	if !ok {
		return false
	}
	if other := replaced[language]; other != "" {
		language = other
	}
	c.out = append(c.out, language)
	if script, ok := c.next(func(s string) bool { return len(s) == 4 && isLetters(s) }); ok {
		c.out = append(c.out, strings.ToUpper(script[:1])+script[1:])
	}
	if region, ok := c.next(func(s string) bool { return len(s) == 2 && isLetters(s) || len(s) == 3 && isDigits(s) }); ok {
		region = strings.ToUpper(region)
		if region == "UK" {
			region = "GB"
		}
		c.out = append(c.out, region)
	}
	return true
}

func (c *canonicalizer) variants() bool {
	var found []string
	for {
		variant, ok := c.next(func(s string) bool {
			return isAlnum(s) && (len(s) >= 5 && len(s) <= 8 || len(s) == 4 && isDigits(s[:1]))
		})
		if !ok {
			break
		}
		if slices.Contains(found, variant) {
			return false
		}
		found = append(found, variant)
	}
	slices.Sort(found)
	c.out = append(c.out, found...)
	return true
}

// extensions takes the rest: each is one character and its subtags, x the last one.
func (c *canonicalizer) extensions() bool {
	var all [][]string
	for len(c.rest) > 0 {
		mark := c.rest[0]
		if len(mark) != 1 || !isAlnum(mark) {
			return false
		}
		least := 2
		if mark == "x" {
			least = 1
		}
		n := 1
		for n < len(c.rest) && len(c.rest[n]) >= least && len(c.rest[n]) <= 8 && isAlnum(c.rest[n]) {
			n++
		}
		if n == 1 {
			return false
		}
		extension := slices.Clone(c.rest[:n])
		if mark == "u" {
			extension = keywords(extension)
		}
		if slices.ContainsFunc(all, func(e []string) bool { return e[0] == mark }) {
			return false
		}
		all = append(all, extension)
		c.rest = c.rest[n:]
		if mark == "x" {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b []string) int { return strings.Compare(order(a[0]), order(b[0])) })
	for _, e := range all {
		c.out = append(c.out, e...)
	}
	return len(c.rest) == 0
}

// order puts private use last.
func order(mark string) string {
	if mark == "x" {
		return "~"
	}
	return mark
}

// keywords sorts those of a -u- extension and drops what says only "true".
func keywords(extension []string) []string {
	attributes := []string{}
	var words [][]string
	for _, p := range extension[1:] {
		switch {
		case len(p) == 2:
			words = append(words, []string{p})
		case len(words) == 0:
			attributes = append(attributes, p)
		case p != "true" && p != "yes":
			words[len(words)-1] = append(words[len(words)-1], p)
		}
	}
	slices.SortStableFunc(words, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	out := append([]string{"u"}, attributes...)
	for i, w := range words {
		if i == 0 || words[i-1][0] != w[0] {
			out = append(out, w...)
		}
	}
	return out
}

func isLetters(s string) bool {
	return all(s, func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' })
}
func isDigits(s string) bool { return all(s, func(c byte) bool { return c >= '0' && c <= '9' }) }

func isAlnum(s string) bool {
	return all(s, func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' })
}

func all(s string, fits func(byte) bool) bool {
	for i := range len(s) {
		if !fits(s[i]) {
			return false
		}
	}
	return s != ""
}
