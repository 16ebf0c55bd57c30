package logic

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/bir-run/bir/cmd/bir/logic/report"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/sandbox/lint"
)

// printFindings shows each finding with its line of the body and a mark below it.
func printFindings(w io.Writer, s linted, found []lint.Finding) {
	for _, f := range found {
		level := string(f.Level)
		if f.Level == lint.Error {
			level = cli.Bad(level)
		}
		fmt.Fprintf(w, "%s:%d:%d  %s  %s  [%s]\n", s.name, f.Line, f.Column, level, report.Visible(f.Message), f.Rule)
		if line, mark, ok := marked(s.Body.Source, f.Line, f.Column); ok {
			fmt.Fprintf(w, "   %s\n   %s\n", line, mark)
		}
		if f.Suggestion != "" {
			fmt.Fprintf(w, "   hint: %s\n", f.Suggestion)
		}
	}
}

const (
	widest    = 100 // characters shown of a line
	leastRoom = 20  // of them before the mark
)

// marked is a line of a body, cut to where its column is, and a mark that stands
// below the column.
func marked(source string, line, column int) (text, mark string, ok bool) {
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(source)
	lines := strings.Split(source, "\n")
	if line < 1 || line > len(lines) || strings.TrimSpace(lines[line-1]) == "" {
		return "", "", false
	}
	runes := []rune(strings.Map(oneColumn, lines[line-1]))
	at := runeAt(runes, column)
	if at > widest-leastRoom {
		from := at - leastRoom
		runes, at = append([]rune("…"), runes[from:]...), leastRoom+1
	}
	if len(runes) > widest {
		runes = append(runes[:widest:widest], '…')
	}
	return strings.TrimRight(string(runes), " "), strings.Repeat(" ", at) + "^", true
}

// oneColumn is what is shown of a character that would move the mark, or steer the
// terminal.
func oneColumn(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsControl(r):
		return '\uFFFD'
	}
	return r
}

// runeAt is the index of the rune at a column, which counts as editors do.
func runeAt(runes []rune, column int) int {
	units := 1
	for i, r := range runes {
		if units >= column {
			return i
		}
		units += max(1, utf16.RuneLen(r))
	}
	return len(runes)
}
