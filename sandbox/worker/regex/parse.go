package regex

import "unicode/utf16"

// maxNesting bounds groups in groups: the parser and the compiler recurse.
const maxNesting = 1000

// parser reads a pattern as the specification's grammar says, with the legacy
// forms of its Annex B where no u or v flag forbids them.
type parser struct {
	src   []rune // code points with the u or v flag, otherwise UTF-16 units
	i     int
	flags Flags // as modifiers have changed them here

	count      int      // of groups that capture so far
	total      int      // of groups that capture in the whole pattern
	hasNames   bool     // a named group anywhere makes \k special
	groups     []Group  // named ones
	places     [][]turn // of each named group's numbers: which alternatives lead there
	path       []turn
	choices    int
	references []pending
	depth      int
	special    bool // engines differ about what was read
}

// turn is one alternative of one choice.
type turn struct{ choice, alternative int }

// pending is a reference by name, resolved when all names are known.
type pending struct {
	name string
	node *reference
}

func newParser(pattern []uint16, flags Flags) *parser {
	p := &parser{flags: flags, special: flags.Indices || flags.Sets || flags.IgnoreCase}
	for i := 0; i < len(pattern); i++ {
		c := rune(pattern[i])
		if flags.CodePoints() && utf16.IsSurrogate(c) && i+1 < len(pattern) {
			if pair := utf16.DecodeRune(c, rune(pattern[i+1])); pair != 0xFFFD {
				c = pair
				i++
			}
		}
		if c >= 0x80 {
			p.special = p.special || c > 0xFFFF || utf16.IsSurrogate(c) || lineEnds.has(c)
		}
		// A slash that stands there bare is spelled otherwise where it is shown.
		if c == '/' && (i == 0 || pattern[i-1] != '\\') || c == '\n' || c == '\r' {
			p.special = true
		}
		p.src = append(p.src, c)
	}
	p.scan()
	return p
}

// scan counts the groups ahead: what \2 means depends on groups still to come.
func (p *parser) scan() {
	inClass := 0
	for i := 0; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '\\':
			i++
		case c == '[' && (inClass == 0 || p.flags.Sets):
			inClass++
		case c == ']' && inClass > 0:
			inClass--
		case c == '(' && inClass == 0:
			named := i+2 < len(p.src) && p.src[i+1] == '?' && p.src[i+2] == '<' &&
				!(i+3 < len(p.src) && (p.src[i+3] == '=' || p.src[i+3] == '!'))
			if i+1 >= len(p.src) || p.src[i+1] != '?' || named {
				p.total++
			}
			p.hasNames = p.hasNames || named
		}
	}
}

func (p *parser) pattern() node {
	tree := p.disjunction()
	if p.i < len(p.src) {
		refuse("Unmatched ')'")
	}
	for _, r := range p.references {
		for _, g := range p.groups {
			if g.Name == r.name {
				r.node.numbers = g.Numbers
			}
		}
		if r.node.numbers == nil {
			refuse("Invalid named capture referenced")
		}
	}
	return tree
}

// peek is the character at hand, -1 at the end.
func (p *parser) peek() rune { return p.at(0) }

func (p *parser) at(n int) rune {
	if p.i+n < len(p.src) {
		return p.src[p.i+n]
	}
	return -1
}

func (p *parser) eat(text string) bool {
	for n, c := range text {
		if p.at(n) != c {
			return false
		}
	}
	p.i += len(text)
	return true
}

func (p *parser) disjunction() node {
	if p.depth++; p.depth > maxNesting {
		refuse("Regular expression too large")
	}
	p.choices++
	p.path = append(p.path, turn{choice: p.choices})
	alternatives := choice{p.alternative()}
	for p.eat("|") {
		p.path[len(p.path)-1].alternative++
		alternatives = append(alternatives, p.alternative())
	}
	p.path = p.path[:len(p.path)-1]
	p.depth--
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return alternatives
}

