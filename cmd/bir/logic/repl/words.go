package repl

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// path is what can be completed without evaluating: names, keys and indices.
var path = regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*|\[\d+\])*\.?$`)

// Complete gives what is missing at the end of a line, as far as only one way to
// go on is known.
func (s *Session) Complete(line string) string {
	typed := path.FindString(line)
	cut := strings.LastIndexByte(typed, '.')
	if cut < 0 {
		return common(typed, s.names())
	}
	value, ok := s.at(typed[:cut])
	if !ok {
		return ""
	}
	var keys []string
	value.ForEach(func(key, _ gjson.Result) bool {
		if value.IsObject() {
			keys = append(keys, key.String())
		}
		return true
	})
	return common(typed[cut+1:], keys)
}

func (s *Session) names() []string {
	names := []string{"JSON.parse(", "JSON.stringify(", "Object.keys(", "console.log("}
	for _, v := range s.values {
		names = append(names, v.Name)
	}
	for _, d := range s.kept {
		if d.name != "" {
			names = append(names, d.name)
		}
	}
	return names
}

// at follows a path from one of the session's values.
func (s *Session) at(typed string) (gjson.Result, bool) {
	steps := strings.FieldsFunc(typed, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	var value gjson.Result
	for _, v := range s.values {
		if v.Name == steps[0] && json.Valid(v.Value) {
			value = gjson.ParseBytes(v.Value)
		}
	}
	for _, step := range steps[1:] {
		value = value.Get(gjson.Escape(step))
	}
	return value, value.Exists()
}

// common is what all words that begin with typed have next.
func common(typed string, words []string) string {
	rest, found := "", false
	for _, word := range words {
		more, ok := strings.CutPrefix(word, typed)
		switch {
		case !ok:
		case !found:
			rest, found = more, true
		default:
			n := 0
			for n < len(rest) && n < len(more) && rest[n] == more[n] {
				n++
			}
			rest = strings.ToValidUTF8(rest[:n], "")
		}
	}
	return rest
}
