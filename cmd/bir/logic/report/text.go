package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
)

// text is for people.
type text struct {
	w              io.Writer
	total          int
	passed, failed int
}

func (t *text) Case(o cases.Outcome) error {
	word := cli.Good("ok")
	t.passed++
	if !o.OK {
		word = cli.Bad("not ok")
		t.passed, t.failed = t.passed-1, t.failed+1
	}
	memory := ""
	if o.MemoryBytes > 0 {
		memory = fmt.Sprintf(", %.1f MB", float64(o.MemoryBytes)/(1<<20))
	}
	level := ""
	if o.Level == sandbox.LevelWasm { // the slower one explains the time
		level = ", level wasm"
	}
	fmt.Fprintf(t.w, "%s  %s  %.2f ms%s%s\n", word, o.ID, o.DurationMS, memory, level)
	if o.Error != nil {
		fmt.Fprintf(t.w, "   %s: %s\n", o.Error.Type, indented(Visible(o.Error.Error())))
	}
	if o.Difference != "" && o.Error == nil {
		fmt.Fprintf(t.w, "   %s\n", cli.Bad(Visible(o.Difference)))
	}
	t.value(o)
	for _, line := range o.Console {
		fmt.Fprintf(t.w, "   console %s\n", indented(Visible(line)))
	}
	return nil
}

const few = 3 // cases, whose values are shown though they are as expected

// value shows what came back; beside what was expected, if they differ. Of many
// cases that are as expected it would be in the way.
func (t *text) value(o cases.Outcome) {
	expect := o.Case.Expect
	switch {
	case o.Value == nil && expect != nil && expect.Value != nil && !o.OK:
		fmt.Fprintf(t.w, "   expected %s\n", indented(Pretty(expect.Value)))
	case o.Value == nil:
	case !o.OK && expect != nil && expect.Value != nil:
		fmt.Fprintf(t.w, "   %s, %s\n", cli.Bad("- expected"), cli.Good("+ result"))
		for _, line := range Diff(expect.Value, o.Value) {
			fmt.Fprintf(t.w, "   %s\n", coloured(line))
		}
	case t.total <= few || !o.OK || expect == nil:
		fmt.Fprintf(t.w, "   value %s\n", indented(Pretty(o.Value)))
	}
}

func coloured(line string) string {
	switch {
	case strings.HasPrefix(line, "-"):
		return cli.Bad(line)
	case strings.HasPrefix(line, "+"):
		return cli.Good(line)
	}
	return line
}

// indented keeps the lines of a value below its name.
func indented(s string) string { return strings.ReplaceAll(s, "\n", "\n   ") }

func (t *text) End() error {
	if t.total != 1 {
		fmt.Fprintf(t.w, "%d as expected, %d not\n", t.passed, t.failed)
	}
	return nil
}
