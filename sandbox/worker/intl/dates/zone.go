package dates

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
)

// zone is a time zone under Node's name for it.
type zone struct {
	name     string
	location *time.Location
	group    string // of zones that are called the same; empty if not known

	standard, daylight int // seconds to Greenwich, of late
}

// zoneTable finds zones by any of their names, in any case.
var zoneTable = sync.OnceValue(func() map[string]string {
	world := cldr.TheWorld()
	table := map[string]string{}
	for _, group := range world.Groups {
		for _, name := range strings.Fields(group) {
			table[strings.ToLower(name)] = name
		}
	}
	for link, name := range world.Links {
		table[strings.ToLower(link)] = name
	}
	return table
})

func canonicalZone(name string) (string, bool) {
	canonical, ok := zoneTable()[strings.ToLower(name)]
	return canonical, ok
}

// opened keeps zones: a body may make many formats of one.
var opened sync.Map // *zone by the name asked for

// zoneOf is the zone of a name; one that is not known is UTC, since the name was
// checked before.
func zoneOf(name string) *zone {
	if z, ok := opened.Load(name); ok {
		return z.(*zone)
	}
	z := openZone(name)
	opened.Store(name, z)
	return z
}

func openZone(name string) *zone {
	if name == "" {
		name = "UTC"
	}
	if canonical, ok := canonicalZone(name); ok {
		name = canonical
	}
	z := &zone{name: name, location: time.UTC}
	if location, err := time.LoadLocation(name); err == nil {
		z.location = location
	}
	_, winter := time.Date(2025, time.January, 15, 0, 0, 0, 0, z.location).Zone()
	_, summer := time.Date(2025, time.July, 15, 0, 0, 0, 0, z.location).Zone()
	z.standard, z.daylight = min(winter, summer), max(winter, summer)
	for i, group := range cldr.TheWorld().Groups {
		if slices.Contains(strings.Fields(group), name) {
			z.group = strconv.Itoa(i)
		}
	}
	return z
}

// nameKinds are the places of names in a group's list, that of daylight time behind.
var nameKinds = map[string]int{"short": 0, "long": 2, "shortGeneric": 4, "longGeneric": 5}

// nameIn is how a locale calls the zone at t, empty where that is not known. The names
// are those of late. Before there were names, a zone is called by its offset.
func (z *zone) nameIn(l *intl.Locale, kind string, t time.Time) string {
	place, named := nameKinds[kind]
	abbreviation, seconds := t.Zone()
	if names := l.Data.Zones[z.group]; named && names != "" {
		list := strings.Split(names, "|")
		usual := z.standard
		if z.isDaylight(t) {
			usual = z.daylight
			if place < 4 {
				place++
			}
		}
		if list[place] != "" && seconds == usual {
			return list[place]
		}
		if list[place] != "" && abbreviation != "LMT" && !z.isStandardSummer(t) {
			return "" // it had a name then that is not known here
		}
	}
	switch kind {
	case "short", "shortOffset":
		return offset(l, seconds, false)
	case "long", "longOffset":
		return offset(l, seconds, true)
	}
	return ""
}

// isDaylight tells whether clocks are ahead. Ireland's law has it since then that they
// are behind in winter.
func (z *zone) isDaylight(t time.Time) bool {
	return t.IsDST() != (z.name == "Europe/Dublin" && t.After(irishLaw))
}

// isStandardSummer tells of the years when the United Kingdom and Ireland kept summer
// time all year and called it standard; it has no name in ICU.
func (z *zone) isStandardSummer(t time.Time) bool {
	return (z.name == "Europe/London" || z.name == "Europe/Dublin") && t.Before(irishLaw)
}

var irishLaw = time.Date(1971, time.October, 31, 2, 0, 0, 0, time.UTC)

// offset writes a difference to Greenwich.
func offset(l *intl.Locale, seconds int, long bool) string {
	samples := strings.Split(l.Data.Zones["offset"], "|")
	if seconds == 0 && !long {
		return samples[0]
	}
	sign := strings.TrimSuffix(samples[1], "1")
	if seconds < 0 {
		sign = strings.TrimSuffix(samples[2], "5")
		seconds = -seconds
	}
	hours, minutes := seconds/3600, seconds/60%60
	text := sign + fmt.Sprint(hours)
	if long {
		text = sign + fmt.Sprintf("%02d", hours)
	}
	if long || minutes != 0 || seconds%60 != 0 {
		text += fmt.Sprintf(":%02d", minutes)
	}
	if seconds%60 != 0 {
		text += fmt.Sprintf(":%02d", seconds%60)
	}
	return text
}

// ZoneName is the name of a zone in intl.DefaultLocale, as a Date's text ends in.
func ZoneName(name string, ms float64) string {
	z := zoneOf(name)
	t := time.UnixMilli(int64(ms)).In(z.location)
	l := intl.Default()
	if names := l.Data.Zones[z.group]; names != "" {
		place := nameKinds["long"]
		if z.isDaylight(t) {
			place++
		}
		if found := strings.Split(names, "|")[place]; found != "" {
			return found
		}
	}
	return z.nameIn(l, "long", t)
}
