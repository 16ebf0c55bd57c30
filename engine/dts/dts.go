// Package dts writes TypeScript declarations of what a body sees, inferred from
// recorded values: an editor then completes and checks bodies. It reads values and
// writes text; it evaluates nothing.
package dts

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/bir-run/bir/engine/js"
	"github.com/bir-run/bir/engine/value"
)

// Variable is a name that a body sees, with what it held in the recording.
type Variable struct {
	Name   string
	Doc    string // one sentence
	Sample json.RawMessage
	Type   string // instead of the inferred type
}

// Alias is a named type of a value that bodies make themselves, such as what they
// parse out of a text.
type Alias struct {
	Name   string
	Doc    string
	Sample json.RawMessage
}

// File is one declaration file.
type File struct {
	Comment   []string // lines at the top
	Aliases   []Alias
	Variables []Variable
}

// Write gives the text of the file.
func (f File) Write() (string, error) {
	var out strings.Builder
	for _, line := range f.Comment {
		out.WriteString(strings.TrimRight("// "+line, " ") + "\n")
	}
	for _, a := range f.Aliases {
		inferred, err := infer(a.Sample)
		if err != nil {
			return "", fmt.Errorf("type %s: %w", a.Name, err)
		}
		fmt.Fprintf(&out, "\n%stype %s = %s;\n", doc(a.Doc), a.Name, inferred)
	}
	for _, v := range f.Variables {
		typ := v.Type
		if typ == "" {
			inferred, err := infer(v.Sample)
			if err != nil {
				return "", fmt.Errorf("variable %s: %w", v.Name, err)
			}
			typ = inferred
		}
		fmt.Fprintf(&out, "\n%sdeclare const %s: %s;\n", doc(v.Doc), v.Name, typ)
	}
	return visible(out.String()), nil
}

// visible writes control characters out: a recorded text must not steer the
// terminal that the file is printed to. They stand in strings and comments only.
func visible(text string) string {
	var out strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

func infer(sample json.RawMessage) (string, error) {
	node, err := value.Parse(sample)
	if err != nil {
		return "", err
	}
	s := &shape{}
	s.add(node)
	return s.write(""), nil
}

func doc(text string) string {
	if text == "" {
		return ""
	}
	return "/** " + strings.ReplaceAll(text, "*/", "*\\/") + " */\n"
}

// write gives the type as TypeScript; lines after the first begin with indent.
func (s *shape) write(indent string) string {
	var members []string
	for _, scalar := range []struct {
		kind value.Kind
		name string
	}{{value.String, "string"}, {value.Number, "number"}, {value.Bool, "boolean"}} {
		if s.seen[scalar.kind] > 0 {
			members = append(members, scalar.name)
		}
	}
	if s.seen[value.Array] > 0 {
		members = append(members, s.element.array(indent))
	}
	if s.seen[value.Object] > 0 {
		members = append(members, s.object(indent))
	}
	if s.seen[value.Null] > 0 {
		members = append(members, "null")
	}
	if len(members) == 0 {
		return "unknown"
	}
	return strings.Join(members, " | ")
}

// array is the type of an array of these; a nil shape is of one that was always
// empty.
func (s *shape) array(indent string) string {
	if s == nil {
		return "unknown[]"
	}
	element := s.write(indent)
	if s.union() {
		element = "(" + element + ")"
	}
	return element + "[]"
}

func (s *shape) object(indent string) string {
	if len(s.keys) == 0 {
		return "Record<string, never>"
	}
	if values := s.dictionary(); values != nil {
		return "{ [key: string]: " + values.write(indent) + " }"
	}
	inner := indent + "  "
	var out strings.Builder
	out.WriteString("{\n")
	for _, key := range s.keys {
		field := s.fields[key]
		optional := ""
		if field.total() < s.seen[value.Object] {
			optional = "?"
		}
		if samples := field.samples(); samples != "" {
			out.WriteString(inner + doc(samples))
		}
		fmt.Fprintf(&out, "%s%s%s: %s;\n", inner, property(key), optional, field.write(inner))
	}
	out.WriteString(indent + "}")
	return out.String()
}

func property(key string) string {
	if js.IsIdentifier(key) {
		return key
	}
	return js.Quote(key)
}
