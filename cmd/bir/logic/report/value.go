package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

const (
	lineWidth = 80
	maxShown  = 200 // lines of one value
)

// Pretty writes a value on one line where it fits, else indented, and at length
// only its beginning.
func Pretty(value json.RawMessage) string {
	if len(value) <= lineWidth {
		return Visible(string(value))
	}
	lines := split(value)
	if len(lines) > maxShown {
		lines = append(lines[:maxShown:maxShown], fmt.Sprintf("… and %d more lines", len(lines)-maxShown))
	}
	return strings.Join(lines, "\n")
}

// Visible writes control characters out: what a body prints must not steer the
// terminal of who reads it.
func Visible(s string) string {
	var out strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// split is a value over several lines.
func split(value json.RawMessage) []string {
	var out bytes.Buffer
	if json.Indent(&out, value, "", "  ") != nil {
		return []string{Visible(string(value))}
	}
	return strings.Split(Visible(out.String()), "\n")
}

// sorted is a value with the keys of its objects in order, and its numbers as they
// are written, so that two of them can be compared by their lines.
func sorted(value json.RawMessage) []string {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return []string{string(value)}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return []string{string(value)}
	}
	return split(bytes.TrimRight(out.Bytes(), "\n"))
}

const (
	maxCompared = 2000 // lines of each value
	context     = 2    // equal lines shown around a difference
)

// Diff is how two values differ, by lines: those of the first begin with "- ",
// those of the second with "+ ".
func Diff(want, got json.RawMessage) []string {
	a, b := sorted(want), sorted(got)
	if len(a) > maxCompared || len(b) > maxCompared {
		return []string{"- " + Pretty(want), "+ " + Pretty(got)}
	}
	return shorten(merge(a, b, common(a, b)))
}

// common gives for every pair of suffixes how many lines they have in common.
func common(a, b []string) [][]int {
	table := make([][]int, len(a)+1)
	table[len(a)] = make([]int, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		table[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}

func merge(a, b []string, table [][]int) []string {
	var out []string
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && table[i+1][j] >= table[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	return out
}

// shorten leaves out equal lines that are far from a difference.
func shorten(lines []string) []string {
	near := make([]bool, len(lines))
	for i, line := range lines {
		if !strings.HasPrefix(line, " ") {
			for k := max(0, i-context); k < min(len(lines), i+context+1); k++ {
				near[k] = true
			}
		}
	}
	var out []string
	for i, line := range lines {
		switch {
		case near[i]:
			out = append(out, line)
		case i > 0 && near[i-1] || len(out) == 0:
			out = append(out, "  …")
		}
	}
	return out
}
