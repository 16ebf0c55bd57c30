package redact

import (
	"bytes"

	"github.com/bir-run/bir/recorder/jsontext"
)

const (
	// maxDepth is encoding/json's own limit; a deeper document is read as text, so
	// that a hostile one cannot use up the stack.
	maxDepth = 10_000
	// maxLayers bounds JSON inside strings inside JSON.
	maxLayers = 8
)

// filter says whether a piece of text is worth a closer look.
type filter func(text []byte) bool

// walker finds the edits of one JSON text. It checks structure only as far as it
// needs to keep its place.
type walker struct {
	src    []byte
	pos    int
	layer  int // how many strings this text is inside of
	filter filter
	edits  []edit

	decoded []byte          // the last string with escapes, reused
	kinds   map[string]kind // keys that were split into words before: lists repeat theirs
}

// maxKinds bounds the memory of keys; a document with more different ones that
// look like secrets only takes longer.
const maxKinds = 64

// walkJSON returns the edits for a JSON text, or for several in a row as logs
// have them, and false where src is none.
func walkJSON(src []byte, layer int, filter filter) ([]edit, bool) {
	w := walker{src: src, layer: layer, filter: filter}
	for {
		if !w.value(plain, 0) {
			return nil, false
		}
		if w.space(); w.pos == len(src) {
			return w.edits, true
		}
	}
}

// value walks one value under a key of kind k.
func (w *walker) value(k kind, depth int) bool {
	w.space()
	if w.pos == len(w.src) || depth > maxDepth {
		return false
	}
	switch b := w.src[w.pos]; {
	case b == '{':
		return w.object(k, depth+1)
	case b == '[':
		return w.array(k, depth+1)
	case b == '"':
		return w.stringValue(k)
	default:
		return w.scalar(k)
	}
}

// pair remembers an object's "name" and "value", since {"name": "API_KEY",
// "value": "..."} is how headers and environments come as lists.
type pair struct {
	name       kind
	start, end int // the value, quotes included; 0,0 before it was seen
}

func (w *walker) object(k kind, depth int) bool {
	w.pos++
	var p pair
	for first := true; ; first = false {
		if w.eat('}') {
			w.finishPair(p)
			return true
		}
		if !first && !w.eat(',') {
			return false
		}
		w.space()
		key, ok := w.stringBody()
		if !ok || !w.eat(':') {
			return false
		}
		w.space()
		start := w.pos
		if !w.value(max(k, w.memberKind(key)), depth) {
			return false
		}
		p.see(key, w.src, start, w.pos)
	}
}

// memberKind is the kind of the member whose value comes next. What goes whole is
// an env block; the string in "env": "production" is an ordinary value.
func (w *walker) memberKind(key []byte) kind {
	k := w.nameKind(key)
	if k == env && w.pos < len(w.src) && w.src[w.pos] != '{' && w.src[w.pos] != '[' {
		return plain
	}
	return k
}

func (w *walker) nameKind(key []byte) kind {
	if len(key) > maxNameBytes || !mayName(key) {
		return plain
	}
	k, ok := w.kinds[string(key)]
	if ok {
		return k
	}
	k = nameKind(key)
	if w.kinds == nil {
		w.kinds = make(map[string]kind)
	}
	if len(w.kinds) < maxKinds {
		w.kinds[string(key)] = k
	}
	return k
}

// see takes note of one member.
func (p *pair) see(key, src []byte, start, end int) {
	switch string(key) {
	case "name", "key", "header", "Name", "Key":
		if name := src[start:end]; len(name) > 2 && name[0] == '"' {
			p.name = nameKind(plainKey(name[1 : len(name)-1]))
		}
	case "value", "Value":
		p.start, p.end = start, end
	}
}

// finishPair redacts the value of a pair whose name was a secret's, in whichever
// order the two came. Edits that were made inside the value give way.
func (w *walker) finishPair(p pair) {
	if p.end == 0 || p.name != secret && p.name != counts || w.src[p.start] != '"' {
		return
	}
	kept, after := w.edits, []edit(nil)
	for len(kept) > 0 && kept[len(kept)-1].start > p.start {
		if last := kept[len(kept)-1]; last.start >= p.end {
			after = append([]edit{last}, after...)
		}
		kept = kept[:len(kept)-1]
	}
	w.edits = kept
	w.hide(p.start+1, p.end-1)
	w.edits = append(w.edits, after...)
}

