package calc

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/bir-run/bir/engine/js"
	"github.com/bir-run/bir/engine/source"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/engine/words"
)

// selection says why one element of an array is the right one.
type selection struct {
	filter *equality // only elements that match count; nil for all
	how    how
	field  string // of the extreme, "risk" or "metrics.risk"
	dates  bool   // the field holds dates
	max    bool
	index  int
	linked string // the word of the prompt that asks for it
	also   []string
	known  int  // how many values were threaded when it was decided
	pinned bool // a body uses it: it stays as it is
}

type how int

const (
	byIndex how = iota
	byOnly
	byFirst
	byLast
	byExtreme
	byMatch // the filter leaves exactly one
)

// equality compares a field of the elements with a value that is known before.
type equality struct {
	field    string // empty: the element itself contains the value
	param    *candidate
	thread   *source.Place
	asString bool // the two are of different types
}

// The qualities of a selection, from a mere index to one that the prompt asks for.
const (
	pickIndex  = 0
	pickEnd    = 1 // first, last, or an extreme that nobody asked for
	pickOnly   = 2
	pickLinked = 3
)

func (s *selection) quality() int {
	switch {
	case s.linked != "", s.how == byMatch:
		return pickLinked
	case s.how == byOnly:
		return pickOnly
	case s.how == byIndex:
		return pickIndex
	}
	return pickEnd
}

// quality is that of the weakest selection on the way to a place.
func (e *explainer) quality(p *source.Place) int {
	if p.Line != nil {
		return lineQuality(p.Line)
	}
	quality := pickLinked
	for i, h := range p.Path {
		if h.Index >= 0 {
			quality = min(quality, e.selection(p, i).quality())
		}
	}
	return quality
}

func lineQuality(l *source.Line) int {
	switch {
	case l.Pick != source.Nth:
		return pickLinked
	case l.N == 0 || l.N == l.Count-1:
		return pickEnd
	}
	return pickIndex
}

// selection explains the array step at a position of a place's path. It is
// decided anew while more becomes known, until a value of the element is used:
// then all of its values are reached the same way.
func (e *explainer) selection(p *source.Place, at int) *selection {
	id := p.Doc.ID() + source.PathText(p.Path[:at+1])
	if s, known := e.selections[id]; known && (s.pinned || s.known == len(e.threads)) {
		return s
	}
	s := e.selectFrom(p, at)
	s.known = len(e.threads)
	e.selections[id] = s
	return s
}

func (e *explainer) selectFrom(p *source.Place, at int) *selection {
	items, chosen := p.Path[at].Array.Items, p.Path[at].Index
	best := e.selectIn(items, nil, chosen)
	for _, eq := range e.equalities(p, at) {
		pool := matching(items, eq)
		if len(pool) == 1 {
			return &selection{filter: eq, how: byMatch, linked: eq.source()}
		}
		if eq.field == "" || len(pool) == len(items) {
			continue
		}
		s := e.selectIn(items, eq, chosen)
		if s.how != byIndex && (best.filter == nil || s.quality() > best.quality()) {
			best = s
		}
	}
	return best
}

// selectIn explains the chosen element among those that pass the filter.
func (e *explainer) selectIn(items []*value.Node, eq *equality, chosen int) *selection {
	pool := matching(items, eq)
	at := position(pool, items[chosen])
	s := &selection{filter: eq, how: byIndex, index: at}
	switch at {
	case 0:
		s.how = byFirst
	case len(pool) - 1:
		s.how = byLast
	}
	if len(pool) == 1 {
		s.how = byOnly
		return s
	}
	extremes := e.extremes(pool, at)
	if len(extremes) > 0 && e.prefers(extremes[0], s, pool) {
		ends := s.endText()
		extremes[0].filter = eq
		for _, other := range extremes[1:] {
			extremes[0].also = append(extremes[0].also, other.extremeText())
		}
		extremes[0].also = append(extremes[0].also, ends...)
		return extremes[0]
	}
	for _, other := range extremes {
		s.also = append(s.also, other.extremeText())
	}
	s.linked = e.asksForEnd(s.how)
	return s
}

