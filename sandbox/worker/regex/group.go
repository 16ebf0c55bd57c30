package regex

import (
	"slices"
	"unicode"
)

// group reads what stands behind an opening bracket, up to the closing one. What
// looks behind may not be repeated, nor may a look ahead with the u flag.
func (p *parser) group() (n node, canRepeat bool) {
	outer := p.flags
	canRepeat = true
	switch {
	case p.eat("?:"):
		n = p.disjunction()
	case p.eat("?="):
		n, canRepeat = p.look(look{}), !p.flags.CodePoints()
	case p.eat("?!"):
		n, canRepeat = p.look(look{negative: true}), !p.flags.CodePoints()
	case p.eat("?<="):
		n, canRepeat = p.look(look{behind: true}), false
	case p.eat("?<!"):
		n, canRepeat = p.look(look{behind: true, negative: true}), false
	case p.eat("?<"):
		n = p.capture(p.name("Invalid capture group name"))
	case p.eat("?"):
		p.modifiers()
		n = p.disjunction()
	default:
		n = p.capture("")
	}
	if !p.eat(")") {
		refuse("Unterminated group")
	}
	p.flags = outer
	return n, canRepeat
}

func (p *parser) look(l look) node {
	p.special = true
	l.body = p.disjunction()
	return l
}

func (p *parser) capture(name string) node {
	p.count++
	number := p.count
	if name != "" {
		p.declare(name, number)
	}
	return capture{number: number, body: p.disjunction()}
}

// declare keeps a group's name. Two groups may share one only where no match can
// go through both.
func (p *parser) declare(name string, number int) {
	here := slices.Clone(p.path)
	for i := range p.groups {
		if p.groups[i].Name != name {
			continue
		}
		for j := range p.places {
			if slices.Contains(p.groups[i].Numbers, j+1) && !apart(p.places[j], here) {
				refuse("Duplicate capture group name")
			}
		}
		p.special = true
		p.groups[i].Numbers = append(p.groups[i].Numbers, number)
		p.place(number, here)
		return
	}
	p.groups = append(p.groups, Group{Name: name, Numbers: []int{number}})
	p.place(number, here)
}

func (p *parser) place(number int, here []turn) {
	for len(p.places) < number {
		p.places = append(p.places, nil)
	}
	p.places[number-1] = here
}

func apart(a, b []turn) bool {
	for _, x := range a {
		for _, y := range b {
			if x.choice == y.choice && x.alternative != y.alternative {
				return true
			}
		}
	}
	return false
}

// name reads a group's name up to its closing bracket.
func (p *parser) name(mistake string) string {
	var name []rune
	for {
		c := p.peek()
		p.i++
		switch {
		case c == '>' && len(name) > 0:
			return string(name)
		case c == '\\' && p.eat("u"):
			escaped, ok := p.unicodeEscape(true)
			if !ok {
				refuse("Invalid Unicode escape")
			}
			c = escaped
		case c >= 0xD800 && c < 0xDC00 && p.peek() >= 0xDC00 && p.peek() < 0xE000:
			c = (c-0xD800)<<10 + p.peek() - 0xDC00 + 0x10000
			p.i++
		}
		if !identifierPart(c, len(name) == 0) {
			refuse("%s", mistake)
		}
		name = append(name, c)
	}
}

func identifierPart(c rune, first bool) bool {
	switch {
	case c == '$' || c == '_' || unicode.IsLetter(c) || unicode.Is(unicode.Nl, c) || unicode.Is(unicode.Other_ID_Start, c):
		return true
	case first:
		return false
	}
	return unicode.In(c, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) || c == 0x200C || c == 0x200D
}

// modifiers reads the flags of (?ims-ims:…), which hold up to the group's end.
func (p *parser) modifiers() {
	p.special = true
	seen := map[rune]bool{}
	on := true
	for {
		c := p.peek()
		p.i++
		switch {
		case c == ':' && (len(seen) > 0):
			return
		case c == '-' && on:
			on = false
			continue
		case seen[c]:
			refuse("Repeated flag in flag group")
		case c == 'i':
			p.flags.IgnoreCase = on
		case c == 'm':
			p.flags.Multiline = on
		case c == 's':
			p.flags.DotAll = on
		default:
			refuse("Invalid group")
		}
		seen[c] = true
	}
}
