// Package jsonedit changes a JSON file of somebody else in place: only the bytes of
// the member concerned change. Comments, trailing commas, the order of keys, the text
// of numbers, line ends and a byte order mark stay as they are. It is pure: it reads
// bytes and returns edits. A file whose meaning is not certain (a key twice, no JSON)
// is refused.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/tailscale/hujson"
)

// Doc is a file as it was read.
type Doc struct {
	text []byte
	bom  int // length of the byte order mark
	root hujson.Value
}

// Node is a value in a file. The zero Node, for one that is not there, has neither
// members nor elements.
type Node struct {
	doc   *Doc
	value *hujson.Value
}

const mark = "\ufeff"

// maxDepth bounds the nesting that is read: a file of brackets must not end us.
const maxDepth = 1000

// Parse reads a file whose top is an object.
func Parse(text []byte) (*Doc, error) {
	d := &Doc{text: text}
	body := text
	if bytes.HasPrefix(text, []byte(mark)) {
		d.bom = len(mark)
		body = text[d.bom:]
	}
	if nesting(body) > maxDepth {
		return nil, errors.New("is nested too deeply")
	}
	root, err := hujson.Parse(body)
	if err != nil {
		return nil, err
	}
	d.root = root
	if root.Value.Kind() != '{' {
		return nil, errors.New("is no JSON object")
	}
	for v := range d.root.All() {
		if err := noKeyTwice(v); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// nesting is at least how deep a text nests; brackets in strings and comments count.
func nesting(text []byte) (deepest int) {
	depth := 0
	for _, c := range text {
		switch c {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

func noKeyTwice(v *hujson.Value) error {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for _, m := range object.Members {
		name := nameOf(m)
		if seen[name] {
			return fmt.Errorf("has the key %q twice in one object", name)
		}
		seen[name] = true
	}
	return nil
}

func nameOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// Root is the object at the top.
func (d *Doc) Root() Node { return Node{d, &d.root} }

// Find is the value at a path of keys.
func (d *Doc) Find(path ...string) (Node, bool) {
	n := d.Root()
	for _, key := range path {
		var ok bool
		if n, ok = n.Member(key); !ok {
			return Node{}, false
		}
	}
	return n, true
}

// Member is the value of a key.
func (n Node) Member(key string) (Node, bool) {
	object, ok := n.object()
	if !ok {
		return Node{}, false
	}
	for i := range object.Members {
		if nameOf(object.Members[i]) == key {
			return Node{n.doc, &object.Members[i].Value}, true
		}
	}
	return Node{}, false
}

// Members yields an object's members in their order.
func (n Node) Members() iter.Seq2[string, Node] {
	return func(yield func(string, Node) bool) {
		object, ok := n.object()
		if !ok {
			return
		}
		for i := range object.Members {
			if !yield(nameOf(object.Members[i]), Node{n.doc, &object.Members[i].Value}) {
				return
			}
		}
	}
}

// Elements are the values of an array.
func (n Node) Elements() []Node {
	if n.value == nil {
		return nil
	}
	array, ok := n.value.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	nodes := make([]Node, len(array.Elements))
	for i := range array.Elements {
		nodes[i] = Node{n.doc, &array.Elements[i]}
	}
	return nodes
}

// Kind is the first byte of a value of its kind: { [ " 0 t f n.
func (n Node) Kind() byte { return byte(n.value.Value.Kind()) }

// Empty says that an object or array has nothing in it, not even a comment.
func (n Node) Empty() bool {
	inside := strings.Trim(n.Raw(), " \t\r\n")
	return (n.Kind() == '{' || n.Kind() == '[') && strings.Trim(inside[1:len(inside)-1], " \t\r\n") == ""
}

// Raw is the value's text as it stands.
func (n Node) Raw() string { return string(n.doc.text[n.start():n.end()]) }

// Plain is the value as compact standard JSON, numbers as they were written.
func (n Node) Plain() json.RawMessage {
	v := n.value.Clone()
	v.Minimize()
	v.BeforeExtra, v.AfterExtra = nil, nil
	return v.Pack()
}

// Decode reads the value as encoding/json does.
func (n Node) Decode(into any) error { return json.Unmarshal(n.Plain(), into) }

func (n Node) start() int { return n.doc.bom + n.value.StartOffset }
func (n Node) end() int   { return n.doc.bom + n.value.EndOffset }
