package regex

import (
	"slices"
	"sort"
)

const maxRune = 0x10FFFF

// span is the characters from lo to hi.
type span struct{ lo, hi rune }

// set is some characters, in order and without overlaps, and for the v flag the
// strings of more or less than one character beside them.
type set struct {
	spans   []span
	strings [][]rune
}

func spans(list ...span) *set { return (&set{spans: list}).tidy() }

func (s *set) tidy() *set {
	sort.Slice(s.spans, func(i, j int) bool { return s.spans[i].lo < s.spans[j].lo })
	out := s.spans[:0]
	for _, sp := range s.spans {
		if n := len(out); n > 0 && sp.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, sp.hi)
			continue
		}
		out = append(out, sp)
	}
	s.spans = out
	return s
}

func (s *set) has(c rune) bool {
	i := sort.Search(len(s.spans), func(i int) bool { return s.spans[i].hi >= c })
	return i < len(s.spans) && s.spans[i].lo <= c
}

func (s *set) hasString(text []rune) bool {
	return slices.ContainsFunc(s.strings, func(t []rune) bool { return slices.Equal(t, text) })
}

func (s *set) add(lo, hi rune) { s.spans = append(s.spans, span{lo, hi}) }

func (s *set) addAll(o *set) {
	s.spans = append(s.spans, o.spans...)
	for _, text := range o.strings {
		if !s.hasString(text) {
			s.strings = append(s.strings, text)
		}
	}
}

// complement is the characters that a tidy set lacks.
func (s *set) complement() *set {
	out := &set{}
	next := rune(0)
	for _, sp := range s.spans {
		if sp.lo > next {
			out.add(next, sp.lo-1)
		}
		next = sp.hi + 1
	}
	if next <= maxRune {
		out.add(next, maxRune)
	}
	return out
}

func (s *set) intersect(o *set) *set {
	out := &set{}
	for i, j := 0, 0; i < len(s.spans) && j < len(o.spans); {
		a, b := s.spans[i], o.spans[j]
		if lo, hi := max(a.lo, b.lo), min(a.hi, b.hi); lo <= hi {
			out.add(lo, hi)
		}
		if a.hi < b.hi {
			i++
		} else {
			j++
		}
	}
	for _, text := range s.strings {
		if o.hasString(text) {
			out.strings = append(out.strings, text)
		}
	}
	return out.tidy()
}

func (s *set) subtract(o *set) *set {
	out := (&set{spans: s.spans}).intersect(&set{spans: o.complement().spans})
	for _, text := range s.strings {
		if !o.hasString(text) {
			out.strings = append(out.strings, text)
		}
	}
	return out
}

// The classes with a letter of their own.
var (
	digits = spans(span{'0', '9'})
	words  = spans(span{'0', '9'}, span{'A', 'Z'}, span{'_', '_'}, span{'a', 'z'})
	blanks = spans(span{'\t', '\r'}, span{' ', ' '}, span{0xA0, 0xA0}, span{0x1680, 0x1680}, span{0x2000, 0x200A},
		span{0x2028, 0x2029}, span{0x202F, 0x202F}, span{0x205F, 0x205F}, span{0x3000, 0x3000}, span{0xFEFF, 0xFEFF})
	lineEnds = spans(span{'\n', '\n'}, span{'\r', '\r'}, span{0x2028, 0x2029})
	noLine   = lineEnds.complement()
	all      = spans(span{0, maxRune})
	// foldedWords are what \w means with the flags u and i together: two more
	// characters fold to ASCII letters.
	foldedWords = spans(span{'0', '9'}, span{'A', 'Z'}, span{'_', '_'}, span{'a', 'z'}, span{0x17F, 0x17F}, span{0x212A, 0x212A})
)
