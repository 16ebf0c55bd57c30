package recorder

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// NewID makes a prefixed UUIDv7: NewID("run") gives "run_0192...". Ids sort by
// the time they were made, to the millisecond.
func NewID(prefix string) string {
	id := uuid.Must(uuid.NewV7FromReader(&random))
	text := append(append(make([]byte, 0, 48), prefix...), '_')
	for i, group := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, group)
	}
	return string(text)
}

// random reads ahead: each id would be a system call otherwise, and a recorded call
// has three of them.
var random readAhead

type readAhead struct {
	mu   sync.Mutex // guards what follows
	rest []byte
}

// Read implements io.Reader.
func (r *readAhead) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rest) < len(p) {
		r.rest = make([]byte, max(512, len(p)))
		_, _ = rand.Read(r.rest) // documented never to fail
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// QualifiedName renders a tool as Claude Code shows it to the model,
// "mcp__<server>__<tool>", with every character it does not allow as "_".
func QualifiedName(server, tool string) string {
	return "mcp__" + normalise(server) + "__" + normalise(tool)
}

func normalise(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}
