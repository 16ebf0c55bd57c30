package truncate

import (
	"bytes"
	"unicode/utf8"

	"github.com/bir-run/bir/recorder/jsontext"
)

// minShare is the least room in which a piece of a value says anything.
const minShare = 32

// child is one element or member, with its key as it was spelled.
type child struct {
	key   []byte // with quotes; empty in an array
	value []byte
}

func (c child) size() int {
	if len(c.key) == 0 {
		return len(c.value)
	}
	return len(c.key) + len(":") + len(c.value)
}

func children(container []byte) []child {
	var all []child
	jsontext.Members(container, func(key, value []byte) { all = append(all, child{key, value}) })
	return all
}

// shrink appends as much of the value as budget bytes hold, as valid JSON of the
// same type. The budget is at least minShare, which every type can keep to.
func shrink(out, value []byte, budget, depth int) []byte {
	switch first := value[0]; {
	case len(value) <= budget:
		return append(out, value...)
	case first == '"':
		return head(out, value, budget)
	case (first == '{' || first == '[') && depth < maxDepth:
		out = append(out, first)
		out = fill(out, children(value), budget-len("{}"), false, depth+1)
		return append(out, value[len(value)-1])
	}
	return append(out, "null"...) // a number longer than its share, or too deep
}

// fill appends children in order until the budget is used. A child that is too
// large takes what the others leave, but no more than half where they are large
// too: of several texts, each keeps a head. The rest is left out.
func fill(out []byte, all []child, budget int, comma bool, depth int) []byte {
	rest := 0
	for _, c := range all {
		rest += c.size() + len(",")
	}
	for _, c := range all {
		rest -= c.size() + len(",")
		share := budget - min(rest, budget/2)
		if comma {
			share--
		}
		if len(c.key) > 0 {
			share -= len(c.key) + len(":")
		}
		if share < len(c.value) && share < minShare {
			continue // a smaller one may still fit
		}
		before := len(out)
		if comma {
			out = append(out, ',')
		}
		if len(c.key) > 0 {
			out = append(append(out, c.key...), ':')
		}
		out = shrink(out, c.value, share, depth)
		comma = true
		budget -= len(out) - before
	}
	return out
}

// head appends the beginning of a JSON string in at most budget bytes, with an
// ellipsis.
func head(out, value []byte, budget int) []byte {
	const ending = `…"`
	out = append(out, value[:border(value, budget-len(ending))]...)
	return append(out, ending...)
}

// maxStep is the longest step: two escapes, for one character.
const maxStep = 12

// border returns the last place up to limit where a JSON string can be cut: between
// two characters and outside of any escape. It looks at the last few only.
func border(raw []byte, limit int) int {
	at := max(1, limit-2*maxStep)
	for at > 1 && (raw[at-1] == '\\' || !utf8.RuneStart(raw[at])) {
		at--
	}
	for at < limit {
		next := at + step(raw[at:])
		if next > limit {
			break
		}
		at = next
	}
	return at
}

// shorten drops from each long string what no cut could keep of it, so that only
// one pass is over the whole of a large payload.
func shorten(raw []byte, long []jsontext.Span, limit int) []byte {
	var out []byte
	done := 0
	for _, s := range long {
		if s.End-s.Start <= limit+2*maxStep {
			continue
		}
		keep := border(raw[s.Start:s.End], limit+2*maxStep)
		out = append(out, raw[done:s.Start+keep]...)
		done = s.End - 1
	}
	if done == 0 {
		return raw
	}
	return append(out, raw[done:]...)
}

// step is the length of the character or escape that s begins with. The halves of
// a surrogate pair stay together.
func step(s []byte) int {
	if s[0] != '\\' {
		_, size := utf8.DecodeRune(s)
		return size
	}
	if len(s) < 6 || s[1] != 'u' {
		return 2
	}
	high := (s[2] == 'd' || s[2] == 'D') && bytes.IndexByte([]byte("89abAB"), s[3]) >= 0
	if high && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		return 12
	}
	return 6
}
