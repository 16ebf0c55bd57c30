package dates

import (
	"fmt"
	"strconv"
	"time"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
)

// partTypes are the kinds of parts, by the first letter of a token.
var partTypes = map[byte]string{
	'E': "weekday", 'G': "era", 'y': "year", 'M': "month", 'L': "month", 'd': "day", 'a': "dayPeriod", 'B': "dayPeriod",
	'h': "hour", 'm': "minute", 's': "second", 'S': "fractionalSecond", 'z': "timeZoneName",
}

// timeWriter fills a pattern with one time.
type timeWriter struct {
	format *Format
	data   *cldr.Dates
	time   time.Time
	err    *intl.Error
}

func (w *timeWriter) part(token string) []intl.Part {
	return []intl.Part{{Type: partTypes[token[0]], Value: w.value(token)}}
}

func (w *timeWriter) value(token string) string {
	t := w.time
	switch token[0] {
	case 'y':
		return w.year(len(token))
	case 'M':
		return number(int(t.Month()), len(token))
	case 'L':
		return w.data.Months[listOf(token)][t.Month()-1]
	case 'E':
		return w.data.Weekdays[listOf(token)][t.Weekday()]
	case 'd':
		return number(t.Day(), len(token))
	case 'h':
		return number(w.hour(), len(token))
	case 'm':
		return number(t.Minute(), len(token))
	case 's':
		return number(t.Second(), len(token))
	case 'S':
		return fmt.Sprintf("%03d", t.Nanosecond()/1e6)[:w.format.fractionDigits]
	case 'a':
		return w.data.Halves[listOf(token)][t.Hour()/12]
	case 'B':
		return w.dayPeriod()
	case 'G':
		return w.era()
	}
	return w.zoneName(token)
}

// listOf is the list that a token's names are in.
func listOf(token string) int {
	n, _ := strconv.Atoi(token[1:])
	return n
}

func number(n, width int) string {
	if width == 2 {
		return fmt.Sprintf("%02d", n)
	}
	return strconv.Itoa(n)
}

// year counts within its era.
func (w *timeWriter) year(width int) string {
	year := w.time.Year()
	if year <= 0 {
		year = 1 - year
	}
	if width == 2 {
		year %= 100
	}
	return number(year, width)
}

func (w *timeWriter) era() string {
	width := w.format.fields["era"]
	if width == "" {
		width = "short"
	}
	if w.time.Year() <= 0 {
		return w.data.Eras[width][0]
	}
	return w.data.Eras[width][1]
}

func (w *timeWriter) hour() int {
	hour := w.time.Hour()
	switch w.format.hourCycle() {
	case "h11":
		return hour % 12
	case "h12":
		return (hour+11)%12 + 1
	case "h24":
		return (hour+23)%24 + 1
	}
	return hour
}

// dayPeriod is the name of the hour, or of noon and midnight when it is just that as
// far as the format shows.
func (w *timeWriter) dayPeriod() string {
	list := w.format.locale.Data.DayPeriods[w.format.fields["dayPeriod"]]
	f := w.format.fields
	exact := (f["minute"] == "" || w.time.Minute() == 0) && (f["second"] == "" || w.time.Second() == 0)
	switch {
	case exact && w.time.Hour() == 12:
		return list[24]
	case exact && w.time.Hour() == 0:
		return list[25]
	}
	return list[w.time.Hour()]
}

func (w *timeWriter) zoneName(token string) string {
	kind := w.format.fields["timeZoneName"]
	if kind == "" { // of a timeStyle
		kind = "short"
		if token == "zzzz" {
			kind = "long"
		}
	}
	name := w.format.zone.nameIn(w.format.locale, kind, w.time)
	if name == "" {
		w.err = intl.RangeError(fmt.Sprintf("The %s name of the time zone %s is not available to bodies", kind, w.format.zone.name))
	}
	return name
}
