package regex

import (
	"sync"
	"unicode"
)

// canonical is the character that stands for all that are the same without regard
// to case. With the flags u and v that follows Unicode's simple folding, without
// them the upper case letters, as the specification's Canonicalize says.
func canonical(c rune, codePoints bool) rune {
	if codePoints {
		return foldClass(c)
	}
	if c < 0x80 {
		if 'a' <= c && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}
	if longUpper(c) {
		return c
	}
	if upper := unicode.ToUpper(c); upper >= 0x80 {
		return upper
	}
	return c
}

// foldClass is the first of the characters that fold together.
func foldClass(c rune) rune {
	if c < 0x80 {
		if 'a' <= c && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}
	least := c
	for r := unicode.SimpleFold(c); r != c; r = unicode.SimpleFold(r) {
		least = min(least, r)
	}
	return least
}

// folded is a set with every character replaced by its fold class, as the v flag
// does before it takes complements.
func (s *set) folded() *set {
	out := (&set{spans: s.spans}).subtract(casedRunes())
	for _, sp := range casedRunes().intersect(&set{spans: s.spans}).spans {
		for c := sp.lo; c <= sp.hi; c++ {
			r := foldClass(c)
			out.add(r, r)
		}
	}
	out.strings = s.strings
	return out.tidy()
}

// casedRunes are those that fold together with others.
var casedRunes = sync.OnceValue(func() *set {
	out := &set{}
	for _, r := range unicode.CaseRanges {
		for c := rune(r.Lo); c <= rune(r.Hi); c++ {
			if unicode.SimpleFold(c) != c {
				out.add(c, c)
			}
		}
	}
	return out.tidy()
})

// foldClasses are the characters that stand for themselves.
var foldClasses = sync.OnceValue(func() *set { return all.folded() })

// longUpper tells of letters whose upper case is more than one character; those
// are not folded without the flag u.
func longUpper(c rune) bool {
	switch {
	case c == 0xDF, c == 0x149, c == 0x1F0, c == 0x390, c == 0x3B0, c == 0x587:
		return true
	case c >= 0x1E96 && c <= 0x1E9A, c >= 0xFB00 && c <= 0xFB06, c >= 0xFB13 && c <= 0xFB17:
		return true
	case c >= 0x1F50 && c <= 0x1F56:
		return c%2 == 0
	case c >= 0x1F80 && c <= 0x1FAF:
		return true
	}
	return longGreek[c]
}

var longGreek = map[rune]bool{
	0x1FB2: true, 0x1FB3: true, 0x1FB4: true, 0x1FB6: true, 0x1FB7: true, 0x1FBC: true, 0x1FC2: true, 0x1FC3: true,
	0x1FC4: true, 0x1FC6: true, 0x1FC7: true, 0x1FCC: true, 0x1FD2: true, 0x1FD3: true, 0x1FD6: true, 0x1FD7: true,
	0x1FE2: true, 0x1FE3: true, 0x1FE4: true, 0x1FE6: true, 0x1FE7: true, 0x1FF2: true, 0x1FF3: true, 0x1FF4: true,
	0x1FF6: true, 0x1FF7: true, 0x1FFC: true,
}

// hasFolded tells whether a set has a character or one that is the same without
// regard to case.
func (s *set) hasFolded(c rune, codePoints bool) bool {
	if s.has(c) {
		return true
	}
	want := canonical(c, codePoints)
	for r := unicode.SimpleFold(c); r != c; r = unicode.SimpleFold(r) {
		if canonical(r, codePoints) == want && s.has(r) {
			return true
		}
	}
	return false
}
