package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/bir-run/bir/control/hosts/patch"
)

// ErrShape says that a file has something else where an object or array belongs.
var ErrShape = errors.New("is not in the form that was expected")

// Put sets the value at a path, and makes the objects above it that are missing.
// value is standard JSON and is laid out as the file is.
func (d *Doc) Put(value json.RawMessage, path ...string) ([]patch.Edit, error) {
	at, rest := d.deepest(path)
	if len(rest) == 0 {
		text, err := d.layOut(value, d.indentOf(at))
		return []patch.Edit{{At: at.start(), Del: at.end() - at.start(), New: text}}, err
	}
	if at.Kind() != '{' {
		return nil, fmt.Errorf("%q %w", strings.Join(path[:len(path)-len(rest)], "."), ErrShape)
	}
	return d.insert(at, Quote(rest[0])+": ", nested(value, rest[1:]))
}

// Add appends an element to the array at a path, which is made where it is missing.
func (d *Doc) Add(value json.RawMessage, path ...string) ([]patch.Edit, error) {
	at, rest := d.deepest(path)
	switch {
	case len(rest) > 0:
		return d.Put(json.RawMessage("["+string(value)+"]"), path...)
	case at.Kind() != '[':
		return nil, fmt.Errorf("%q %w", strings.Join(path, "."), ErrShape)
	}
	return d.insert(at, "", value)
}

// Cut removes the member at a path.
func (d *Doc) Cut(path ...string) ([]patch.Edit, error) {
	if len(path) == 0 {
		return nil, ErrShape
	}
	parent, ok := d.Find(path[:len(path)-1]...)
	object, isObject := parent.object()
	if !ok || !isObject {
		return nil, ErrShape
	}
	for i, m := range object.Members {
		if nameOf(m) == path[len(path)-1] {
			return d.cut(parent, i), nil
		}
	}
	return nil, ErrShape
}

// CutElement removes an element of this array.
func (n Node) CutElement(i int) []patch.Edit { return n.doc.cut(n, i) }

func (n Node) object() (*hujson.Object, bool) {
	if n.value == nil {
		return nil, false
	}
	object, ok := n.value.Value.(*hujson.Object)
	return object, ok
}

// deepest walks a path as far as the file has it.
func (d *Doc) deepest(path []string) (Node, []string) {
	at := d.Root()
	for i, key := range path {
		next, ok := at.Member(key)
		if !ok {
			return at, path[i:]
		}
		at = next
	}
	return at, nil
}

// nested puts a value below the objects of a path.
func nested(value json.RawMessage, path []string) json.RawMessage {
	for i := len(path) - 1; i >= 0; i-- {
		value = json.RawMessage("{" + Quote(path[i]) + ":" + string(value) + "}")
	}
	return value
}

// item is where a member or element lies, without what is around it.
type item struct {
	before     hujson.Extra
	start, end int
	after      hujson.Extra // up to the comma or bracket
}

func (n Node) items() []item {
	var items []item
	switch v := n.value.Value.(type) {
	case *hujson.Object:
		for _, m := range v.Members {
			items = append(items, item{m.Name.BeforeExtra, n.doc.bom + m.Name.StartOffset, n.doc.bom + m.Value.EndOffset, m.Value.AfterExtra})
		}
	case *hujson.Array:
		for _, e := range v.Elements {
			items = append(items, item{e.BeforeExtra, n.doc.bom + e.StartOffset, n.doc.bom + e.EndOffset, e.AfterExtra})
		}
	}
	return items
}

// insert adds an item at the end of an object or array, laid out as its neighbours
// are.
func (d *Doc) insert(into Node, key string, value json.RawMessage) ([]patch.Edit, error) {
	items := into.items()
	if len(items) == 0 {
		return d.insertFirst(into, key, value)
	}
	last := items[len(items)-1]
	indent, own := lastLine(items[0].before)
	gap := d.newline() + indent
	switch {
	case own:
	case len(items[0].before) == 0 && !d.multiline(): // {"a":1}
		gap, key = "", strings.TrimSuffix(key, " ")
	default:
		gap = " "
	}
	text, err := d.layOutBeside(gap, indent, value)
	if err != nil {
		return nil, err
	}
	if comma := d.commaAfter(last); comma >= 0 { // a trailing comma stays one
		return []patch.Edit{{At: comma + 1, New: gap + key + text + ","}}, nil
	}
	return []patch.Edit{{At: last.end, New: "," + gap + key + text}}, nil
}

// insertFirst fills an empty object or array.
func (d *Doc) insertFirst(into Node, key string, value json.RawMessage) ([]patch.Edit, error) {
	inside := d.text[into.start()+1 : into.end()-1]
	if len(bytes.TrimSpace(inside)) > 0 { // a comment: what follows it goes below it
		return d.insertAfterComment(into, key, value)
	}
	outer := d.indentOf(into)
	if !d.multiline() {
		text, err := compact(value)
		return []patch.Edit{{At: into.start() + 1, Del: len(inside), New: key + text}}, err
	}
	inner := outer + d.unit()
	text, err := d.layOut(value, inner)
	return []patch.Edit{{At: into.start() + 1, Del: len(inside), New: d.newline() + inner + key + text + d.newline() + outer}}, err
}

func (d *Doc) insertAfterComment(into Node, key string, value json.RawMessage) ([]patch.Edit, error) {
	outer := d.indentOf(into)
	inner := outer + d.unit()
	text, err := d.layOut(value, inner)
	inside := d.text[into.start()+1 : into.end()-1]
	kept := len(bytes.TrimRight(inside, " \t\r\n"))
	return []patch.Edit{{At: into.start() + 1 + kept, Del: len(inside) - kept, New: d.newline() + inner + key + text + d.newline() + outer}}, err
}

// cut removes an item and the comma that set it apart.
func (d *Doc) cut(from Node, i int) []patch.Edit {
	items := from.items()
	it := items[i]
	start := it.start - len(blankTail(it.before))
	switch comma := d.commaAfter(it); {
	case len(items) == 1: // alone
		if comma >= 0 {
			it.end = comma + 1
		}
		if inside := it.after; len(bytes.TrimSpace(inside)) == 0 && len(it.before) == len(blankTail(it.before)) {
			return []patch.Edit{{At: from.start() + 1, Del: from.end() - 1 - from.start() - 1}}
		}
		return []patch.Edit{{At: start, Del: it.end - start}}
	case comma >= 0: // another follows, or the comma is a trailing one
		return []patch.Edit{{At: start, Del: comma + 1 - start}}
	}
	comma := d.commaAfter(items[i-1])
	if comma+1 == start {
		return []patch.Edit{{At: comma, Del: it.end - comma}}
	}
	return []patch.Edit{{At: comma, Del: 1}, {At: start, Del: it.end - start}} // a comment between them stays
}

// blankTail is the white space at the end of an extra, after its last comment.
func blankTail(extra hujson.Extra) []byte {
	return extra[len(bytes.TrimRight(extra, " \t\r\n")):]
}

// commaAfter is where the comma after an item is, -1 where there is none.
func (d *Doc) commaAfter(it item) int {
	at := it.end + len(it.after)
	if at < len(d.text) && d.text[at] == ',' {
		return at
	}
	return -1
}

// Quote spells a string in JSON, with no escape that it does not need.
func Quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
