package jsonedit

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bir-run/bir/control/hosts/patch"
	"github.com/bir-run/bir/control/hosts/shape"
)

// Entry is an object of the file, as package shape changes it.
type Entry struct {
	doc   *Doc
	node  Node
	edits []patch.Edit
	err   error
}

// Entry is the object at a path.
func (d *Doc) Entry(path ...string) (*Entry, bool) {
	n, ok := d.Find(path...)
	if !ok || n.Kind() != '{' {
		return nil, false
	}
	return &Entry{doc: d, node: n}, true
}

// Get is the value of a key.
func (e *Entry) Get(key string) (shape.Value, bool) {
	n, ok := e.node.Member(key)
	if !ok {
		return shape.Value{}, false
	}
	v := shape.Value{Raw: n.Raw()}
	if err := n.Decode(&v.Any); err != nil {
		return v, false
	}
	for _, element := range n.Elements() {
		v.Elements = append(v.Elements, element.Raw())
	}
	for name, member := range n.Members() {
		if v.Members == nil {
			v.Members = map[string]string{}
		}
		v.Members[name] = member.Raw()
		v.Order = append(v.Order, name)
	}
	return v, true
}

// Quote spells a string.
func (e *Entry) Quote(s string) string { return Quote(s) }

// Array spells an array.
func (e *Entry) Array(raws []string) string { return "[" + strings.Join(raws, ", ") + "]" }

// Table spells an object with one member.
func (e *Entry) Table(key, raw string) string { return "{" + Quote(key) + ": " + raw + "}" }

// Set replaces a value.
func (e *Entry) Set(key, raw string) {
	n, _ := e.node.Member(key)
	e.edits = append(e.edits, patch.Edit{At: n.start(), Del: n.end() - n.start(), New: e.laidOut(raw)})
}

// Swap puts members in the place of one.
func (e *Entry) Swap(key string, with []shape.Member, secrets []string) {
	it, ok := e.item(key)
	if !ok {
		return
	}
	e.edits = append(e.edits, patch.Edit{At: it.start, Del: it.end - it.start, New: e.members(it, with), Secrets: secrets})
}

// After puts a member behind another.
func (e *Entry) After(key string, m shape.Member) {
	it, ok := e.item(key)
	if !ok {
		return
	}
	e.edits = append(e.edits, patch.Edit{At: it.end, New: "," + e.gap(it) + e.members(it, []shape.Member{m})})
}

// Drop removes a member.
func (e *Entry) Drop(key string) {
	for i, m := range e.names() {
		if m == key {
			e.edits = append(e.edits, e.doc.cut(e.node, i)...)
		}
	}
}

// Prepend puts elements before an array's own.
func (e *Entry) Prepend(key string, raws []string) {
	n, _ := e.node.Member(key)
	items := n.items()
	if len(items) == 0 {
		e.edits = append(e.edits, patch.Edit{At: n.start() + 1, New: strings.Join(raws, ", ")})
		return
	}
	gap := string(blankTail(items[0].before))
	if gap == "" {
		gap = " "
	}
	e.edits = append(e.edits, patch.Edit{At: items[0].start, New: strings.Join(raws, ","+gap) + "," + gap})
}

// Shift takes out an array's first elements.
func (e *Entry) Shift(key string, n int) {
	array, _ := e.node.Member(key)
	items := array.items()
	if n < len(items) {
		e.edits = append(e.edits, patch.Edit{At: items[0].start, Del: items[n].start - items[0].start})
		return
	}
	end := items[len(items)-1].end
	if comma := e.doc.commaAfter(items[len(items)-1]); comma >= 0 {
		end = comma + 1
	}
	e.edits = append(e.edits, patch.Edit{At: items[0].start, Del: end - items[0].start})
}

// Edits are what was asked for, in the order of the file.
func (e *Entry) Edits() ([]patch.Edit, error) {
	slices.SortStableFunc(e.edits, func(a, b patch.Edit) int { return a.At - b.At })
	return e.edits, e.err
}

func (e *Entry) names() (names []string) {
	for name := range e.node.Members() {
		names = append(names, name)
	}
	return names
}

func (e *Entry) item(key string) (item, bool) {
	i := slices.Index(e.names(), key)
	if i < 0 {
		e.err = ErrShape
		return item{}, false
	}
	return e.node.items()[i], true
}

// gap is what sets a member apart from the one before.
func (e *Entry) gap(it item) string {
	if indent, own := lastLine(it.before); own {
		return e.doc.newline() + indent
	}
	return " "
}

func (e *Entry) members(it item, with []shape.Member) string {
	parts := make([]string, len(with))
	for i, m := range with {
		parts[i] = Quote(m.Key) + ": " + e.laidOut(m.Raw)
	}
	return strings.Join(parts, ","+e.gap(it))
}

// laidOut writes a value as the entry's other members are written. What was spelled
// by somebody else stays as they spelled it.
func (e *Entry) laidOut(raw string) string {
	indent, own := "", false
	if items := e.node.items(); len(items) > 0 {
		indent, own = lastLine(items[0].before)
	}
	if !own || !json.Valid([]byte(raw)) {
		return raw
	}
	text, err := e.doc.layOut(json.RawMessage(raw), indent)
	if err != nil {
		e.err = err
	}
	return text
}
