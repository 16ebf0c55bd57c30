package regex

import (
	"slices"
	"strings"
)

// finish makes a node of a set: a class, or with strings in it a choice of those,
// the longest first.
func (p *parser) finish(s *set) node {
	c := class{set: s, fold: p.flags.IgnoreCase}
	if len(s.strings) == 0 {
		return c
	}
	texts := slices.Clone(s.strings)
	slices.SortStableFunc(texts, func(a, b []rune) int { return len(b) - len(a) })
	var out choice
	single := false
	for _, text := range texts {
		if len(text) == 0 && !single {
			out = append(out, c)
			single = true
		}
		var part sequence
		for _, r := range text {
			part = append(part, p.literal(r))
		}
		out = append(out, part)
	}
	if !single {
		out = append(out, c)
	}
	return out
}

// class reads a class whose opening bracket is read.
func (p *parser) class() node {
	negated := p.eat("^")
	if p.flags.Sets {
		s := p.setClass()
		if negated {
			s = p.opposite(s)
		}
		return p.finish(s)
	}
	s := &set{}
	for !p.eat("]") {
		p.classRange(s)
	}
	s.tidy()
	if !negated {
		return p.finish(s)
	}
	if !p.flags.IgnoreCase {
		return p.finish(s.complement())
	}
	// What is left out is left out in every case.
	return class{set: p.withoutFolded(s)}
}

// withoutFolded is the characters that match none of a set when case is ignored.
func (p *parser) withoutFolded(s *set) *set {
	more := &set{spans: slices.Clone(s.spans)}
	for _, sp := range casedRunes().spans {
		for c := sp.lo; c <= sp.hi; c++ {
			if s.hasFolded(c, p.flags.CodePoints()) {
				more.add(c, c)
			}
		}
	}
	return more.tidy().complement()
}

// classRange reads a-z, a character or an escape like \d.
func (p *parser) classRange(s *set) {
	lo, wide := p.classAtom()
	if p.peek() != '-' || p.at(1) == ']' {
		addAtom(s, lo, wide)
		return
	}
	p.i++
	hi, wideEnd := p.classAtom()
	switch {
	case wide == nil && wideEnd == nil && lo > hi:
		refuse("Range out of order in character class")
	case wide == nil && wideEnd == nil:
		s.add(lo, hi)
	case p.flags.CodePoints():
		refuse("Invalid character class")
	default: // in legacy patterns the dash stands for itself
		addAtom(s, lo, wide)
		addAtom(s, hi, wideEnd)
		s.add('-', '-')
	}
}

func addAtom(s *set, c rune, wide *set) {
	if wide != nil {
		s.addAll(wide)
		return
	}
	s.add(c, c)
}

// classAtom is one character, or a set for an escape like \d.
func (p *parser) classAtom() (rune, *set) {
	c := p.peek()
	p.i++
	switch {
	case c == -1:
		refuse("Unterminated character class")
	case c != '\\':
		return c, nil
	case p.peek() == -1:
		refuse("\\ at end of pattern")
	case p.eat("b"):
		return '\b', nil
	}
	if s := p.classEscape(); s != nil {
		return 0, s
	}
	return p.characterEscape(true), nil
}

// setClass reads a class of the v flag up to its closing bracket: a union, an
// intersection or a difference.
func (p *parser) setClass() *set {
	if p.depth++; p.depth > maxNesting {
		refuse("Regular expression too large")
	}
	defer func() { p.depth-- }()
	s := &set{}
	if p.eat("]") {
		return s
	}
	first, single := p.setOperand()
	switch {
	case p.at(0) == '&' && p.at(1) == '&':
		return p.setOperation("&&", first, (*set).intersect)
	case p.at(0) == '-' && p.at(1) == '-':
		return p.setOperation("--", first, (*set).subtract)
	}
	for {
		s.addAll(p.setRange(first, single))
		if p.eat("]") {
			break
		}
		if p.at(0) == '&' && p.at(1) == '&' || p.at(0) == '-' && p.at(1) == '-' {
			refuse("Invalid set operation in character class")
		}
		first, single = p.setOperand()
	}
	s.tidy()
	if p.flags.IgnoreCase {
		return s.folded()
	}
	return s
}

func (p *parser) setOperation(operator string, s *set, apply func(a, b *set) *set) *set {
	s = p.foldedSet(s)
	for !p.eat("]") {
		if !p.eat(operator) {
			refuse("Invalid set operation in character class")
		}
		operand, _ := p.setOperand()
		s = apply(s, p.foldedSet(operand))
	}
	return s
}

func (p *parser) foldedSet(s *set) *set {
	if p.flags.IgnoreCase {
		return s.folded()
	}
	return s
}

// setRange reads the rest of a-z behind its first character.
func (p *parser) setRange(first *set, single bool) *set {
	if p.peek() != '-' || p.at(1) == '-' {
		return first
	}
	p.i++
	last, alsoSingle := p.setOperand()
	if !single || !alsoSingle {
		refuse("Invalid character class")
	}
	lo, hi := first.spans[0].lo, last.spans[0].lo
	if lo > hi {
		refuse("Range out of order in character class")
	}
	return spans(span{lo, hi})
}

// setOperand reads a nested class, an escape or a character.
func (p *parser) setOperand() (s *set, single bool) {
	c := p.peek()
	p.i++
	switch {
	case c == -1:
		refuse("Unterminated character class")
	case c == '[':
		negated := p.eat("^")
		s = p.setClass()
		if negated {
			s = p.opposite(s)
		}
		return s, false
	case c == '\\':
		return p.setEscape()
	case strings.ContainsRune("()[]{}/-|", c), c == p.peek() && strings.ContainsRune("&!#$%*+,.:;<=>?@^`~", c):
		refuse("Invalid character in character class")
	}
	return spans(span{c, c}), true
}

func (p *parser) setEscape() (s *set, single bool) {
	switch {
	case p.peek() == -1:
		refuse("\\ at end of pattern")
	case p.eat("b"):
		return spans(span{'\b', '\b'}), true
	case p.eat("q{"):
		return p.quotedStrings(), false
	}
	if s := p.classEscape(); s != nil {
		return s, false
	}
	if c := p.peek(); strings.ContainsRune("&-!#%,:;<=>@`~", c) {
		p.i++
		return spans(span{c, c}), true
	}
	c := p.characterEscape(true)
	return spans(span{c, c}), true
}

// quotedStrings reads \q{abc|d} behind its opening brace.
func (p *parser) quotedStrings() *set {
	s := &set{}
	var text []rune
	keep := func() {
		if len(text) == 1 {
			s.add(text[0], text[0])
		} else {
			s.addAll(&set{strings: [][]rune{p.foldedText(text)}})
		}
		text = nil
	}
	for {
		switch {
		case p.eat("}"):
			keep()
			return s.tidy()
		case p.eat("|"):
			keep()
		default:
			operand, single := p.setOperand()
			if !single {
				refuse("Invalid escape")
			}
			text = append(text, operand.spans[0].lo)
		}
	}
}

func (p *parser) foldedText(text []rune) []rune {
	if !p.flags.IgnoreCase {
		return text
	}
	out := make([]rune, len(text))
	for i, c := range text {
		out[i] = foldClass(c)
	}
	return out
}
