// Package dates writes times. Its patterns are recorded for every combination of
// fields, not composed from skeletons as ICU does: composing them would need ICU's
// tables and its rules for what fits nearly.
package dates

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
)

// Format writes times.
type Format struct {
	locale               *intl.Locale
	zone                 *zone
	fields               map[string]string // width by field
	fractionDigits       int
	dateStyle, timeStyle string
	hour12               *bool
	cycle                string // h11, h12, h23 or h24, as asked for
	pattern              string
}

// Defaults are the fields of a format that is asked for none.
type Defaults struct {
	Required string // date, time or any: the fields that count as asking
	Fill     string // date, time or all
}

// dateFields and timeFields are in the order of resolvedOptions.
var (
	dateFields = []string{"weekday", "era", "year", "month", "day"}
	timeFields = []string{"dayPeriod", "hour", "minute", "second", "fractionalSecondDigits"}
)

var (
	names   = []string{"narrow", "short", "long"}
	numbers = []string{"2-digit", "numeric"}
	widths  = map[string][]string{
		"weekday": names, "era": names, "dayPeriod": names,
		"year": numbers, "day": numbers, "hour": numbers, "minute": numbers, "second": numbers,
		"month":        {"2-digit", "numeric", "narrow", "short", "long"},
		"timeZoneName": {"short", "long", "shortOffset", "longOffset", "shortGeneric", "longGeneric"},
	}
	styles = []string{"full", "long", "medium", "short"}
	cycles = []string{"h11", "h12", "h23", "h24"}
)

// New is the constructor Intl.DateTimeFormat. defaultZone is that of a
// format that names none.
func New(q intl.Request, defaults Defaults, defaultZone string) (*Format, *intl.Error) {
	r := q.Reader("Intl.DateTimeFormat")
	f := &Format{fields: map[string]string{}}
	r.Matcher()
	readCalendar(r)
	r.Numbering()
	f.readCycle(r)
	f.readZone(r, defaultZone)
	f.readFields(r)
	f.readStyles(r, defaults)
	if r.Err != nil {
		return nil, r.Err
	}
	f.fillIn(defaults)
	var err *intl.Error
	if f.locale, err = intl.Resolve(q.Locales, "ca", "hc", "nu"); err != nil {
		return nil, err
	}
	if err := f.checkExtensions(); err != nil {
		return nil, err
	}
	if f.pattern, err = f.findPattern(); err != nil {
		return nil, err
	}
	return f, nil
}

func readCalendar(r *intl.Reader) {
	if name, ok := r.Text("calendar"); ok && name != "gregory" && name != "iso8601" {
		r.Fail(noCalendar(name))
	}
}

func noCalendar(name string) *intl.Error {
	return intl.RangeError(fmt.Sprintf("The calendar %s is not available to bodies", name))
}

func (f *Format) checkExtensions() *intl.Error {
	if err := f.locale.CheckNumbering(); err != nil {
		return err
	}
	if name := f.locale.Extensions["ca"]; name != "" && name != "gregory" {
		return noCalendar(name)
	}
	if cycle := f.locale.Extensions["hc"]; f.hour12 == nil && f.cycle == "" {
		f.cycle = cycle
	}
	return nil
}

func (f *Format) readCycle(r *intl.Reader) {
	if yes, ok := r.Truth("hour12"); ok {
		f.hour12 = &yes
	}
	f.cycle = r.Choice("hourCycle", "", cycles...)
	if f.hour12 != nil {
		f.cycle = ""
	}
}

func (f *Format) readZone(r *intl.Reader, defaultZone string) {
	name, ok := r.Text("timeZone")
	if r.Err != nil {
		return
	}
	if !ok {
		f.zone = zoneOf(defaultZone)
		return
	}
	canonical, known := canonicalZone(name)
	if !known {
		r.Fail(intl.RangeError("Invalid time zone specified: " + name))
		return
	}
	f.zone = zoneOf(canonical)
}

func (f *Format) readFields(r *intl.Reader) {
	for _, name := range dateFields {
		f.readField(r, name)
	}
	for _, name := range timeFields[:4] {
		f.readField(r, name)
	}
	if n := r.Number("fractionalSecondDigits", 1, 3); n > 0 {
		f.fractionDigits = n
		f.fields["fractionalSecondDigits"] = strconv.Itoa(n)
	}
	f.readField(r, "timeZoneName")
	r.Choice("formatMatcher", "best fit", "basic", "best fit")
}

func (f *Format) readField(r *intl.Reader, name string) {
	if width := r.Choice(name, "", widths[name]...); width != "" {
		f.fields[name] = width
	}
}

func (f *Format) readStyles(r *intl.Reader, defaults Defaults) {
	f.dateStyle = r.Choice("dateStyle", "", styles...)
	f.timeStyle = r.Choice("timeStyle", "", styles...)
	if f.dateStyle == "" && f.timeStyle == "" {
		return
	}
	style := "dateStyle"
	if f.dateStyle == "" {
		style = "timeStyle"
	}
	for _, name := range append(append(append([]string{}, dateFields...), timeFields...), "timeZoneName") {
		if f.fields[name] != "" {
			r.Fail(intl.TypeError(fmt.Sprintf("Can't set option %s when %s is used", name, style)))
		}
	}
	if defaults.Required == "date" && f.timeStyle != "" {
		r.Fail(intl.TypeError("Invalid option : timeStyle"))
	}
	if defaults.Required == "time" && f.dateStyle != "" {
		r.Fail(intl.TypeError("Invalid option : dateStyle"))
	}
}

// fillIn adds the default fields if none was asked for.
func (f *Format) fillIn(defaults Defaults) {
	if f.dateStyle != "" || f.timeStyle != "" {
		return
	}
	if defaults.Required != "time" && f.any("weekday", "year", "month", "day") ||
		defaults.Required != "date" && f.any(timeFields...) {
		return
	}
	if defaults.Fill != "time" {
		f.set("year", "month", "day")
	}
	if defaults.Fill != "date" {
		f.set("hour", "minute", "second")
	}
}

func (f *Format) any(fields ...string) bool {
	for _, name := range fields {
		if f.fields[name] != "" {
			return true
		}
	}
	return false
}

func (f *Format) set(fields ...string) {
	for _, name := range fields {
		f.fields[name] = "numeric"
	}
}

// Format writes the time that is ms milliseconds from 1970. V8 puts a plain space for
// the narrow one here, as many programs expect, and not in Parts.
func (f *Format) Format(ms float64) (string, *intl.Error) {
	parts, err := f.Parts(ms)
	return strings.ReplaceAll(intl.Text(parts), "\u202f", " "), err
}

// maxTime is as far as JavaScript counts.
const maxTime = 8.64e15

// Parts is Format in pieces.
func (f *Format) Parts(ms float64) ([]intl.Part, *intl.Error) {
	if math.IsNaN(ms) || math.Abs(ms) > maxTime {
		return nil, intl.RangeError("Invalid time value")
	}
	w := &timeWriter{format: f, data: f.data(), time: time.UnixMilli(int64(ms)).In(f.zone.location)}
	parts := intl.Fill(f.pattern, w.part)
	return parts, w.err
}

// data is short for the tables of the locale.
func (f *Format) data() *cldr.Dates { return &f.locale.Data.Dates }
