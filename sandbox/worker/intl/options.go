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

// Reader reads the options for a constructor.
func (q Request) Reader(constructor string) *Reader {
	r := &Reader{from: q.Options, of: constructor}
	if r.from == nil {
		r.from = noOptions{}
	}
	if q.By != "" {
		r.of = q.By
	}
	return r
}

// Reader reads options; after the first bad one it reads no more.
type Reader struct {
	from Options
	of   string // the constructor, for messages
	Err  *Error
}

// Choice is one of the allowed values.
func (r *Reader) Choice(name, fallback string, allowed ...string) string {
	text, ok := r.Text(name)
	if !ok {
		return fallback
	}
	if !slices.Contains(allowed, text) {
		r.Fail(RangeError(fmt.Sprintf("Value %s out of range for %s options property %s", text, r.of, name)))
		return fallback
	}
	return text
}

// Text is an option as text.
func (r *Reader) Text(name string) (string, bool) {
	if r.Err != nil {
		return "", false
	}
	return r.from.Text(name)
}

// Number is a whole number within bounds; -1 if there is none.
func (r *Reader) Number(name string, least, most int) int {
	if r.Err != nil {
		return -1
	}
	value, ok := r.from.Number(name)
	if !ok {
		return -1
	}
	if math.IsNaN(value) || value < float64(least) || value > float64(most) {
		r.Fail(RangeError(name + " value is out of range."))
		return -1
	}
	return int(math.Floor(value))
}

// Truth is whether an option counts as true.
func (r *Reader) Truth(name string) (value, ok bool) {
	if r.Err != nil {
		return false, false
	}
	return r.from.Truth(name)
}

// Fail notes the first error.
func (r *Reader) Fail(err *Error) {
	if r.Err == nil {
		r.Err = err
	}
}

// Matcher reads the option that every constructor reads first.
func (r *Reader) Matcher() { r.Choice("localeMatcher", "best fit", "lookup", "best fit") }

// noOptions asks for nothing.
type noOptions struct{}

func (noOptions) Text(string) (string, bool)    { return "", false }
func (noOptions) Number(string) (float64, bool) { return 0, false }
func (noOptions) Truth(string) (value, ok bool) { return false, false }
func (noOptions) IsTrue(string) bool            { return false }

// Numbering reads the option; digits other than 0 to 9 are not to be had.
func (r *Reader) Numbering() {
	if system, ok := r.Text("numberingSystem"); ok && system != "latn" {
		r.Fail(noNumbering(system))
	}
}

func noNumbering(system string) *Error {
	return RangeError(fmt.Sprintf("The numbering system %s is not available to bodies", system))
}

// Has tells whether one of the options is given.
func (r *Reader) Has(names ...string) bool {
	return r.Err == nil && slices.ContainsFunc(names, func(name string) bool {
		_, ok := r.from.Number(name)
		return ok
	})
}

// IsTrue tells whether an option is true itself.
func (r *Reader) IsTrue(name string) bool { return r.Err == nil && r.from.IsTrue(name) }