func (p *parser) alternative() node {
	var terms sequence
	for c := p.peek(); c != -1 && c != '|' && c != ')'; c = p.peek() {
		terms = append(terms, p.term())
	}
	return terms
}

func (p *parser) term() node {
	first := p.count + 1
	var n node
	canRepeat := true
	switch {
	case p.eat("^"):
		n = p.assertion(inputStart, lineStart)
		canRepeat = false
	case p.eat("$"):
		n = p.assertion(inputEnd, lineEnd)
		canRepeat = false
	case p.eat("\\b"):
		p.special = true
		n = assertion{kind: wordBoundary, fold: p.flags.IgnoreCase}
		canRepeat = false
	case p.eat("\\B"):
		p.special = true
		n = assertion{kind: noWordBoundary, fold: p.flags.IgnoreCase}
		canRepeat = false
	case p.eat("("):
		n, canRepeat = p.group()
	default:
		n = p.atom()
	}
	return p.quantified(n, first, canRepeat)
}

func (p *parser) assertion(whole, line assertionKind) node {
	p.special = p.special || p.flags.Global || p.flags.Sticky
	if p.flags.Multiline {
		p.special = true
		return assertion{kind: line}
	}
	return assertion{kind: whole}
}

func (p *parser) atom() node {
	switch c := p.peek(); c {
	case '.':
		p.i++
		if p.flags.DotAll {
			return class{set: all}
		}
		return class{set: noLine}
	case '[':
		p.i++
		return p.class()
	case '\\':
		p.i++
		return p.escape()
	case '*', '+', '?':
		refuse("Nothing to repeat")
	case '{':
		if p.flags.CodePoints() {
			refuse("Lone quantifier brackets")
		}
		if _, _, ok := p.braces(); ok {
			refuse("Nothing to repeat")
		}
	case ']', '}':
		if p.flags.CodePoints() {
			refuse("Lone quantifier brackets")
		}
	}
	p.i++
	return p.literal(p.src[p.i-1])
}

func (p *parser) literal(c rune) node { return literal{char: c, fold: p.flags.IgnoreCase} }

// quantified reads a quantifier behind a term, if one is there.
func (p *parser) quantified(n node, first int, canRepeat bool) node {
	r := repeat{min: 0, max: noLimit, greedy: true, body: n, first: first, last: p.count + 1}
	switch p.peek() {
	case '*':
		p.i++
	case '+':
		p.i++
		r.min = 1
	case '?':
		p.i++
		r.max = 1
	case '{':
		lo, hi, ok := p.braces()
		if !ok {
			if p.flags.CodePoints() {
				refuse("Incomplete quantifier")
			}
			return n
		}
		r.min, r.max = lo, hi
	default:
		return n
	}
	if !canRepeat {
		if _, isLook := n.(look); isLook {
			refuse("Invalid quantifier")
		}
		refuse("Nothing to repeat")
	}
	if r.min > r.max {
		refuse("numbers out of order in {} quantifier")
	}
	r.greedy = !p.eat("?")
	// Engines agree about a repeated group that captures only where it captures
	// each time round, and about none that may match nothing.
	if _, alone := n.(capture); r.last-r.first > 1 || r.last > r.first && !alone || nullable(n) {
		p.special = true
	}
	return r
}

// braces reads {n}, {n,} or {n,m}; what is none stays unread.
func (p *parser) braces() (lo, hi int, ok bool) {
	start := p.i
	p.i++
	lo, ok = p.number()
	hi = lo
	if ok && p.eat(",") {
		var limited bool
		if hi, limited = p.number(); !limited {
			hi = noLimit
		}
	}
	if !ok || !p.eat("}") {
		p.i = start
		return 0, 0, false
	}
	if lo > 1000 || hi > 1000 && hi != noLimit {
		p.special = true
	}
	return lo, hi, true
}

func (p *parser) number() (n int, ok bool) {
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		n = min(n*10+int(c-'0'), noLimit)
		p.i++
		ok = true
	}
	return n, ok
}
