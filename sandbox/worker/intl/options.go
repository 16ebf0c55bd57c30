package intl

import (
	"fmt"
	"math"
	"slices"
)

// Options are what a caller asks for by name. An implementation converts as
// JavaScript does, and may panic with what a getter throws.
type Options interface {
	Text(name string) (string, bool)
	Number(name string) (float64, bool)
	Truth(name string) (value, ok bool)

	// IsTrue tells whether the value is true itself, and not one that counts as it.
	IsTrue(name string) bool
}

// Request is what a format is made for.
type Request struct {
	Locales []string // canonical tags, the best one first
	Options Options  // nil for none
	By      string   // who asks, for errors; the constructor if empty
}

func (q Request) reader(constructor string) *reader {
	r := &reader{from: q.Options, of: constructor}
	if r.from == nil {
		r.from = noOptions{}
	}
	if q.By != "" {
		r.of = q.By
	}
	return r
}

// reader reads options; after the first bad one it reads no more.
type reader struct {
	from Options
	of   string // the constructor, for messages
	err  *Error
}

// choice is one of the allowed values.
func (r *reader) choice(name, fallback string, allowed ...string) string {
	text, ok := r.text(name)
	if !ok {
		return fallback
	}
	if !slices.Contains(allowed, text) {
		r.fail(rangeError(fmt.Sprintf("Value %s out of range for %s options property %s", text, r.of, name)))
		return fallback
	}
	return text
}

func (r *reader) text(name string) (string, bool) {
	if r.err != nil {
		return "", false
	}
	return r.from.Text(name)
}

// number is a whole number within bounds; -1 if there is none.
func (r *reader) number(name string, least, most int) int {
	if r.err != nil {
		return -1
	}
	value, ok := r.from.Number(name)
	if !ok {
		return -1
	}
	if math.IsNaN(value) || value < float64(least) || value > float64(most) {
		r.fail(rangeError(name + " value is out of range."))
		return -1
	}
	return int(math.Floor(value))
}

func (r *reader) truth(name string) (value, ok bool) {
	if r.err != nil {
		return false, false
	}
	return r.from.Truth(name)
}

func (r *reader) fail(err *Error) {
	if r.err == nil {
		r.err = err
	}
}

// matcher reads the option that every constructor reads first.
func (r *reader) matcher() { r.choice("localeMatcher", "best fit", "lookup", "best fit") }

// noOptions asks for nothing.
type noOptions struct{}

func (noOptions) Text(string) (string, bool)    { return "", false }
func (noOptions) Number(string) (float64, bool) { return 0, false }
func (noOptions) Truth(string) (value, ok bool) { return false, false }
func (noOptions) IsTrue(string) bool            { return false }
