package proof

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/bir-run/bir/engine/value"
)

// kinds are the types of leaves that are changed.
type kinds int

const (
	numbers kinds = 1 << iota
	texts
	bools
)

// mark is what a changed text ends with. It is on every line, so that a body
// which picks one line sees it too.
const mark = "-changed"

// perturb changes every leaf of the given kinds and keeps the shape.
func perturb(raw json.RawMessage, k kinds) json.RawMessage {
	root, err := value.Parse(raw)
	if err != nil || k == 0 {
		return raw
	}
	var out strings.Builder
	write(&out, root, k)
	return json.RawMessage(out.String())
}

// perturbText changes an output. JSON inside its strings is changed leaf by leaf
// as well, since that is what bodies parse.
func perturbText(text string, k kinds) string {
	if k == 0 {
		return text
	}
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if root, err := value.Parse([]byte(text)); err == nil {
			var out strings.Builder
			write(&out, root, k)
			return out.String()
		}
	}
	if k&texts == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" || len(lines) == 1 {
			lines[i] = line + mark
		}
	}
	return strings.Join(lines, "\n")
}

func write(out *strings.Builder, n *value.Node, k kinds) {
	switch n.Kind {
	case value.Object:
		out.WriteByte('{')
		for i, key := range n.Keys {
			separate(out, i)
			out.WriteString(quote(key) + ":")
			write(out, n.Items[i], k)
		}
		out.WriteByte('}')
	case value.Array:
		out.WriteByte('[')
		for i, item := range n.Items {
			separate(out, i)
			write(out, item, k)
		}
		out.WriteByte(']')
	case value.String:
		out.WriteString(quote(perturbText(n.Text, k)))
	case value.Number:
		out.WriteString(changedNumber(n.Text, k))
	case value.Bool:
		out.WriteString(strconv.FormatBool((n.Text == "true") != (k&bools != 0)))
	default:
		out.WriteString("null")
	}
}

// changedNumber keeps the order of numbers, so that a body which picks the
// largest picks the same element and shows that its value has changed.
func changedNumber(text string, k kinds) string {
	f, err := strconv.ParseFloat(text, 64)
	if k&numbers == 0 || err != nil {
		return text
	}
	return strconv.FormatFloat(f+1, 'f', -1, 64)
}

func separate(out *strings.Builder, i int) {
	if i > 0 {
		out.WriteByte(',')
	}
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return `""` // a string marshals
	}
	return string(quoted)
}
