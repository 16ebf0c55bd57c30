// Package jsonrpc frames JSON-RPC messages as stdio carries them, one a line,
// and names what each line is from its raw bytes. It is pure: it opens nothing
// and starts nothing. It must never decode and re-encode what it frames, nor lose,
// add or reorder a byte of it.
package jsonrpc

import (
	"bytes"
	"slices"

	"github.com/tidwall/gjson"
)

// Kind is what a line turned out to be.
type Kind uint8

// The kinds of line.
const (
	Noise        Kind = iota // not one complete JSON object or array
	Blank                    // white space only
	Request                  // a method and an id
	Notification             // a method without an id, or with the id null
	Response                 // a result or an error
	Batch                    // an array; its Elements are messages of their own
	Other                    // an object that is none of these
)

// Message is one line. Its slices point into the Reader's buffer and hold until
// the next call of Next.
type Message struct {
	Raw     []byte // the line as it came, delimiter included; nothing of a Cut one
	Size    int    // bytes of the line, delimiter included
	Cut     bool   // the line was longer than the Reader keeps
	Clipped bool   // the line was longer than the Reader forwards
	Kind    Kind
	Method  string // decoded, empty in a response
	ID      []byte // raw JSON text, type and spelling kept; nil without one

	fields [fieldCount]span
}

// Params is the raw text of the top-level params member, nil without one.
func (m *Message) Params() []byte { return m.text(fieldParams) }

// Result is the raw text of the top-level result member, nil without one.
func (m *Message) Result() []byte { return m.text(fieldResult) }

// Error is the raw text of the top-level error member, nil without one.
func (m *Message) Error() []byte { return m.text(fieldError) }

// HasResult tells a result from an error, of a Cut message too.
func (m *Message) HasResult() bool { return m.fields[fieldResult].start > 0 }

// Tail is the line from its result on, where only the head was looked at (see
// Reader.Wanted) and so Result is nil.
func (m *Message) Tail() []byte {
	s := m.fields[fieldResult]
	if s.start == 0 || m.Cut {
		return nil
	}
	return m.Raw[s.start:]
}

// WithID is the line with another id in the place of its own, as raw JSON text; nil
// without an id, or for a Cut line.
func (m *Message) WithID(id string) []byte {
	s := m.fields[fieldID]
	if !s.set() || m.Cut {
		return nil
	}
	return slices.Concat(m.Raw[:s.start], []byte(id), m.Raw[s.end:])
}

func (m *Message) text(f field) []byte {
	s := m.fields[f]
	if !s.set() || m.Cut {
		return nil
	}
	return m.Raw[s.start:s.end]
}

// Elements classifies the members of a batch array, in order.
func (m *Message) Elements() []Message {
	if m.Kind != Batch || m.Cut || !gjson.ValidBytes(m.Raw) {
		return nil
	}
	var out []Message
	gjson.ParseBytes(m.Raw).ForEach(func(_, element gjson.Result) bool {
		out = append(out, Classify([]byte(element.Raw)))
		return true
	})
	return out
}

// Classify names one whole line. The delimiter may be there or not.
func Classify(line []byte) Message {
	var s scanner
	s.reset()
	s.feed(line)
	return s.message(line, len(line), false)
}

// Key is an id in the form under which a request and its answer compare equal:
// a peer may answer "a" for "\u0061" and 1 for 1.0. It reports false for what is
// no id (R2): null, a fraction, anything but a string or a number.
func Key(id []byte) (string, bool) {
	if len(id) == 0 {
		return "", false
	}
	if id[0] == '"' {
		if bytes.IndexByte(id, '\\') < 0 {
			return string(id[:len(id)-1]), true
		}
		return `"` + gjson.ParseBytes(id).Str, true
	}
	return numberKey(id)
}
