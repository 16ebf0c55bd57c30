package numbers

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/decimal"
)

// ListFormat joins items.
type ListFormat struct {
	locale      *intl.Locale
	kind, style string
}

// NewListFormat is the constructor Intl.ListFormat.
func NewListFormat(q intl.Request) (*ListFormat, *intl.Error) {
	r := q.Reader("Intl.ListFormat")
	f := &ListFormat{}
	r.Matcher()
	f.kind = r.Choice("type", "conjunction", "conjunction", "disjunction", "unit")
	f.style = r.Choice("style", "long", "long", "short", "narrow")
	if r.Err != nil {
		return nil, r.Err
	}
	var err *intl.Error
	f.locale, err = intl.Resolve(q.Locales)
	return f, err
}

// Resolved are the options in effect.
func (f *ListFormat) Resolved() []intl.Resolved {
	return []intl.Resolved{{Name: "locale", Value: f.locale.Tag}, {Name: "type", Value: f.kind}, {Name: "style", Value: f.style}}
}

// Parts joins items in pieces.
func (f *ListFormat) Parts(items []string) []intl.Part {
	between := f.locale.Data.Lists[f.kind+" "+f.style]
	var out []intl.Part
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
			out = append(out, intl.Part{Type: "literal", Value: text})
		}
		out = append(out, intl.Part{Type: "element", Value: item})
	}
	return out
}

// Spanish says e for y before that sound, and u for o.
var (
	soundsLikeY = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i:i|hi[^ae]|hi$)`) })
	soundsLikeO = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?i:o|ho|8|11($|\D))`) })
)

func (f *ListFormat) adapted(between, next string) string {
	if f.locale.Language() != "es" {
		return between
	}
	switch {
	case f.kind != "disjunction" && soundsLikeY().MatchString(next):
		return strings.Replace(between, " y ", " e ", 1)
	case f.kind == "disjunction" && soundsLikeO().MatchString(next):
		return strings.Replace(between, " o ", " u ", 1)
	}
	return between
}

// RelativeTimeFormat says how far off a time is.
type RelativeTimeFormat struct {
	locale *intl.Locale
	style  string
	auto   bool
	number *Format
}

// NewRelativeTimeFormat is the constructor Intl.RelativeTimeFormat.
func NewRelativeTimeFormat(q intl.Request) (*RelativeTimeFormat, *intl.Error) {
	r := q.Reader("Intl.RelativeTimeFormat")
	f := &RelativeTimeFormat{}
	r.Matcher()
	r.Numbering()
	f.style = r.Choice("style", "long", "long", "short", "narrow")
	f.auto = r.Choice("numeric", "always", "always", "auto") == "auto"
	if r.Err != nil {
		return nil, r.Err
	}
	var err *intl.Error
	if f.locale, err = intl.Resolve(q.Locales, "nu"); err != nil {
		return nil, err
	}
	f.number, err = New(intl.Request{Locales: []string{f.locale.Tag}})
	return f, err
}

// Resolved are the options in effect.
func (f *RelativeTimeFormat) Resolved() []intl.Resolved {
	numeric := "always"
	if f.auto {
		numeric = "auto"
	}
	return []intl.Resolved{{Name: "locale", Value: f.locale.Tag}, {Name: "style", Value: f.style}, {Name: "numeric", Value: numeric}, {Name: "numberingSystem", Value: "latn"}}
}

// RelativePart is a intl.Part that names the unit it counts.
type RelativePart struct {
	intl.Part
	Unit string
}

// Parts says value units from now, in pieces. of names the caller in errors.
func (f *RelativeTimeFormat) Parts(value float64, unit, of string) ([]RelativePart, *intl.Error) {
	n := decimal.FromFloat(value)
	if n.NaN || n.Infinite {
		return nil, intl.RangeError("Value need to be finite number for Intl.RelativeTimeFormat.prototype." + of + "()")
	}
	singular := strings.TrimSuffix(unit, "s")
	patterns, ok := f.locale.Data.Relative[singular+" "+f.style]
	if !ok || singular == "" {
		return nil, intl.RangeError(fmt.Sprintf("Invalid unit argument for Intl.RelativeTimeFormat.prototype.%s() '%s'", of, unit))
	}
	if named, ok := patterns.Named[strconv.FormatFloat(value+0, 'f', -1, 64)]; ok && f.auto {
		return []RelativePart{{Part: intl.Part{Type: "literal", Value: named}}}, nil
	}
	direction := patterns.Future
	if n.Negative {
		direction = patterns.Past
	}
	n.Negative = false
	w := f.number.write(n)
	var out []RelativePart
	for _, p := range w.layout(pick(direction, cardinal(pluralLanguage(f.locale), w.operands))) {
		part := RelativePart{Part: p}
		if p.Type != "literal" {
			part.Unit = singular
		}
		out = append(out, part)
	}
	return out, nil
}
