package dates

import (
	"slices"
	"strings"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
)

// axis is one field in the tables of patterns, and the widths that they tell apart.
type axis struct {
	field  string
	widths []string
}

var (
	dateAxes = []axis{
		{"weekday", names},
		{"era", []string{"any"}},
		{"year", []string{"numeric", "2-digit"}},
		{"month", []string{"numeric", "2-digit", "narrow", "short", "long"}},
		{"day", []string{"numeric", "2-digit"}},
	}
	timeAxes = []axis{
		{"hour", []string{"numeric", "2-digit"}},
		{"minute", []string{"numeric", "2-digit"}},
		{"second", []string{"numeric", "2-digit"}},
		{"fractionalSecondDigits", []string{"1", "2", "3"}},
		{"timeZoneName", []string{"short", "long", "offset"}},
		{"dayPeriod", []string{"any"}},
	}
)

// place finds the fields in a table; ok is whether there are any.
func (f *Format) place(axes []axis) (place int, ok bool) {
	for _, a := range axes {
		place *= len(a.widths) + 1
		width := f.fields[a.field]
		if width == "" {
			continue
		}
		ok = true
		if a.field == "timeZoneName" {
			width = zoneWidth(width)
		}
		place += 1 + max(0, slices.Index(a.widths, width))
	}
	return place, ok
}

// zoneWidth is the width of a zone's name as the tables have it.
func zoneWidth(kind string) string {
	if strings.HasSuffix(kind, "Offset") {
		return "offset"
	}
	return strings.TrimSuffix(kind, "Generic")
}

// twelve tells whether the format has hours of half a day.
func (f *Format) twelve() bool {
	if f.hour12 != nil {
		return *f.hour12
	}
	cycle := f.cycle
	if cycle == "" {
		cycle = f.data().Cycle
	}
	return cycle == "h11" || cycle == "h12"
}

// hourCycle is the one that hours are written in.
func (f *Format) hourCycle() string {
	switch {
	case f.hour12 != nil && *f.hour12:
		return f.data().Cycle12
	case f.hour12 != nil:
		return f.data().Cycle24
	case f.cycle != "":
		return f.cycle
	}
	return f.data().Cycle
}

func (f *Format) findPattern() (string, *intl.Error) {
	if f.dateStyle != "" || f.timeStyle != "" {
		return f.stylePattern(), nil
	}
	if err := f.checkFields(); err != nil {
		return "", err
	}
	d := f.data()
	datePlace, hasDate := f.place(dateAxes)
	timePlace, hasTime := f.place(timeAxes)
	timePlace *= 2
	if !f.twelve() {
		timePlace++
	}
	date, time := d.Patterns[d.Date[datePlace]], d.Patterns[d.Time[timePlace]]
	if !f.any(timeFields...) {
		time = "{z}"
	}
	switch {
	case hasDate && date == "":
		return "", intl.RangeError("This combination of date fields is not available to bodies in " + f.locale.Tag)
	case !hasTime:
		return date, nil
	case !hasDate:
		return time, nil
	case f.only("weekday"):
		width := slices.Index(names, f.fields["weekday"])
		return strings.Replace(d.Patterns[d.Weekday[width][timePlace]], "{0}", time, 1), nil
	case f.only("era"):
		plain := Format{fields: map[string]string{"year": "numeric", "month": "numeric", "day": "numeric"}}
		datePlace, _ = plain.place(dateAxes)
		date = "{G}"
	}
	return glued(d.Glues[d.Glue[datePlace]], date, time), nil
}

func glued(glue, date, time string) string {
	return strings.NewReplacer("{1}", date, "{0}", time).Replace(glue)
}

// checkFields refuses combinations in which ICU's choice cannot be told from tables.
func (f *Format) checkFields() *intl.Error {
	switch {
	case f.cycle == "h24" && f.data().Cycle24 != "h24" && f.any("hour"):
		return intl.RangeError("The hour cycle h24 is not available to bodies in " + f.locale.Tag)
	case f.hasGap():
		return intl.RangeError("Times with a gap between their fields are not available to bodies: ask for the minute and second too")
	case f.fields["timeZoneName"] == "longOffset" && f.any("second") && f.any(dateFields...):
		return intl.RangeError("A long offset beside a date and seconds is not available to bodies: ask for a short one")
	}
	return nil
}

// hasGap tells whether a field between two others is missing. ICU then takes the
// pattern that is nearest by the order of its tables, and differs by locale in which.
func (f *Format) hasGap() bool {
	return f.any("hour") && !f.any("minute") && f.any("second") ||
		f.any("hour", "minute") && !f.any("second") && f.fractionDigits > 0
}

// only tells whether a field is the one field of a date.
func (f *Format) only(field string) bool {
	for _, name := range dateFields {
		if (f.fields[name] != "") != (name == field) {
			return false
		}
	}
	return true
}

func (f *Format) stylePattern() string {
	d := f.data()
	date, time := d.DateStyles[f.dateStyle], ""
	if f.timeStyle != "" {
		time = d.TimeStyles[f.timeStyle][f.timeStyleForm(d)]
	}
	switch {
	case time == "":
		return date
	case date == "":
		return time
	}
	return glued(d.StyleGlues[f.dateStyle], date, time)
}

func (f *Format) timeStyleForm(d *cldr.Dates) int {
	usual := d.Cycle == "h11" || d.Cycle == "h12"
	switch {
	case f.hour12 == nil && f.twelve() == usual:
		return 0
	case f.twelve():
		return 1
	}
	return 2
}
