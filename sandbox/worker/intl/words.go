package intl

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// ListFormat joins items.
type ListFormat struct {
	locale      *Locale
	kind, style string
}

// NewListFormat is the constructor Intl.ListFormat.
func NewListFormat(q Request) (*ListFormat, *Error) {
	r := q.reader("Intl.ListFormat")
	f := &ListFormat{}
	r.matcher()
	f.kind = r.choice("type", "conjunction", "conjunction", "disjunction", "unit")
	f.style = r.choice("style", "long", "long", "short", "narrow")
	if r.err != nil {
		return nil, r.err
	}
	var err *Error
	f.locale, err = Resolve(q.Locales)
	return f, err
}

// Resolved are the options in effect.
func (f *ListFormat) Resolved() []Resolved {
	return []Resolved{{"locale", f.locale.Tag}, {"type", f.kind}, {"style", f.style}}
}

// Parts joins items in pieces.
func (f *ListFormat) Parts(items []string) []Part {
	between := f.locale.data.Lists[f.kind+" "+f.style]
	var out []Part
	for i, item := range items {
		text := ""
		switch {
		case i == 0:
		case len(items) == 2:
			text = f.adapted(between[0], item)
		case i == 1:
			text = between[1]
		case i == len(items)-1:
			text = f.adapted(between[3], item)
		default:
			text = between[2]
		}
		if text != "" {
			out = append(out, Part{"literal", text})
		}
		out = append(out, Part{"element", item})
	}
	return out
}

// Spanish says e for y before that sound, and u for o.
var (
	soundsLikeY = regexp.MustCompile(`^(?i:i|hi[^ae]|hi$)`)
	soundsLikeO = regexp.MustCompile(`^(?i:o|ho|8|11($|\D))`)
)

func (f *ListFormat) adapted(between, next string) string {
	if f.locale.language() != "es" {
		return between
	}
	switch {
	case f.kind != "disjunction" && soundsLikeY.MatchString(next):
		return strings.Replace(between, " y ", " e ", 1)
	case f.kind == "disjunction" && soundsLikeO.MatchString(next):
		return strings.Replace(between, " o ", " u ", 1)
	}
	return between
}

// RelativeTimeFormat says how far off a time is.
type RelativeTimeFormat struct {
	locale *Locale
	style  string
	auto   bool
	number *NumberFormat
}

// NewRelativeTimeFormat is the constructor Intl.RelativeTimeFormat.
func NewRelativeTimeFormat(q Request) (*RelativeTimeFormat, *Error) {
	r := q.reader("Intl.RelativeTimeFormat")
	f := &RelativeTimeFormat{}
	r.matcher()
	r.numbering()
	f.style = r.choice("style", "long", "long", "short", "narrow")
	f.auto = r.choice("numeric", "always", "always", "auto") == "auto"
	if r.err != nil {
		return nil, r.err
	}
	var err *Error
	if f.locale, err = Resolve(q.Locales, "nu"); err != nil {
		return nil, err
	}
	f.number, err = NewNumberFormat(Request{Locales: []string{f.locale.Tag}})
	return f, err
}

// Resolved are the options in effect.
func (f *RelativeTimeFormat) Resolved() []Resolved {
	numeric := "always"
	if f.auto {
		numeric = "auto"
	}
	return []Resolved{{"locale", f.locale.Tag}, {"style", f.style}, {"numeric", numeric}, {"numberingSystem", "latn"}}
}

// RelativePart is a Part that names the unit it counts.
type RelativePart struct {
	Part
	Unit string
}

// Parts says value units from now, in pieces. of names the caller in errors.
func (f *RelativeTimeFormat) Parts(value float64, unit, of string) ([]RelativePart, *Error) {
	n := FromFloat(value)
	if n.nan || n.huge {
		return nil, rangeError("Value need to be finite number for Intl.RelativeTimeFormat.prototype." + of + "()")
	}
	singular := strings.TrimSuffix(unit, "s")
	patterns, ok := f.locale.data.Relative[singular+" "+f.style]
	if !ok || singular == "" {
		return nil, rangeError(fmt.Sprintf("Invalid unit argument for Intl.RelativeTimeFormat.prototype.%s() '%s'", of, unit))
	}
	if named, ok := patterns.Named[strconv.FormatFloat(value+0, 'f', -1, 64)]; ok && f.auto {
		return []RelativePart{{Part: Part{"literal", named}}}, nil
	}
	direction := patterns.Future
	if n.negative {
		direction = patterns.Past
	}
	n.negative = false
	w := f.number.write(n)
	var out []RelativePart
	for _, p := range w.layout(pick(direction, cardinal(f.locale.pluralLanguage(), w.operands))) {
		part := RelativePart{Part: p}
		if p.Type != "literal" {
			part.Unit = singular
		}
		out = append(out, part)
	}
	return out, nil
}
