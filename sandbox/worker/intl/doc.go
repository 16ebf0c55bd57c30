// Package intl gives the answers of JavaScript's Intl for the locales that it has data
// for, without an engine: package worker puts it behind the objects of that name. It
// follows Node, down to the messages of its errors. What it has no data for is an
// error that says so: it must never answer for one locale with another's form.
//
// This package holds what they share: locales, options, parts. Those that write are
// numbers, dates and collation; the data are in cldr.
//
// Why is a locale an error that Node has and we lack, while one that Node lacks too is
// en-US? Because that is Node's answer. There are data for en, de, fr, es, ja, it, nl,
// pt and sv with the regions that are met most; the file names in cldr/data say which.
//
// Why are these refused? Other digits, calendars and collations, ranges (formatRange),
// Intl.Locale, DisplayNames and Segmenter: no data. Hours to 24 where a language has
// none, times with a gap between their fields, long offsets beside a date and seconds:
// ICU picks among patterns that do not fit, and what it picks cannot be told from
// tables. Names of a zone for years when it had another offset: data of today only.
//
// Where do orders still differ? Package collate has older tables: characters of
// Unicode 6.3 and later, and in numeric order fractions and raised digits (½, ²).
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
