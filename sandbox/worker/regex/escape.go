package regex

import "unicode/utf16"

// escape reads what stands behind a backslash outside a class.
func (p *parser) escape() node {
	c := p.peek()
	switch {
	case c == -1:
		refuse("\\ at end of pattern")
	case c >= '1' && c <= '9':
		if n, ok := p.backReference(); ok {
			return n
		}
	case c == 'k' && (p.flags.CodePoints() || p.hasNames):
		p.i++
		if !p.eat("<") {
			refuse("Invalid named reference")
		}
		p.special = true
		n := &reference{fold: p.flags.IgnoreCase}
		p.references = append(p.references, pending{name: p.name("Invalid named reference"), node: n})
		return n
	}
	if s := p.classEscape(); s != nil {
		return p.finish(s)
	}
	return p.literal(p.characterEscape(false))
}

// backReference reads \1 and the like. Without the u flag a number that no group
// has is an octal escape or the digit itself.
func (p *parser) backReference() (node, bool) {
	start := p.i
	number, _ := p.number()
	if number <= p.total {
		p.special = true
		return &reference{numbers: []int{number}, fold: p.flags.IgnoreCase}, true
	}
	if p.flags.CodePoints() {
		refuse("Invalid escape")
	}
	p.i = start
	return nil, false
}

// classEscape reads \d, \w, \s, \p{…} and their opposites; nil for another escape.
func (p *parser) classEscape() *set {
	c := p.peek()
	var s *set
	switch c {
	case 'd', 'D':
		s = digits
	case 'w', 'W':
		s = words
		if p.flags.CodePoints() && p.flags.IgnoreCase {
			s = foldedWords
		}
	case 's', 'S':
		s = blanks
	case 'p', 'P':
		if !p.flags.CodePoints() {
			return nil
		}
	default:
		return nil
	}
	p.i++
	if c == 'p' || c == 'P' {
		s = p.property()
	}
	if c >= 'a' {
		return s
	}
	return p.opposite(s)
}

func (p *parser) property() *set {
	p.special = true
	if !p.eat("{") {
		refuse("Invalid property name")
	}
	start := p.i
	for p.peek() != '}' {
		if p.peek() == -1 {
			refuse("Invalid property name")
		}
		p.i++
	}
	p.i++
	s := property(string(p.src[start:p.i-1]), p.flags.Sets)
	if p.flags.Sets && p.flags.IgnoreCase {
		return s.folded()
	}
	return s
}

// opposite is the complement. The v flag takes it among the characters that stand
// for their fold classes.
func (p *parser) opposite(s *set) *set {
	if len(s.strings) > 0 {
		refuse("Negated character class may contain strings")
	}
	if p.flags.Sets && p.flags.IgnoreCase {
		return foldClasses().subtract(s.folded())
	}
	return s.complement()
}

var controls = map[rune]rune{'t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r'}

// characterEscape reads an escape that stands for one character.
func (p *parser) characterEscape(inClass bool) rune {
	c := p.peek()
	p.i++
	if control, ok := controls[c]; ok {
		return control
	}
	switch {
	case c == '0' && !(p.peek() >= '0' && p.peek() <= '9'):
		return 0
	case c >= '0' && c <= '9':
		if p.flags.CodePoints() {
			if inClass {
				refuse("Invalid class escape")
			}
			refuse("Invalid decimal escape")
		}
		return p.octal(c)
	case c == 'c':
		return p.controlLetter(inClass)
	case c == 'x':
		if n, ok := p.hex(2); ok {
			return n
		}
	case c == 'u':
		if n, ok := p.unicodeEscape(p.flags.CodePoints()); ok {
			p.special = p.special || n > 0xFFFF || utf16.IsSurrogate(n)
			return n
		}
		if p.flags.CodePoints() {
			refuse("Invalid Unicode escape")
		}
	}
	if p.flags.CodePoints() && !syntaxCharacter(c) && !(c == '-' && inClass) {
		refuse("Invalid escape")
	}
	return c
}

func syntaxCharacter(c rune) bool {
	for _, s := range `^$\.*+?()[]{}|/` {
		if s == c {
			return true
		}
	}
	return false
}

// octal reads up to three digits of a legacy escape, the first of which is read.
func (p *parser) octal(first rune) rune {
	if first >= '8' {
		return first
	}
	p.special = true
	n := first - '0'
	for i := 0; i < 2 && p.peek() >= '0' && p.peek() <= '7' && n*8+p.peek()-'0' <= 0o377; i++ {
		n = n*8 + p.peek() - '0'
		p.i++
	}
	return n
}

// controlLetter reads the letter of \cA. Without the u flag a backslash before a c
// that is none is a backslash.
func (p *parser) controlLetter(inClass bool) rune {
	c := p.peek()
	p.special = true
	letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	legacy := inClass && !p.flags.CodePoints() && (c >= '0' && c <= '9' || c == '_')
	if letter || legacy {
		p.i++
		return c % 32
	}
	if p.flags.CodePoints() {
		refuse("Invalid unicode escape")
	}
	p.i-- // the c is read again, as itself
	return '\\'
}

// unicodeEscape reads what stands behind \u. Wide escapes are pairs and braces.
func (p *parser) unicodeEscape(wide bool) (rune, bool) {
	start := p.i
	if wide && p.eat("{") {
		var n rune
		digits := 0
		for ; p.peek() != '}'; digits++ {
			d, ok := p.hex(1)
			if n = n*16 + d; !ok || n > maxRune {
				p.i = start
				return 0, false
			}
		}
		p.i++
		return n, digits > 0
	}
	n, ok := p.hex(4)
	if !ok {
		p.i = start
		return 0, false
	}
	if after := p.i; wide && n >= 0xD800 && n < 0xDC00 && p.eat("\\u") {
		if low, ok := p.hex(4); ok && low >= 0xDC00 && low < 0xE000 {
			return utf16.DecodeRune(n, low), true
		}
		p.i = after
	}
	return n, true
}

// hex reads exactly so many digits, or none.
func (p *parser) hex(count int) (rune, bool) {
	var n rune
	for i := range count {
		c := p.at(i)
		switch {
		case c >= '0' && c <= '9':
			n = n*16 + c - '0'
		case c >= 'a' && c <= 'f':
			n = n*16 + c - 'a' + 10
		case c >= 'A' && c <= 'F':
			n = n*16 + c - 'A' + 10
		default:
			return 0, false
		}
	}
	p.i += count
	return n, true
}
