package intl

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
)

// DateTimeFormat writes times.
type DateTimeFormat struct {
	locale               *Locale
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

// NewDateTimeFormat is the constructor Intl.DateTimeFormat. defaultZone is that of a
// format that names none.
func NewDateTimeFormat(q Request, defaults Defaults, defaultZone string) (*DateTimeFormat, *Error) {
	r := q.reader("Intl.DateTimeFormat")
	f := &DateTimeFormat{fields: map[string]string{}}
	r.matcher()
	r.calendar()
	r.numbering()
	f.readCycle(r)
	f.readZone(r, defaultZone)
	f.readFields(r)
	f.readStyles(r, defaults)
	if r.err != nil {
		return nil, r.err
	}
	f.fillIn(defaults)
	var err *Error
	if f.locale, err = Resolve(q.Locales, "ca", "hc", "nu"); err != nil {
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

func (r *reader) calendar() {
	if name, ok := r.text("calendar"); ok && name != "gregory" && name != "iso8601" {
		r.fail(noCalendar(name))
	}
}

func noCalendar(name string) *Error {
	return rangeError(fmt.Sprintf("The calendar %s is not available to bodies", name))
}

func (f *DateTimeFormat) checkExtensions() *Error {
	if system := f.locale.extensions["nu"]; system != "" && system != "latn" {
		return noNumbering(system)
	}
	if name := f.locale.extensions["ca"]; name != "" && name != "gregory" {
		return noCalendar(name)
	}
	if cycle := f.locale.extensions["hc"]; f.hour12 == nil && f.cycle == "" {
		f.cycle = cycle
	}
	return nil
}

func (f *DateTimeFormat) readCycle(r *reader) {
	if yes, ok := r.truth("hour12"); ok {
		f.hour12 = &yes
	}
	f.cycle = r.choice("hourCycle", "", cycles...)
	if f.hour12 != nil {
		f.cycle = ""
	}
}

func (f *DateTimeFormat) readZone(r *reader, defaultZone string) {
	name, ok := r.text("timeZone")
	if r.err != nil {
		return
	}
	if !ok {
		f.zone = zoneOf(defaultZone)
		return
	}
	canonical, known := canonicalZone(name)
	if !known {
		r.fail(rangeError("Invalid time zone specified: " + name))
		return
	}
	f.zone = zoneOf(canonical)
}

func (f *DateTimeFormat) readFields(r *reader) {
	for _, name := range dateFields {
		f.readField(r, name)
	}
	for _, name := range timeFields[:4] {
		f.readField(r, name)
	}
	if n := r.number("fractionalSecondDigits", 1, 3); n > 0 {
		f.fractionDigits = n
		f.fields["fractionalSecondDigits"] = strconv.Itoa(n)
	}
	f.readField(r, "timeZoneName")
	r.choice("formatMatcher", "best fit", "basic", "best fit")
}

func (f *DateTimeFormat) readField(r *reader, name string) {
	if width := r.choice(name, "", widths[name]...); width != "" {
		f.fields[name] = width
	}
}

func (f *DateTimeFormat) readStyles(r *reader, defaults Defaults) {
	f.dateStyle = r.choice("dateStyle", "", styles...)
	f.timeStyle = r.choice("timeStyle", "", styles...)
	if f.dateStyle == "" && f.timeStyle == "" {
		return
	}
	style := "dateStyle"
	if f.dateStyle == "" {
		style = "timeStyle"
	}
	for _, name := range append(append(append([]string{}, dateFields...), timeFields...), "timeZoneName") {
		if f.fields[name] != "" {
			r.fail(typeError(fmt.Sprintf("Can't set option %s when %s is used", name, style)))
		}
	}
	if defaults.Required == "date" && f.timeStyle != "" {
		r.fail(typeError("Invalid option : timeStyle"))
	}
	if defaults.Required == "time" && f.dateStyle != "" {
		r.fail(typeError("Invalid option : dateStyle"))
	}
}

// fillIn adds the default fields if none was asked for.
func (f *DateTimeFormat) fillIn(defaults Defaults) {
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

func (f *DateTimeFormat) any(fields ...string) bool {
	for _, name := range fields {
		if f.fields[name] != "" {
			return true
		}
	}
	return false
}

func (f *DateTimeFormat) set(fields ...string) {
	for _, name := range fields {
		f.fields[name] = "numeric"
	}
}

// Format writes the time that is ms milliseconds from 1970. V8 puts a plain space for
// the narrow one here, as many programs expect, and not in Parts.
func (f *DateTimeFormat) Format(ms float64) (string, *Error) {
	parts, err := f.Parts(ms)
	return strings.ReplaceAll(Text(parts), "\u202f", " "), err
}

// maxTime is as far as JavaScript counts.
const maxTime = 8.64e15

// Parts is Format in pieces.
func (f *DateTimeFormat) Parts(ms float64) ([]Part, *Error) {
	if math.IsNaN(ms) || math.Abs(ms) > maxTime {
		return nil, rangeError("Invalid time value")
	}
	w := &timeWriter{format: f, data: f.data(), time: time.UnixMilli(int64(ms)).In(f.zone.location)}
	parts := fill(f.pattern, w.part)
	return parts, w.err
}

// data is short for the tables of the locale.
func (f *DateTimeFormat) data() *cldr.Dates { return &f.locale.data.Dates }
