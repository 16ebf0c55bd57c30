// Package redact takes secrets out of what is about to be recorded: values under
// keys that name a secret, values whose shape is one, and env blocks. It works on
// the text as it stands, so every byte that it does not replace keeps its place
// and spelling: number text, key order, escapes. It must never touch what is
// relayed, and never fail: what it cannot read as JSON it reads as text.
package redact

import (
	"bytes"
	"encoding/json"
	"slices"
)

// mark replaces a secret that was found by its key. A secret found by its shape
// leaves "[redacted:jwt]" and the like. No replacement needs escaping in JSON,
// and none is taken for a secret again.
const (
	mark       = "[redacted]"
	markPrefix = "[redacted"
)

// edit replaces text[start:end] with with.
type edit struct {
	start, end int
	with       string
}

// JSON returns raw with its secrets replaced. The result is valid JSON when raw
// is, and raw itself when it holds nothing to hide.
func JSON(raw json.RawMessage) json.RawMessage {
	if !suspect(raw) {
		return raw
	}
	return apply(raw, jsonEdits(raw, suspect))
}

// MayHold says whether a piece of JSON, of which the rest is dropped, may hold a
// secret. Where it is not the last piece it ends within a string; a secret of it is not
// missed where MarginBytes follow its beginning. JSON that may is for JSON to redact,
// and whole.
func MayHold(piece []byte, last bool) bool {
	// The name of a value may come after it, in JSON in a string; all else that gives a
	// secret away comes before it or in its first bytes.
	return suspect(piece) || !last && bytes.Contains(piece, []byte(`alue\`))
}

// MarginBytes is how far what gives a secret away may be from its beginning.
const MarginBytes = 4 << 10

// jsonEdits looks only at those strings that filter holds for.
func jsonEdits(raw []byte, filter filter) []edit {
	edits, ok := walkJSON(raw, 0, filter)
	if !ok {
		return scanText(raw)
	}
	return edits
}

// Text returns s with its secrets replaced; s may be prose, a command line, a
// header block or JSON.
func Text(s string) string {
	text := []byte(s)
	if !suspect(text) {
		return s
	}
	edits := scanString(text, 0, suspect)
	if len(edits) == 0 {
		return s
	}
	return string(apply(text, edits))
}

// Args returns a command line with its secrets replaced: what Text finds in each
// word, and the word that follows a flag such as --api-key.
func Args(words []string) []string {
	out := slices.Clone(words)
	for i, word := range out {
		if i > 0 && namesSecretFlag(words[i-1]) && !isFlag(word) {
			out[i] = mark
			continue
		}
		out[i] = Text(word)
	}
	return out
}

// apply makes the edits, which are in order and do not overlap.
func apply(text []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return text
	}
	out := make([]byte, 0, len(text)+len(mark)*len(edits))
	done := 0
	for _, e := range edits {
		out = append(out, text[done:e.start]...)
		out = append(out, e.with...)
		done = e.end
	}
	return append(out, text[done:]...)
}
