package recorder

import (
	"strings"

	"github.com/google/uuid"
)

// NewID makes a prefixed UUIDv7: NewID("run") gives "run_0192...". Ids sort by
// the time they were made, to the millisecond.
func NewID(prefix string) string {
	return prefix + "_" + uuid.Must(uuid.NewV7()).String()
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
