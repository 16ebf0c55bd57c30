package hosts

import (
	"bytes"
	"fmt"

	"github.com/bir-run/bir/control/hosts/journal"
	"github.com/bir-run/bir/control/hosts/jsonedit"
	"github.com/bir-run/bir/control/hosts/patch"
)

// addLine adds an entry to a list at its end, unless it is there.
func addLine(text []byte, op Op) (step, bool, error) {
	if op.Kind != journal.Add {
		return step{}, false, fmt.Errorf("%w: no %s in a list of lines", jsonedit.ErrShape, op.Kind)
	}
	line := last(op.Path)
	if _, _, there := findLine(text, line); there {
		return step{}, false, nil
	}
	end := "\n"
	if bytes.HasSuffix(text, []byte("\r\n")) {
		end = "\r\n"
	}
	entry := line + end
	if len(text) > 0 && text[len(text)-1] != '\n' {
		entry = end + entry
	}
	return finish(text, []patch.Edit{{At: len(text), New: entry}}, journal.Change{Kind: op.Kind, Path: op.Path, Value: op.Value})
}

// cutLine takes an entry out of a list.
func cutLine(text []byte, line string) []byte {
	from, to, there := findLine(text, line)
	if !there {
		return text
	}
	return append(bytes.Clone(text[:from]), text[to:]...)
}

// findLine is where an entry stands, its line end included.
func findLine(text []byte, line string) (from, to int, there bool) {
	for piece := range bytes.Lines(text) {
		to = from + len(piece)
		if string(bytes.TrimRight(piece, "\r\n")) == line {
			return from, to, true
		}
		from = to
	}
	return 0, 0, false
}
