package dts

import (
	"slices"
	"strings"

	"github.com/bir-run/bir/engine/js"
	"github.com/bir-run/bir/engine/value"
)

const (
	maxSamples     = 4 // shown in a comment
	maxSampleRunes = 48
	minDictionary  = 8 // keys, before an object is taken for a dictionary
)

// shape is what the values at one place have in common.
type shape struct {
	seen    [value.Object + 1]int // how often each kind of value stood here
	texts   []string              // distinct scalars, as JavaScript, the first few
	element *shape                // of arrays
	keys    []string              // of objects, in the order in which they came
	fields  map[string]*shape
}

func (s *shape) add(n *value.Node) {
	s.seen[n.Kind]++
	switch n.Kind {
	case value.Array:
		for _, item := range n.Items {
			if s.element == nil {
				s.element = &shape{}
			}
			s.element.add(item)
		}
	case value.Object:
		for i, key := range n.Keys {
			s.field(key).add(n.Items[i])
		}
	case value.String:
		s.sample(js.Quote(head(n.Text)))
	case value.Number:
		s.sample(n.Text)
	}
}

func (s *shape) field(key string) *shape {
	if field, ok := s.fields[key]; ok {
		return field
	}
	if s.fields == nil {
		s.fields = map[string]*shape{}
	}
	s.keys = append(s.keys, key)
	s.fields[key] = &shape{}
	return s.fields[key]
}

func (s *shape) sample(text string) {
	if len(s.texts) <= maxSamples && !slices.Contains(s.texts, text) {
		s.texts = append(s.texts, text)
	}
}

// samples says what stood here, for a comment.
func (s *shape) samples() string {
	if len(s.texts) == 0 {
		if s.element != nil {
			return s.element.samples()
		}
		return ""
	}
	if len(s.texts) > maxSamples {
		return strings.Join(s.texts[:maxSamples], ", ") + ", …"
	}
	return strings.Join(s.texts, ", ")
}

func (s *shape) total() int {
	n := 0
	for _, count := range s.seen {
		n += count
	}
	return n
}

// union tells a type that has to stand in parentheses before [].
func (s *shape) union() bool {
	kinds := 0
	for _, count := range s.seen {
		if count > 0 {
			kinds++
		}
	}
	return kinds > 1
}

// dictionary is the type of the values of an object that maps ids to values: many
// keys with digits in, and one kind of value. Its keys would be others another day.
func (s *shape) dictionary() *shape {
	if len(s.keys) < minDictionary {
		return nil
	}
	numbered := 0
	all := &shape{}
	for _, key := range s.keys {
		if strings.ContainsAny(key, "0123456789") {
			numbered++
		}
		all.merge(s.fields[key])
	}
	if 2*numbered < len(s.keys) || all.union() {
		return nil
	}
	return all
}

func (s *shape) merge(other *shape) {
	for kind, count := range other.seen {
		s.seen[kind] += count
	}
	for _, text := range other.texts {
		s.sample(text)
	}
	if other.element != nil {
		if s.element == nil {
			s.element = &shape{}
		}
		s.element.merge(other.element)
	}
	for _, key := range other.keys {
		s.field(key).merge(other.fields[key])
	}
}

func head(text string) string {
	if runes := []rune(text); len(runes) > maxSampleRunes {
		return string(runes[:maxSampleRunes]) + "…"
	}
	return text
}