// prefers weighs an extreme against a place in the list. An extreme that the
// prompt does not ask for is often a coincidence: it counts only in a list of
// some length, and not for the first element, nor the last of a sorted list.
func (e *explainer) prefers(extreme, end *selection, pool []*value.Node) bool {
	if extreme.linked != "" {
		return true
	}
	if e.asksForEnd(end.how) != "" || len(pool) < 3 || end.how == byFirst {
		return false
	}
	return end.how != byLast || !sorted(pool, extreme)
}

var endWords = map[how][]string{byFirst: {"first", "top"}, byLast: {"last", "final"}}

func (e *explainer) asksForEnd(h how) string {
	for _, token := range e.tokens {
		for _, word := range endWords[h] {
			if strings.EqualFold(token.Text, word) {
				return token.Text
			}
		}
	}
	return ""
}

func position(pool []*value.Node, chosen *value.Node) int {
	for i, item := range pool {
		if item == chosen {
			return i
		}
	}
	return -1
}

// equalities are the fields of an element whose value is known before the step's
// output is read: from the prompt, or threaded from an earlier step.
func (e *explainer) equalities(p *source.Place, at int) []*equality {
	var found []*equality
	element := p.Path[at].Array.Items[p.Path[at].Index]
	about := p.ArrayName(at)
	if element.Kind == value.String {
		for _, c := range e.candidates {
			if !c.number && len(c.text) >= minStrong && strings.Contains(element.Text, c.text) {
				found = append(found, &equality{param: c})
			}
		}
		return found
	}
	for _, f := range fieldsOf(element) {
		for _, c := range e.candidates {
			if c.text == f.node.Text && telling(c, f.name, about) {
				found = append(found, &equality{field: f.name, param: c, asString: c.number != (f.node.Kind == value.Number)})
			}
		}
		for _, t := range e.threads {
			if t.Doc.Step < p.Doc.Step && t.Text == f.node.Text && strong(t.Text, t.Kind) {
				found = append(found, &equality{field: f.name, thread: t, asString: t.Kind != f.node.Kind})
			}
		}
	}
	return found
}

// telling guards against a small number that a field has by coincidence.
// Beside its label it tells: issue 42, in a field of that name or the number of an
// element of issues.
func telling(c *candidate, field, about string) bool {
	if trivial(c.text) {
		return false
	}
	label := words.Segments(c.label)
	return !c.number || strong(c.text, value.Number) || anyRelated(label, words.Segments(field)) ||
		source.Generic[field] && anyRelated(label, words.Segments(about))
}

func (eq *equality) value() string {
	if eq.param != nil {
		return eq.param.text
	}
	return eq.thread.Text
}

func (eq *equality) source() string {
	if eq.param != nil {
		return eq.param.text
	}
	return eq.thread.Name
}

func matching(items []*value.Node, eq *equality) []*value.Node {
	if eq == nil {
		return items
	}
	var pool []*value.Node
	for _, item := range items {
		if eq.field == "" && item.Kind == value.String && strings.Contains(item.Text, eq.value()) {
			pool = append(pool, item)
		} else if f := fieldNamed(item, eq.field); eq.field != "" && f != nil && f.Text == eq.value() {
			pool = append(pool, item)
		}
	}
	return pool
}

// fieldValue is a scalar of an element, at most one object deep.
type fieldValue struct {
	name string
	node *value.Node
}

func fieldsOf(element *value.Node) []fieldValue {
	if element.Kind != value.Object {
		return nil
	}
	var fields []fieldValue
	for i, key := range element.Keys {
		if !js.IsIdentifier(key) {
			continue
		}
		item := element.Items[i]
		if item.Kind == value.String || item.Kind == value.Number {
			fields = append(fields, fieldValue{key, item})
		}
		if item.Kind != value.Object {
			continue
		}
		for j, inner := range item.Keys {
			if n := item.Items[j]; js.IsIdentifier(inner) && (n.Kind == value.String || n.Kind == value.Number) {
				fields = append(fields, fieldValue{key + "." + inner, n})
			}
		}
	}
	return fields
}

