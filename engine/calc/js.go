package calc

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/bir-run/bir/engine/value"
)

const lineWidth = 100 // a longer object is written over several lines

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// quote writes a JavaScript string. JSON's form is one, but for __proto__ in
// keys, which property sees to.
func quote(text string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	// A string always encodes.
	if err := enc.Encode(text); err != nil {
		return `""`
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// property writes a key of an object literal. A plain __proto__ would set the
// prototype instead of a property.
func property(key string) string {
	switch {
	case key == "__proto__":
		return `["__proto__"]`
	case identifier.MatchString(key):
		return key
	}
	return quote(key)
}

// access writes the reading of a property.
func access(object, key string) string {
	if identifier.MatchString(key) {
		return object + "." + key
	}
	return object + "[" + quote(key) + "]"
}

// part is a piece of a string: literal text, or an expression.
type part struct {
	text string
	expr string // empty for literal text
}

// templateLiteral writes the pieces as one JavaScript expression. A text of
// several lines becomes a joined list, which is how a person would keep it
// readable.
func templateLiteral(parts []part, indent string) string {
	lines := splitLines(parts)
	if len(lines) < 3 {
		return oneLine(parts)
	}
	var out strings.Builder
	out.WriteString("[\n")
	for _, line := range lines {
		out.WriteString(indent + "  " + oneLine(line) + ",\n")
	}
	out.WriteString(indent + `].join("\n")`)
	return out.String()
}

func splitLines(parts []part) [][]part {
	lines := [][]part{nil}
	for _, p := range parts {
		if p.expr != "" {
			lines[len(lines)-1] = append(lines[len(lines)-1], p)
			continue
		}
		for i, text := range strings.Split(p.text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if text != "" {
				lines[len(lines)-1] = append(lines[len(lines)-1], part{text: text})
			}
		}
	}
	return lines
}

func oneLine(parts []part) string {
	switch {
	case len(parts) == 0:
		return `""`
	case len(parts) == 1 && parts[0].expr == "":
		return quote(parts[0].text)
	}
	var out strings.Builder
	out.WriteByte('`')
	for _, p := range parts {
		if p.expr != "" {
			out.WriteString("${" + p.expr + "}")
			continue
		}
		// quote escapes what a line may not hold; the rest is a template's own.
		inner := quote(p.text)
		inner = strings.ReplaceAll(inner[1:len(inner)-1], `\"`, `"`)
		inner = strings.ReplaceAll(inner, "`", "\\`")
		out.WriteString(strings.ReplaceAll(inner, "${", "\\${"))
	}
	out.WriteByte('`')
	return out.String()
}

// member is one property of an object literal.
type member struct{ key, expr string }

// objectLiteral writes an object on one line, or on several when it is long.
func objectLiteral(members []member, indent string) string {
	if len(members) == 0 {
		return "{}"
	}
	var fields []string
	for _, m := range members {
		fields = append(fields, property(m.key)+": "+m.expr)
	}
	return bracket("{ ", " }", "{", "}", fields, indent)
}

func arrayLiteral(elements []string, indent string) string {
	if len(elements) == 0 {
		return "[]"
	}
	return bracket("[", "]", "[", "]", elements, indent)
}

func bracket(open, end, openLong, endLong string, fields []string, indent string) string {
	line := open + strings.Join(fields, ", ") + end
	if !strings.Contains(line, "\n") && utf8.RuneCountInString(indent+line) <= lineWidth {
		return line
	}
	var out strings.Builder
	out.WriteString(openLong + "\n")
	for _, field := range fields {
		out.WriteString(indent + "  " + field + ",\n")
	}
	out.WriteString(indent + endLong)
	return out.String()
}

// literal writes a recorded value.
func literal(n *value.Node, indent string) string {
	switch n.Kind {
	case value.String:
		return quote(n.Text)
	case value.Number, value.Bool:
		return n.Text
	case value.Array:
		var elements []string
		for _, item := range n.Items {
			elements = append(elements, literal(item, indent+"  "))
		}
		return arrayLiteral(elements, indent)
	case value.Object:
		var members []member
		for i, key := range n.Keys {
			members = append(members, member{key, literal(n.Items[i], indent+"  ")})
		}
		return objectLiteral(members, indent)
	}
	return "null"
}
