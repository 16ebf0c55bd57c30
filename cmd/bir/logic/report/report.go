// Package report shows how cases ended: for people, as lines of JSON, and in the
// two forms that continuous integration reads. It judges nothing.
package report

import (
	"fmt"
	"io"

	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/sandbox/cases"
)

// Reporter shows outcomes one by one.
type Reporter interface {
	// Case shows one outcome.
	Case(cases.Outcome) error
	// End shows what belongs behind the last one.
	End() error
}

// Format names a form.
type Format string

// The forms.
const (
	Text  Format = "text"
	JSON  Format = "json"
	TAP   Format = "tap"
	JUnit Format = "junit"
)

// New makes a reporter of so many cases.
func New(format Format, w io.Writer, total int) (Reporter, error) {
	switch format {
	case Text:
		return &text{w: w, total: total}, nil
	case JSON:
		return lines{w}, nil
	case TAP:
		return &tap{w: w, total: total}, nil
	case JUnit:
		return &junit{w: w}, nil
	}
	return nil, cli.Usage("--format is %q, want text, json, tap or junit", format)
}

// lines prints an object a case, a line each.
type lines struct{ w io.Writer }

func (l lines) Case(o cases.Outcome) error { return cli.JSONLine(l.w, o) }
func (l lines) End() error                 { return nil }

// reason says in one line why an outcome is not as expected.
func reason(o cases.Outcome) string {
	switch {
	case o.Difference != "":
		return o.Difference
	case o.Error != nil:
		return fmt.Sprintf("%s: %s", o.Error.Type, o.Error)
	}
	return ""
}
