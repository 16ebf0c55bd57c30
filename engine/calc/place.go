package calc

import (
	"fmt"
	"strings"

	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/engine/words"
)

// place is where a value stands in an output.
type place struct {
	doc  *document
	path []hop // in a JSON document
	line *line // in a plain text
	kind value.Kind
	text string
	name string // of the threaded value, once a later step uses it
}

// hop is one step of a path: a key, or an index into an array.
type hop struct {
	key   string
	index int // -1 for a key
	array *value.Node
}

// line picks from a plain text.
type line struct {
	pick  linePick
	n     int    // which line, for pickNth
	count int    // lines in all
	key   string // for pickField: what stands before the colon
}

type linePick int

const (
	pickWhole linePick = iota
	pickTrimmed
	pickNth
	pickField
)

const (
	maxLeaves = 5000 // places taken from one document; later ones stay unexplained
	maxKey    = 40   // of a `key: value` line
)

// places lists the values of a document that later inputs may be made of.
func (d *document) places() []*place {
	if d.root == nil {
		return d.textPlaces()
	}
	var all []*place
	var walk func(path []hop, n *value.Node)
	walk = func(path []hop, n *value.Node) {
		if len(all) >= maxLeaves {
			return
		}
		if n.Scalar() {
			if n.Kind == value.String || n.Kind == value.Number {
				all = append(all, &place{doc: d, path: path, kind: n.Kind, text: n.Text})
			}
			return
		}
		for i, item := range n.Items {
			next := hop{index: i, array: n}
			if n.Kind == value.Object {
				next = hop{key: n.Keys[i], index: -1}
			}
			walk(append(path[:len(path):len(path)], next), item)
		}
	}
	walk(nil, d.root)
	return all
}

func (d *document) textPlaces() []*place {
	at := func(text string, l line) *place {
		return &place{doc: d, line: &l, kind: value.String, text: text}
	}
	all := []*place{at(d.text, line{pick: pickWhole})}
	trimmed := strings.TrimSpace(d.text)
	if trimmed != d.text {
		all = append(all, at(trimmed, line{pick: pickTrimmed}))
	}
	lines := textLines(d.text)
	if len(lines) > maxLeaves {
		return all
	}
	fields := map[string]int{}
	for _, text := range lines {
		if key, _, ok := field(text); ok {
			fields[key]++
		}
	}
	for i, text := range lines {
		if len(lines) > 1 {
			all = append(all, at(text, line{pick: pickNth, n: i, count: len(lines)}))
		}
		if key, val, ok := field(text); ok && fields[key] == 1 {
			all = append(all, at(val, line{pick: pickField, key: key}))
		}
	}
	return all
}

// textLines cuts a text as the bodies do: `text.trimEnd().split("\n")`.
func textLines(text string) []string {
	return strings.Split(strings.TrimRight(text, " \t\r\n"), "\n")
}

// field reads a `key: value` line. The key starts the line.
func field(text string) (key, val string, ok bool) {
	key, val, ok = strings.Cut(text, ": ")
	val = strings.TrimSpace(val)
	if !ok || key == "" || val == "" || len(key) > maxKey || strings.TrimSpace(key) != key {
		return "", "", false
	}
	return key, val, strings.IndexFunc(key, func(r rune) bool { return r == '"' || r == '{' }) < 0
}

// key is the last key of the path, or what a field line calls its value.
func (p *place) key() string {
	if p.line != nil {
		return p.line.key
	}
	for i := len(p.path) - 1; i >= 0; i-- {
		if p.path[i].index < 0 {
			return p.path[i].key
		}
	}
	return ""
}

// around are words for what the value belongs to: its element, its document.
func (p *place) around() []string {
	segments := words.Segments(p.doc.name)
	for i := 0; i < len(p.path)-1; i++ {
		if p.path[i].index < 0 {
			segments = append(segments, words.Segments(p.path[i].key)...)
		}
	}
	return segments
}

// element identifies the innermost array element that the value belongs to;
// empty for a value outside arrays.
func (p *place) element() string {
	for i := len(p.path) - 1; i >= 0; i-- {
		if p.path[i].index >= 0 {
			return p.doc.id() + pathText(p.path[:i+1])
		}
	}
	return ""
}

func (d *document) id() string { return fmt.Sprintf("%d:%s:", d.step, d.access) }

func pathText(path []hop) string {
	var out strings.Builder
	for _, h := range path {
		if h.index >= 0 {
			fmt.Fprintf(&out, "[%d]", h.index)
		} else {
			out.WriteString("." + h.key)
		}
	}
	return out.String()
}

// label is the name that a threaded value gets, before it is made unique.
func (p *place) label() string {
	if p.line != nil {
		return p.lineLabel()
	}
	key := words.Camel(words.Segments(p.key())...)
	owner := p.owner()
	switch {
	case key == "" || p.path[len(p.path)-1].index >= 0:
		return words.Camel(append(words.Segments(owner), "item")...)
	case generic[strings.ToLower(key)] && owner != "":
		return words.Camel(append(words.Segments(owner), words.Segments(key)...)...)
	}
	return key
}

// generic are keys that need their owner's name beside them.
var generic = map[string]bool{
	"id": true, "name": true, "title": true, "path": true, "value": true, "text": true, "key": true,
	"type": true, "url": true, "uri": true, "number": true, "content": true, "uuid": true, "count": true,
}

// owner names what the value belongs to: device, for devices[3].id.
func (p *place) owner() string {
	for i := len(p.path) - 2; i >= 0; i-- {
		if p.path[i].index < 0 {
			return singular(p.path[i].key)
		}
	}
	return singular(p.doc.name)
}

func singular(name string) string {
	if one := words.Singular(name); one != "" {
		return one
	}
	return name
}

func (p *place) lineLabel() string {
	about := words.Segments(p.doc.name)
	switch {
	case p.line.pick == pickField:
		return words.Camel(words.Segments(p.line.key)...)
	case p.line.pick != pickNth:
		return words.Camel(append(about, "text")...)
	case p.line.n == p.line.count-1:
		return words.Camel(append([]string{"last"}, append(about, "line")...)...)
	case p.line.n == 0:
		return words.Camel(append([]string{"first"}, append(about, "line")...)...)
	}
	return words.Camel(append(about, fmt.Sprintf("line%d", p.line.n+1))...)
}
