// Package cli is how the commands speak: exit codes, errors with a hint, tables
// and JSON. It knows nothing of what they do.
package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
)

// Exit codes of every command, as their help says.
const (
	ExitOK     = 0 // done, or all as expected
	ExitFailed = 1 // refused, not found, or not as expected
	ExitUsage  = 2 // the command line or an input file is wrong
)

// ExitCodes is the paragraph that every command's help ends with.
const ExitCodes = "Exit codes: 0 done or as expected, 1 refused, not found or not as expected, 2 usage."

// Streams are a command's standard streams.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Error carries the exit code, and what to do next, to main.
type Error struct {
	Code int
	Hint string
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Usage is an error about the command line or an input file.
func Usage(format string, args ...any) error {
	return &Error{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// Failed is an error about what was asked for, not how.
func Failed(format string, args ...any) error {
	return &Error{Code: ExitFailed, Err: fmt.Errorf(format, args...)}
}

// Hint adds what to do next to an error.
func Hint(err error, format string, args ...any) error {
	return &Error{Code: CodeOf(err), Hint: fmt.Sprintf(format, args...), Err: err}
}

// ErrSilent fails a command that has already said why.
var ErrSilent = errors.New("failed")

// CodeOf is the exit code for err.
func CodeOf(err error) int {
	var e *Error
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &e):
		return e.Code
	}
	return ExitFailed
}

// Report prints err as people read it.
func Report(w io.Writer, err error) {
	if err == nil || errors.Is(err, ErrSilent) {
		return
	}
	fmt.Fprintf(w, "bir: %s\n", err)
	var e *Error
	if errors.As(err, &e) && e.Hint != "" {
		fmt.Fprintf(w, "hint: %s\n", e.Hint)
	}
}

// ReadInput reads the file that a flag or argument names, or in for "-". what says
// in the error what was wanted: "the body".
func ReadInput(in io.Reader, what, path string) ([]byte, error) {
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(in)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, Usage("read %s: %w", what, err)
	}
	return text, nil
}

// JSON prints v as indented JSON, HTML characters unescaped.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// JSONLine prints v as one line of JSON.
func JSONLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Table prints rows under a header, colours only where w shows them.
func Table(w io.Writer, header []string, rows [][]string) {
	head := lipgloss.NewStyle().Bold(true).PaddingRight(2)
	cell := lipgloss.NewStyle().PaddingRight(2)
	t := table.New().
		Border(lipgloss.HiddenBorder()).BorderTop(false).BorderBottom(false).
		BorderLeft(false).BorderRight(false).BorderColumn(false).BorderHeader(false).
		Headers(header...).Rows(rows...).Wrap(false).
		StyleFunc(func(row, _ int) lipgloss.Style {
			if row == table.HeaderRow {
				return head
			}
			return cell
		})
	for line := range strings.Lines(t.String() + "\n") {
		lipgloss.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

// List is what a list command found.
type List struct {
	JSON   any    // all of it, for scripts
	None   string // said in place of a table without rows; empty: the header is all
	Header []string
	Rows   [][]string
}

// Print prints the list as JSON or as a table.
func (l List) Print(w io.Writer, asJSON bool) error {
	switch {
	case asJSON:
		return JSON(w, l.JSON)
	case len(l.Rows) == 0 && l.None != "":
		_, err := fmt.Fprintln(w, l.None)
		return err
	}
	Table(w, l.Header, l.Rows)
	return nil
}

// Local is a moment as the user's clock shows it.
func Local(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Title prints a bold line.
func Title(w io.Writer, format string, args ...any) {
	lipgloss.Fprintln(w, lipgloss.NewStyle().Bold(true).Render(fmt.Sprintf(format, args...)))
}

// Good and Bad mark a word as what one hopes for, or not.
func Good(s string) string { return lipgloss.NewStyle().Foreground(lipgloss.Green).Render(s) }

// Bad is the other one.
func Bad(s string) string { return lipgloss.NewStyle().Foreground(lipgloss.Red).Render(s) }

// Head shortens s to n runes on one line, for a table's cell.
func Head(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n-1]) + "…"
}

// Indent puts prefix before every line of s.
func Indent(s, prefix string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		b.WriteString(prefix + line)
	}
	return b.String()
}
