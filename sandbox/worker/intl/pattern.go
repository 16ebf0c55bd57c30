package intl

import "strings"

// Fill turns a pattern into parts: its text as literals, its tokens as of says.
func Fill(pattern string, of func(token string) []Part) []Part {
	var out []Part
	for pattern != "" {
		start := strings.IndexByte(pattern, '{')
		if start < 0 {
			return append(out, Part{"literal", pattern})
		}
		if start > 0 {
			out = append(out, Part{"literal", pattern[:start]})
		}
		end := start + strings.IndexByte(pattern[start:], '}')
		out = append(out, of(pattern[start+1:end])...)
		pattern = pattern[end+1:]
	}
	return out
}