func (w *walker) array(k kind, depth int) bool {
	w.pos++
	afterFlag := plain // a command line that is a list has its secrets behind flags
	for first := true; ; first = false {
		if w.eat(']') {
			return true
		}
		if !first && !w.eat(',') {
			return false
		}
		w.space()
		start := w.pos
		if bytes.HasPrefix(w.src[start:], []byte(`"-`)) {
			afterFlag = plain
		}
		if !w.value(max(k, afterFlag), depth) {
			return false
		}
		afterFlag = flagKind(w.src[start:w.pos])
	}
}

// flagKind is the kind of the element after this one.
func flagKind(element []byte) kind {
	if len(element) < 4 || element[0] != '"' || element[1] != '-' || len(element) > maxNameBytes {
		return plain
	}
	if namesSecretFlag(string(element[1 : len(element)-1])) {
		return counts
	}
	return plain
}

func (w *walker) stringValue(k kind) bool {
	start := w.pos
	end, escaped, ok := jsontext.StringEnd(w.src, start)
	if !ok {
		return false
	}
	w.pos = end + 1
	body := w.src[start+1 : end]
	switch {
	case k != plain:
		w.hide(start+1, end)
	case len(body) < minText || !w.filter(body):
	case !escaped:
		w.add(scanString(body, w.layer, w.filter), start+1, nil)
	default:
		w.decoded = unquote(w.decoded[:0], body)
		w.add(scanString(w.decoded, w.layer, w.filter), start+1, &offsets{body: body})
	}
	return true
}

// scalar walks a number, true, false or null. Anything else is no JSON: a text
// such as "[sk-...]" must not pass for a list.
func (w *walker) scalar(k kind) bool {
	start := w.pos
	for w.pos < len(w.src) && (isLetter(w.src[w.pos]) || isNumeric(w.src[w.pos])) {
		w.pos++
	}
	number := false
	switch string(w.src[start:w.pos]) {
	case "true", "false", "null":
	default:
		for _, b := range w.src[start:w.pos] {
			if !isNumeric(b) {
				return false
			}
		}
		number = true
	}
	if k == env || k == secret && number {
		w.edits = append(w.edits, edit{start, w.pos, `"` + mark + `"`})
	}
	return w.pos > start
}

func isNumeric(b byte) bool {
	return isDigit(b) || b == '-' || b == '+' || b == '.' || b == 'e' || b == 'E'
}

// hide replaces the inside of a string, unless it is empty or was hidden before.
func (w *walker) hide(start, end int) {
	if start < end && !bytes.HasPrefix(w.src[start:end], []byte(markPrefix)) {
		w.edits = append(w.edits, edit{start, end, mark})
	}
}

// add takes the edits of a string's decoded text over to the raw one, whose body
// begins at base.
func (w *walker) add(found []edit, base int, offsets *offsets) {
	for _, e := range found {
		if offsets != nil {
			e.start, e.end, e.with = offsets.at(e.start), offsets.at(e.end), quoteMark(e.with)
		}
		w.edits = append(w.edits, edit{base + e.start, base + e.end, e.with})
	}
}

// stringBody returns a key, decoded where that changes it, and moves past it.
func (w *walker) stringBody() ([]byte, bool) {
	if w.pos == len(w.src) || w.src[w.pos] != '"' {
		return nil, false
	}
	end, escaped, ok := jsontext.StringEnd(w.src, w.pos)
	if !ok {
		return nil, false
	}
	body := w.src[w.pos+1 : end]
	w.pos = end + 1
	if escaped {
		body = plainKey(body)
	}
	return body, true
}

// plainKey decodes a name that has escapes; one too long to be looked at is left.
func plainKey(body []byte) []byte {
	if len(body) > 6*maxNameBytes || bytes.IndexByte(body, '\\') < 0 {
		return body
	}
	return unquote(nil, body)
}

func (w *walker) space() {
	for w.pos < len(w.src) {
		switch w.src[w.pos] {
		case ' ', '\t', '\n', '\r':
			w.pos++
		default:
			return
		}
	}
}

// eat moves past the byte, and space before it.
func (w *walker) eat(b byte) bool {
	w.space()
	if w.pos < len(w.src) && w.src[w.pos] == b {
		w.pos++
		return true
	}
	return false
}
