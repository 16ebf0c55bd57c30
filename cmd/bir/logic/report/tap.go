package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/bir-run/bir/sandbox/cases"
)

// tap is the Test Anything Protocol, version 14.
type tap struct {
	w     io.Writer
	total int
	done  int
}

func (t *tap) Case(o cases.Outcome) error {
	if t.done == 0 {
		t.plan()
	}
	t.done++
	word := "ok"
	if !o.OK {
		word = "not ok"
	}
	if _, err := fmt.Fprintf(t.w, "%s %d - %s # time=%.3fms\n", word, t.done, described(o.ID), o.DurationMS); err != nil {
		return err
	}
	if o.OK {
		return nil
	}
	fmt.Fprintf(t.w, "  ---\n  message: %s\n", quoted(reason(o)))
	if o.Error != nil {
		fmt.Fprintf(t.w, "  type: %s\n  line: %d\n  column: %d\n", o.Error.Type, o.Error.Line, o.Error.Column)
	}
	if expect := o.Case.Expect; expect != nil && expect.Value != nil {
		fmt.Fprintf(t.w, "  expected: %s\n", quoted(string(expect.Value)))
	}
	if o.Value != nil {
		fmt.Fprintf(t.w, "  found: %s\n", quoted(string(o.Value)))
	}
	_, err := fmt.Fprintln(t.w, "  ...")
	return err
}

func (t *tap) plan() { fmt.Fprintf(t.w, "TAP version 14\n1..%d\n", t.total) }

func (t *tap) End() error {
	if t.done == 0 {
		t.plan()
	}
	return nil
}

// described is an id in which nothing has a meaning for the protocol.
func described(id string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", `\`, `\\`, "#", `\#`).Replace(id)
}

// quoted is a text as YAML reads it: JSON is YAML.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""` // a string marshals
	}
	return string(text)
}
