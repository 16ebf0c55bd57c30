package injectionguard

import (
	"strings"
	"unicode/utf8"
)

// class is a set of kinds of characters. One pass over a value finds those it has,
// where a pass for each rule would cost most of a call's time: a module pays for
// every turn of a loop.
type class uint8

const (
	hasControl class = 1 << iota // below the space, and delete
	hasSpace
	hasDash
	hasDot
	hasSign   // any other ASCII character that is no letter, digit or underscore
	hasWide   // beyond ASCII
	hasSyntax // a sign that a shell or a query gives a meaning, in some place
)

// classOf holds the class of each byte.
var classOf = func() (table [256]class) {
	for i := range table {
		table[i] = classify(byte(i))
	}
	return table
}()

func classify(b byte) class {
	switch {
	case b >= utf8.RuneSelf:
		return hasWide
	case b < ' ' || b == 0x7f:
		return hasControl
	case b == ' ':
		return hasSpace
	case b == '-':
		return hasDash
	case b == '.':
		return hasDot
	case b >= '0' && b <= '9', b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '_':
		return 0
	case strings.IndexByte("/.,:@+_-", b) >= 0:
		return hasSign
	}
	return hasSign | hasSyntax
}

func classesIn(s string) class {
	var all class
	for i := range len(s) {
		all |= classOf[s[i]]
	}
	return all
}

func (c class) any(of class) bool { return c&of != 0 }
