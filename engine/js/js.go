// Package js writes small pieces of JavaScript as a person would: strings,
// templates, objects and arrays. What it writes, a body may hold anywhere; it
// never evaluates anything.
package js

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

// Quote writes a JavaScript string. JSON's form is one, but for __proto__ in
// keys, which property sees to.
func Quote(text string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	// A string always encodes.
	if err := enc.Encode(text); err != nil {
		return `""`
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// IsIdentifier tells names that need no quotes.
func IsIdentifier(name string) bool { return identifier.MatchString(name) }

// property writes a key of an object literal. A plain __proto__ would set the
// prototype instead of a property.
func property(key string) string {
	switch {
	case key == "__proto__":
		return `["__proto__"]`
	case identifier.MatchString(key):
		return key
	}
	return Quote(key)
}

// Access writes the reading of a property.
func Access(object, key string) string {
	if identifier.MatchString(key) {
		return object + "." + key
	}
	return object + "[" + Quote(key) + "]"
}

// Part is a piece of a string: literal text, or an expression.
type Part struct {
	Text string
	Expr string // empty for literal text
}

// Template writes the pieces as one JavaScript expression. A text of
// several lines becomes a joined list, which is how a person would keep it
// readable.
func Template(parts []Part, indent string) string {
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

func splitLines(parts []Part) [][]Part {
	lines := [][]Part{nil}
	for _, p := range parts {
		if p.Expr != "" {
			lines[len(lines)-1] = append(lines[len(lines)-1], p)
			continue
		}
		for i, text := range strings.Split(p.Text, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if text != "" {
				lines[len(lines)-1] = append(lines[len(lines)-1], Part{Text: text})
			}
		}
	}
	return lines
}

func oneLine(parts []Part) string {
	switch {
	case len(parts) == 0:
		return `""`
	case len(parts) == 1 && parts[0].Expr == "":
		return Quote(parts[0].Text)
	}
	var out strings.Builder
	out.WriteByte('`')
	for _, p := range parts {
		if p.Expr != "" {
			out.WriteString("${" + p.Expr + "}")
			continue
		}
		// Quote escapes what a line may not hold; the rest is a template's own.
		inner := Quote(p.Text)
		inner = strings.ReplaceAll(inner[1:len(inner)-1], `\"`, `"`)
		inner = strings.ReplaceAll(inner, "`", "\\`")
		out.WriteString(strings.ReplaceAll(inner, "${", "\\${"))
	}
	out.WriteByte('`')
	return out.String()
}

// Member is one property of an object literal.
type Member struct{ Key, Expr string }

// Object writes an object on one line, or on several when it is long.
func Object(members []Member, indent string) string {
	if len(members) == 0 {
		return "{}"
	}
	var fields []string
	for _, m := range members {
		fields = append(fields, property(m.Key)+": "+m.Expr)
	}
	return bracket("{ ", " }", "{", "}", fields, indent)
}

// Array writes an array on one line, or on several when it is long.
func Array(elements []string, indent string) string {
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

// Literal writes a recorded value.
func Literal(n *value.Node, indent string) string {
	switch n.Kind {
	case value.String:
		return Quote(n.Text)
	case value.Number, value.Bool:
		return n.Text
	case value.Array:
		var elements []string
		for _, item := range n.Items {
			elements = append(elements, Literal(item, indent+"  "))
		}
		return Array(elements, indent)
	case value.Object:
		var members []Member
		for i, key := range n.Keys {
			members = append(members, Member{key, Literal(n.Items[i], indent+"  ")})
		}
		return Object(members, indent)
	}
	return "null"
}