func fieldNamed(element *value.Node, name string) *value.Node {
	n := element
	for _, key := range strings.Split(name, ".") {
		n = n.Get(key)
	}
	return n
}

// extremes are the fields of which the element at a position is alone the
// largest or the smallest, the best explained first.
func (e *explainer) extremes(pool []*value.Node, at int) []*selection {
	var found []*selection
	best, bestFit := -1, 0
	for _, f := range fieldsOf(pool[at]) {
		s := extreme(pool, at, f)
		if s == nil {
			continue
		}
		fit := 0
		for _, word := range words.Superlatives(e.tokens) {
			if n := word.Fit(f.name, s.dates, e.tokens); n > fit && e.agrees(word, s, f.name) {
				fit, s.linked = n, word.Word
			}
		}
		if fit > bestFit {
			best, bestFit = len(found), fit
		}
		found = append(found, s)
	}
	if best > 0 {
		found[0], found[best] = found[best], found[0]
	}
	return found
}

// agrees compares the direction that a word asks for. The oldest is the smallest
// date but the largest age.
func (e *explainer) agrees(word words.Superlative, s *selection, field string) bool {
	wantsMax := word.Direction == words.Largest
	if words.Related(field, "age") || field == "age" {
		wantsMax = !wantsMax
	}
	return wantsMax == s.max
}

var isoTime = regexp.MustCompile(`^\d{4}-\d{2}(-\d{2})?([T ][0-9:.]+(Z|[+-]\d{2}:?\d{2})?)?$`)

func extreme(pool []*value.Node, at int, f fieldValue) *selection {
	dates := f.node.Kind == value.String
	if dates && !isoTime.MatchString(f.node.Text) {
		return nil
	}
	larger, smaller := 0, 0
	for i, item := range pool {
		other := fieldNamed(item, f.name)
		if other == nil || other.Kind != f.node.Kind || dates && !isoTime.MatchString(other.Text) {
			return nil
		}
		if i != at && compare(f.node, other) > 0 {
			larger++
		} else if i != at && compare(f.node, other) < 0 {
			smaller++
		}
	}
	if larger != len(pool)-1 && smaller != len(pool)-1 {
		return nil
	}
	return &selection{how: byExtreme, field: f.name, dates: dates, max: larger > 0}
}

func sorted(pool []*value.Node, s *selection) bool {
	for i := 1; i < len(pool); i++ {
		order := compare(fieldNamed(pool[i-1], s.field), fieldNamed(pool[i], s.field))
		if s.max && order > 0 || !s.max && order < 0 {
			return false
		}
	}
	return true
}

func (s *selection) extremeText() string {
	switch {
	case s.dates && s.max:
		return "the latest " + s.field
	case s.dates:
		return "the earliest " + s.field
	case s.max:
		return "the highest " + s.field
	}
	return "the lowest " + s.field
}

func (s *selection) endText() []string {
	switch s.how {
	case byFirst:
		return []string{"the first of the list"}
	case byLast:
		return []string{"the last of the list"}
	}
	return nil
}

// describe says for people which element is taken, and what else it could be.
func (s *selection) describe() string {
	text := ""
	switch s.how {
	case byOnly:
		text = "the only one"
	case byFirst:
		text = "the first"
	case byLast:
		text = "the last"
	case byExtreme:
		text = "the one with " + s.extremeText()
	case byIndex:
		text = fmt.Sprintf("number %d, which nothing explains", s.index+1)
	case byMatch:
		text = "the one"
	}
	if s.filter != nil {
		text += " that matches " + s.filter.describe()
	}
	if s.linked != "" && s.how != byMatch {
		text += fmt.Sprintf(" (%q in the prompt)", s.linked)
	}
	if len(s.also) > 0 {
		text += "; it is also " + strings.Join(s.also, " and ")
	}
	return text
}

func (eq *equality) describe() string {
	if eq.param != nil {
		return fmt.Sprintf("%q of the prompt", eq.param.text)
	}
	return eq.thread.Name
}
