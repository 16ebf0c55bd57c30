package tomledit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/bir-run/bir/control/hosts/patch"
	"github.com/bir-run/bir/control/hosts/shape"
)

// Entry is a table of the file, as package shape changes it.
type Entry struct {
	doc   *Doc
	path  []string
	edits []patch.Edit
	err   error
}

// Entry is the table at a path.
func (d *Doc) Entry(path ...string) (*Entry, bool) {
	_, ok := d.table(path)
	return &Entry{doc: d, path: path}, ok
}

// find is a key of the entry. A table below it that has a header of its own is none.
func (e *Entry) find(name string) (key, bool) {
	path := append(slices.Clone(e.path), name)
	i := slices.IndexFunc(e.doc.keys, func(k key) bool { return slices.Equal(k.path, path) })
	if i < 0 {
		return key{}, false
	}
	return e.doc.keys[i], true
}

// Get is the value of a key.
func (e *Entry) Get(name string) (shape.Value, bool) {
	any, ok := e.doc.Value(append(slices.Clone(e.path), name)...)
	if !ok {
		return shape.Value{}, false
	}
	v := shape.Value{Any: any}
	if k, ok := e.find(name); ok {
		v.Raw = string(e.doc.text[k.value:k.end])
		for _, span := range e.elements(k) {
			v.Elements = append(v.Elements, string(e.doc.text[span[0]:span[1]]))
		}
	}
	below := append(slices.Clone(e.path), name)
	for _, k := range e.doc.keys {
		if len(k.path) == len(below)+1 && slices.Equal(k.path[:len(below)], below) {
			if v.Members == nil {
				v.Members = map[string]string{}
			}
			member := k.path[len(below)]
			v.Members[member] = string(e.doc.text[k.value:k.end])
			v.Order = append(v.Order, member)
		}
	}
	return v, true
}

// elements are where the strings of an array lie. An array of anything else has none.
func (e *Entry) elements(k key) (spans [][2]int) {
	raw := slices.Clip(slices.Clone(append([]byte("v="), e.doc.text[k.value:k.end]...)))
	var p unstable.Parser
	p.Reset(raw)
	if !p.NextExpression() || p.Expression().Value().Kind != unstable.Array {
		return nil
	}
	for it := p.Expression().Value().Children(); it.Next(); {
		node := it.Node()
		if node.Kind != unstable.String {
			return nil
		}
		at := k.value - len("v=") + int(node.Raw.Offset)
		spans = append(spans, [2]int{at, at + int(node.Raw.Length)})
	}
	return spans
}

// Quote spells a string: between single quotes where it needs escapes otherwise.
func (e *Entry) Quote(s string) string { return Quote(s) }

// Array spells an array.
func (e *Entry) Array(raws []string) string { return "[" + strings.Join(raws, ", ") + "]" }

// Table spells an inline table with one key.
func (e *Entry) Table(name, raw string) string { return "{ " + Key(name) + " = " + raw + " }" }

// Set replaces a value.
func (e *Entry) Set(name, raw string) {
	if k, ok := e.must(name); ok {
		e.edits = append(e.edits, patch.Edit{At: k.value, Del: k.end - k.value, New: raw})
	}
}

// Swap puts keys in the place of one.
func (e *Entry) Swap(name string, with []shape.Member, secrets []string) {
	if k, ok := e.must(name); ok {
		e.edits = append(e.edits, patch.Edit{At: k.start, Del: k.end - k.start, New: e.members(k, with), Secrets: secrets})
	}
}

// After puts a key behind another.
func (e *Entry) After(name string, m shape.Member) {
	if k, ok := e.must(name); ok {
		e.edits = append(e.edits, patch.Edit{At: k.end, New: e.gap(k) + e.members(k, []shape.Member{m})})
	}
}

// Drop removes a key with its line, or with the comma before it.
func (e *Entry) Drop(name string) {
	k, ok := e.must(name)
	if !ok {
		return
	}
	text := string(e.doc.text)
	start := len(strings.TrimRight(text[:k.start], " \t"))
	if k.inline {
		if start > 0 && text[start-1] == ',' {
			start--
		}
		e.edits = append(e.edits, patch.Edit{At: start, Del: k.end - start})
		return
	}
	if strings.HasSuffix(text[:start], "\n") { // the line end before it: a comment behind it stays
		start--
		start -= len(text[:start]) - len(strings.TrimSuffix(text[:start], "\r"))
	}
	e.edits = append(e.edits, patch.Edit{At: start, Del: k.end - start})
}

// Prepend puts elements before an array's own.
func (e *Entry) Prepend(name string, raws []string) {
	k, ok := e.must(name)
	if !ok {
		return
	}
	spans := e.elements(k)
	if len(spans) == 0 {
		e.edits = append(e.edits, patch.Edit{At: k.value + 1, New: strings.Join(raws, ", ")})
		return
	}
	before := string(e.doc.text[k.value+1 : spans[0][0]])
	gap := before[len(strings.TrimRight(before, " \t\r\n")):]
	if gap == "" {
		gap = " "
	}
	e.edits = append(e.edits, patch.Edit{At: spans[0][0], New: strings.Join(raws, ","+gap) + "," + gap})
}

// Shift takes out an array's first elements.
func (e *Entry) Shift(name string, n int) {
	k, ok := e.must(name)
	if !ok {
		return
	}
	spans := e.elements(k)
	switch {
	case len(spans) < n || n == 0:
		e.err = shape.ErrUnknown
	case len(spans) > n:
		e.edits = append(e.edits, patch.Edit{At: spans[0][0], Del: spans[n][0] - spans[0][0]})
	default:
		end := k.end - 1 // of what is inside of the brackets
		kept := string(e.doc.text[spans[n-1][1]:end])
		if rest, ok := strings.CutPrefix(strings.TrimLeft(kept, " \t\r\n"), ","); ok {
			kept = rest
		}
		e.edits = append(e.edits, patch.Edit{At: spans[0][0], Del: end - len(kept) - spans[0][0]})
	}
}

// Edits are what was asked for, in the order of the file.
func (e *Entry) Edits() ([]patch.Edit, error) {
	slices.SortStableFunc(e.edits, func(a, b patch.Edit) int { return a.At - b.At })
	return e.edits, e.err
}

func (e *Entry) must(name string) (key, bool) {
	k, ok := e.find(name)
	if !ok {
		e.err = fmt.Errorf("%w: %s has a header of its own", shape.ErrUnknown, name)
	}
	return k, ok
}

// gap is what sets two keys apart where k is.
func (e *Entry) gap(k key) string {
	if k.inline {
		return ", "
	}
	line := string(e.doc.text[:k.start])
	line = line[strings.LastIndexByte(line, '\n')+1:]
	if strings.Contains(string(e.doc.text), "\r\n") {
		return "\r\n" + line
	}
	return "\n" + line
}

func (e *Entry) members(k key, with []shape.Member) string {
	parts := make([]string, len(with))
	for i, m := range with {
		parts[i] = k.prefix + Key(m.Key) + " = " + m.Raw
	}
	return strings.Join(parts, e.gap(k))
}

// Key spells a key, without quotes where it may be.
func Key(name string) string {
	for _, c := range name {
		bare := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
		if !bare {
			return basic(name)
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

// Quote spells a string: between single quotes where it would need escapes otherwise.
func Quote(s string) string {
	if strings.ContainsAny(s, `"\`) && !strings.ContainsFunc(s, func(c rune) bool { return c == '\'' || c < ' ' || c == 0x7f }) {
		return "'" + s + "'"
	}
	return basic(s)
}

func basic(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
