// Package truncate bounds what one payload of a recording may take. What it cuts
// stays valid JSON and says so at its top level, since a scenario must never be
// built on an output that is not whole. It must run after redaction: a cut through
// a secret would hide its shape.
package truncate

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bir-run/bir/recorder/jsontext"
)

// MaxBytes is how much of a payload is kept.
const MaxBytes = 64 << 10

// minBytes is the least a cut payload needs: the marker and room to be of use.
const minBytes = 256

// longBytes is the length from which a string gets special treatment.
const longBytes = 1 << 10

// maxDepth bounds how deep a cut follows nested values; deeper ones that do not
// fit are left out.
const maxDepth = 64

// JSON returns raw in at most limit bytes (0 for MaxBytes), and whether it was cut.
// Binary blocks give way to their length and hash first. A cut object keeps its
// shape and begins with "truncated": true and "originalBytes"; anything else that
// is cut becomes an object of those two and "head". Text that is no JSON is taken
// as a JSON string.
func JSON(raw json.RawMessage, limit int) (json.RawMessage, bool) {
	return Scan(raw, limit).JSON()
}

// Payload is a payload that was gone through once.
type Payload struct {
	raw      json.RawMessage
	original int // its length before it was redacted
	limit    int
	valid    bool
	long     []jsontext.Span
}

// Scan goes through a payload, of which at most limit bytes (0 for MaxBytes) will be
// kept.
func Scan(raw json.RawMessage, limit int) Payload {
	if limit <= 0 {
		limit = MaxBytes
	}
	p := Payload{raw: raw, original: len(raw), limit: max(limit, minBytes)}
	p.long, p.valid = jsontext.Long(raw, longBytes)
	return p
}

// Reaches says whether holds is true for a piece of what a cut may keep, and of margin
// bytes more of each long string. A piece that is not the last ends within a string. It
// is true for a payload that is no JSON: what would be kept of it is not known.
func (p Payload) Reaches(margin int, holds func(piece []byte, last bool) bool) bool {
	done, keep := 0, p.limit+margin
	for _, s := range p.long {
		if s.End-s.Start <= keep {
			continue
		}
		if holds(p.raw[done:s.Start+keep], false) {
			return true
		}
		done = s.End - 1
	}
	return !p.valid || holds(p.raw[done:], true)
}

// Redacted is the payload without its secrets, for its cut to say how long it was.
func (p Payload) Redacted(raw json.RawMessage) Payload {
	q := Scan(raw, p.limit)
	q.original = p.original
	return q
}

// JSON does what the function JSON does.
func (p Payload) JSON() (json.RawMessage, bool) {
	raw, long := p.raw, p.long
	if len(raw) == 0 {
		return raw, false
	}
	if !p.valid {
		raw = jsontext.AppendString(nil, raw[:min(len(raw), 4*p.limit)]) // more is not kept
		long = []jsontext.Span{{Start: 0, End: len(raw)}}
	}
	if mayHoldBinary(raw, long) {
		raw = binaries(raw)
		long, _ = jsontext.Long(raw, longBytes)
	}
	if len(raw) <= p.limit {
		return raw, false
	}
	return cut(shorten(raw, long, p.limit), p.original, p.limit), true
}

// Text returns s in at most limit bytes (0 for MaxBytes), and whether it was cut; a
// cut text ends by saying how long it was.
func Text(s string, limit int) (string, bool) {
	if limit <= 0 {
		limit = MaxBytes
	}
	if len(s) <= limit {
		return s, false
	}
	note := " [truncated, originalBytes: " + strconv.Itoa(len(s)) + "]"
	end := limit - len(note)
	if end < 0 {
		return note[:limit], true
	}
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + note, true
}

// cut puts the marker in front of what fits of the value.
func cut(raw []byte, original, limit int) []byte {
	value := bytes.TrimSpace(raw)
	out := append(make([]byte, 0, limit), `{"truncated":true,"originalBytes":`...)
	out = strconv.AppendInt(out, int64(original), 10)
	budget := limit - len(out) - len("}")
	if value[0] != '{' {
		out = append(out, `,"head":`...)
		out = shrink(out, value, budget-len(`,"head":`), 0)
		return append(out, '}')
	}
	members := slices.DeleteFunc(children(value), func(c child) bool { return isMarker(c.key) })
	out = fill(out, members, budget, true, 0)
	return append(out, '}')
}

// isMarker holds for the marker's own names, however they are spelled: of two
// members with one name, readers take the last.
func isMarker(key []byte) bool {
	name := string(key[1 : len(key)-1])
	if strings.Contains(name, `\`) && json.Unmarshal(key, &name) != nil {
		return false // cannot be: the text is valid
	}
	return name == "truncated" || name == "originalBytes"
}
