package source

import (
	"fmt"
	"strings"

	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/engine/words"
)

// Place is where a value stands in an output.
type Place struct {
	Doc  *Document
	Path []Hop      // in a JSON document
	Line *Line      // in a plain text
	Kind value.Kind // String or Number
	Text string
	Name string // of the threaded value, once a later step uses it
}

// Hop is one step of a path: a key, or an index into an array.
type Hop struct {
	Key   string
	Index int // -1 for a key
	Array *value.Node
}

// Line picks from a plain text.
type Line struct {
	Pick  Pick
	N     int    // which line, for Nth
	Count int    // lines in all
	Key   string // for Field: what stands before the colon
}

// Pick is how a value is picked from a plain text.
type Pick int

// The ways of picking from a plain text.
const (
	Whole   Pick = iota
	Trimmed      // without the white space around it
	Nth          // one line
	Field        // what follows `key: ` at the start of a line
)

const (
	maxLeaves = 5000 // places taken from one document; later ones stay unexplained
	maxKey    = 40   // of a `key: value` line
)

// Places lists the values of a document that later inputs may be made of.
func (d *Document) Places() []*Place {
	if d.Root == nil {
		return d.textPlaces()
	}
	var all []*Place
	var walk func(path []Hop, n *value.Node)
	walk = func(path []Hop, n *value.Node) {
		if len(all) >= maxLeaves {
			return
		}
		if n.Scalar() {
			if n.Kind == value.String || n.Kind == value.Number {
				all = append(all, &Place{Doc: d, Path: path, Kind: n.Kind, Text: n.Text})
			}
			return
		}
		for i, item := range n.Items {
			next := Hop{Index: i, Array: n}
			if n.Kind == value.Object {
				next = Hop{Key: n.Keys[i], Index: -1}
			}
			walk(append(path[:len(path):len(path)], next), item)
		}
	}
	walk(nil, d.Root)
	return all
}

func (d *Document) textPlaces() []*Place {
	at := func(text string, l Line) *Place {
		return &Place{Doc: d, Line: &l, Kind: value.String, Text: text}
	}
	all := []*Place{at(d.Text, Line{Pick: Whole})}
	trimmed := strings.TrimSpace(d.Text)
	if trimmed != d.Text {
		all = append(all, at(trimmed, Line{Pick: Trimmed}))
	}
	lines := textLines(d.Text)
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
			all = append(all, at(text, Line{Pick: Nth, N: i, Count: len(lines)}))
		}
		if key, val, ok := field(text); ok && fields[key] == 1 {
			all = append(all, at(val, Line{Pick: Field, Key: key}))
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

// Key is the last key of the path, or what a field line calls its value.
func (p *Place) Key() string {
	if p.Line != nil {
		return p.Line.Key
	}
	for i := len(p.Path) - 1; i >= 0; i-- {
		if p.Path[i].Index < 0 {
			return p.Path[i].Key
		}
	}
	return ""
}

// Around are words for what the value belongs to: its element, its document.
func (p *Place) Around() []string {
	segments := words.Segments(p.Doc.Name)
	for i := 0; i < len(p.Path)-1; i++ {
		if p.Path[i].Index < 0 {
			segments = append(segments, words.Segments(p.Path[i].Key)...)
		}
	}
	return segments
}

// Element identifies the innermost array element that the value belongs to;
// empty for a value outside arrays.
func (p *Place) Element() string {
	for i := len(p.Path) - 1; i >= 0; i-- {
		if p.Path[i].Index >= 0 {
			return p.Doc.ID() + PathText(p.Path[:i+1])
		}
	}
	return ""
}

func (d *Document) ID() string { return fmt.Sprintf("%d:%s:", d.Step, d.Access) }

func PathText(path []Hop) string {
	var out strings.Builder
	for _, h := range path {
		if h.Index >= 0 {
			fmt.Fprintf(&out, "[%d]", h.Index)
		} else {
			out.WriteString("." + h.Key)
		}
	}
	return out.String()
}

// Label is the name that a threaded value gets, before it is made unique.
func (p *Place) Label() string {
	if p.Line != nil {
		return p.lineLabel()
	}
	key := words.Camel(words.Segments(p.Key())...)
	owner := p.Owner()
	switch {
	case key == "" || p.Path[len(p.Path)-1].Index >= 0:
		return words.Camel(append(words.Segments(owner), "item")...)
	case Generic[strings.ToLower(key)] && owner != "":
		return words.Camel(append(words.Segments(owner), words.Segments(key)...)...)
	}
	return key
}

// Generic are keys that need their owner's name beside them.
var Generic = map[string]bool{
	"id": true, "name": true, "title": true, "path": true, "value": true, "text": true, "key": true,
	"type": true, "url": true, "uri": true, "number": true, "content": true, "uuid": true, "count": true,
}

// Owner names what the value belongs to: device, for devices[3].id.
func (p *Place) Owner() string {
	for i := len(p.Path) - 2; i >= 0; i-- {
		if p.Path[i].Index < 0 {
			return Singular(p.Path[i].Key)
		}
	}
	return Singular(p.Doc.Name)
}

func Singular(name string) string {
	if one := words.Singular(name); one != "" {
		return one
	}
	return name
}

func (p *Place) lineLabel() string {
	about := words.Segments(p.Doc.Name)
	switch {
	case p.Line.Pick == Field:
		return words.Camel(words.Segments(p.Line.Key)...)
	case p.Line.Pick != Nth:
		return words.Camel(append(about, "text")...)
	case p.Line.N == p.Line.Count-1:
		return words.Camel(append([]string{"last"}, append(about, "line")...)...)
	case p.Line.N == 0:
		return words.Camel(append([]string{"first"}, append(about, "line")...)...)
	}
	return words.Camel(append(about, fmt.Sprintf("line%d", p.Line.N+1))...)
}

// ArrayName is the word for the array at a position of the path.
func (p *Place) ArrayName(at int) string {
	if at > 0 && p.Path[at-1].Index < 0 {
		return p.Path[at-1].Key
	}
	return p.Doc.Name
}
