// Package patch changes a text at byte offsets and says how to take the change back.
// What takes it back may be kept in a file, so it must never hold what it does not
// need: a piece of the old text that is still somewhere in the new one is named by
// its place there. That is how a credential is put back that was never stashed.
package patch

import (
	"errors"
	"strings"
)

// Edit replaces Del bytes at At with New.
type Edit struct {
	At, Del int
	New     string
	// Secrets are parts of the deleted text that must not be kept. Each has to be in
	// New, as it was or with a backslash before each quote and backslash.
	Secrets []string
}

// Patch takes an edited text back to what it was.
type Patch []Hunk

// Hunk is a place in the edited text, and what was there before.
type Hunk struct {
	At  int     `json:"at"`
	Len int     `json:"len"`
	Old []Piece `json:"old,omitempty"`
}

// Piece is a part of the old text: as it was, or Len bytes from At of the hunk.
type Piece struct {
	Text string `json:"text,omitempty"`
	At   int    `json:"at,omitempty"`
	Len  int    `json:"len,omitempty"`
}

// ErrSecret says that an edit would lose a credential that it may not keep.
var ErrSecret = errors.New("a credential is written in a way that could not be put back")

var errRange = errors.New("a change lies outside of the text")

// Apply makes the edits, which are in the order of the text and do not overlap, and
// returns what takes them back.
func Apply(text []byte, edits []Edit) ([]byte, Patch, error) {
	var out strings.Builder
	var undo Patch
	from := 0
	for _, e := range edits {
		if e.At < from || e.Del < 0 || e.At+e.Del > len(text) {
			return nil, nil, errRange
		}
		out.Write(text[from:e.At])
		from = e.At + e.Del
		old, err := pieces(string(text[e.At:from]), e)
		if err != nil {
			return nil, nil, err
		}
		undo = append(undo, Hunk{At: out.Len(), Len: len(e.New), Old: old})
		out.WriteString(e.New)
	}
	out.Write(text[from:])
	return []byte(out.String()), undo, nil
}

// Undo takes an edited text back.
func (p Patch) Undo(text []byte) ([]byte, error) {
	var out strings.Builder
	from := 0
	for _, h := range p {
		if h.At < from || h.Len < 0 || h.At+h.Len > len(text) {
			return nil, errRange
		}
		out.Write(text[from:h.At])
		from = h.At + h.Len
		for _, piece := range h.Old {
			if piece.At < 0 || piece.Len < 0 || piece.At+piece.Len > h.Len {
				return nil, errRange
			}
			out.WriteString(piece.Text)
			out.Write(text[h.At+piece.At : h.At+piece.At+piece.Len])
		}
	}
	out.Write(text[from:])
	return []byte(out.String()), nil
}

// pieces spells the deleted text without its secrets.
func pieces(old string, e Edit) ([]Piece, error) {
	var spelled []Piece
	for _, secret := range e.Secrets {
		before, after, ok := strings.Cut(old, secret)
		if !ok || secret == "" {
			continue
		}
		found, ok := within(e.New, secret)
		if !ok {
			return nil, ErrSecret
		}
		if before != "" {
			spelled = append(spelled, Piece{Text: before})
		}
		spelled = append(spelled, found...)
		old = after
	}
	if old != "" {
		spelled = append(spelled, Piece{Text: old})
	}
	return spelled, nil
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// within spells a secret by places of text.
func within(text, secret string) ([]Piece, bool) {
	if at := strings.Index(text, secret); at >= 0 {
		return []Piece{{At: at, Len: len(secret)}}, true
	}
	at := strings.Index(text, escaper.Replace(secret))
	if at < 0 {
		return nil, false
	}
	var spelled []Piece
	start := at
	for i := range len(secret) {
		if secret[i] == '\\' || secret[i] == '"' { // its backslash is left out
			if at > start {
				spelled = append(spelled, Piece{At: start, Len: at - start})
			}
			at++
			start = at
		}
		at++
	}
	return append(spelled, Piece{At: start, Len: at - start}), true
}
