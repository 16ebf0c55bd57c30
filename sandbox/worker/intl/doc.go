// Package intl gives the answers of JavaScript's Intl for the locales that it has data
// for, without an engine: package worker puts it behind the objects of that name. It
// follows Node, down to the messages of its errors. What it has no data for is an
// error that says so: it must never answer for one locale with another's form.
package intl

// Error is what JavaScript code sees thrown.
type Error struct {
	Kind    string // RangeError or TypeError
	Message string
}

func (e *Error) Error() string { return e.Kind + ": " + e.Message }

// RangeError is an error of that kind.
func RangeError(message string) *Error { return &Error{"RangeError", message} }

// TypeError is an error of that kind.
func TypeError(message string) *Error { return &Error{"TypeError", message} }

// Part is a piece of a formatted text, as formatToParts gives it.
type Part struct {
	Type, Value string
}

// Text joins parts.
func Text(parts []Part) string {
	n := 0
	for _, p := range parts {
		n += len(p.Value)
	}
	b := make([]byte, 0, n)
	for _, p := range parts {
		b = append(b, p.Value...)
	}
	return string(b)
}

// Resolved is one of the options that resolvedOptions lists.
type Resolved struct {
	Name  string
	Value any // string, int, bool or []string
}
