// Package tomledit changes a TOML file of somebody else in place: only the bytes of
// the keys concerned change. Comments, order and layout stay as they are. It is pure:
// it reads bytes and returns edits. What is no TOML is refused.
package tomledit

import (
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Doc is a file as it was read.
type Doc struct {
	text   []byte
	values map[string]any
	keys   []key
}

// key is a key with its value, wherever the file has it: in the table of a header, in
// an inline table, or by a key with dots.
type key struct {
	path       []string
	prefix     string // what stands before the key's last part: "servers.files."
	start      int    // of the key
	value, end int    // of the value
	inline     bool   // in an inline table
}

const mark = "\ufeff"

// maxBytes is more than a configuration has: the parser counts in 32 bits.
const maxBytes = 64 << 20

// Parse reads a file.
func Parse(text []byte) (*Doc, error) {
	if len(text) > maxBytes {
		return nil, errors.New("is too large")
	}
	d := &Doc{text: text}
	bom := 0
	if strings.HasPrefix(string(text[:min(len(text), len(mark))]), mark) {
		bom = len(mark)
	}
	// A copy without room at its end: the parser takes offsets from capacities.
	body := slices.Clip(slices.Clone(text[bom:]))
	if err := toml.Unmarshal(body, &d.values); err != nil {
		return nil, err
	}
	var p unstable.Parser
	p.Reset(body)
	var table []string
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table:
			table = parts(e.Key())
		case unstable.ArrayTable:
			table = append(parts(e.Key()), "[]") // which no path of ours has
		case unstable.KeyValue:
			d.add(e, body, bom, table, false)
		}
	}
	return d, p.Error()
}

func parts(it unstable.Iterator) (names []string) {
	for it.Next() {
		names = append(names, string(it.Node().Data))
	}
	return names
}

// add notes a key, and the keys in its value when that is an inline table.
func (d *Doc) add(e *unstable.Node, body []byte, bom int, above []string, inline bool) {
	k := key{path: append(slices.Clone(above), parts(e.Key())...), inline: inline}
	start := int(e.Raw.Offset)
	end := start + int(e.Raw.Length)
	end = start + len(strings.TrimRight(string(body[start:end]), " \t"))
	last := start
	for it := e.Key(); it.Next(); {
		at := int(it.Node().Raw.Offset)
		last = max(last, at)
		if it.IsLast() {
			k.prefix = string(body[start:at])
			last = at + int(it.Node().Raw.Length)
		}
	}
	value := last + strings.IndexByte(string(body[last:]), '=') + 1
	value += len(body[value:]) - len(strings.TrimLeft(string(body[value:]), " \t"))
	k.start, k.value, k.end = bom+start, bom+value, bom+end
	d.keys = append(d.keys, k)
	if e.Value().Kind != unstable.InlineTable {
		return
	}
	for it := e.Value().Children(); it.Next(); {
		if it.Node().Kind == unstable.KeyValue {
			d.add(it.Node(), body, bom, k.path, true)
		}
	}
}

// Value is what the file has at a path, as encoding/json would name it.
func (d *Doc) Value(path ...string) (any, bool) {
	var at any = d.values
	for _, name := range path {
		table, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = table[name]; !ok {
			return nil, false
		}
	}
	return at, true
}

// Tables are the names of the tables at a path, in the order of the file.
func (d *Doc) Tables(path ...string) (names []string) {
	for _, k := range d.keys {
		if len(k.path) > len(path) && slices.Equal(k.path[:len(path)], path) {
			name := k.path[len(path)]
			if _, ok := d.table(append(slices.Clone(path), name)); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func (d *Doc) table(path []string) (map[string]any, bool) {
	v, _ := d.Value(path...)
	table, ok := v.(map[string]any)
	return table, ok
}
