// Package cldr holds what package intl knows about locales: names, symbols and
// patterns, recorded from Node's answers by conformance/sandbox/intl/data.mjs. It
// reads a locale when it is first asked for, so that a program which formats nothing
// pays nothing. It decides nothing: how a pattern is filled in is not known here.
//
// Why recorded, and not computed from the tables of golang.org/x/text? Those are of
// another edition and hold few date patterns; what counts here is Node's answer.
package cldr

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed data
var data embed.FS

// Locale is what is known about one locale. In patterns, {x} stands for a part.
type Locale struct {
	Plurals struct{ Cardinal, Ordinal string }

	Number   Number
	Patterns map[string][3]string // plain, with a minus sign, with a plus sign

	// Compact has, for 10^3 to 10^14 and each plural category, the number of digits
	// that are not written, a bar, and the pattern of the rest.
	Compact map[string][]map[string]string

	Currencies       map[string]string // symbol and narrow symbol, where not the code
	CurrencyPatterns map[string]string // with the name, by plural category
	CurrencyNames    map[string]string // by the categories that the entry | lists

	// Units are patterns by width (short, narrow, long) and plural category.
	Units       map[string][]map[string]string
	PerSuffixes map[string][]string // {0} is what is divided
	PerUnits    map[string][]map[string]string

	Lists      map[string][]string // between two; after the first, between, before the last
	Relative   map[string]Relative
	Dates      Dates
	DayPeriods map[string][]string // by hour, then noon, then midnight

	// Zones has, by group of zones, names: short and long, each of standard and of
	// daylight time, then short and long without that distinction.
	Zones map[string]string
}

// Number is how digits are written.
type Number struct {
	Decimal, Group, Minus, Plus, Percent, Exponent, NaN, Infinity string
	CurrencyDecimal, CurrencyGroup                                string
	Primary, Secondary, MinGrouping                               int
}

// Relative are the patterns of one unit in one style.
type Relative struct {
	Future, Past, Named map[string]string
}

// Dates are the patterns of dates and times. Date, Time, Glue and Weekday hold places
// in Patterns and Glues, for every combination of fields, in the order of the script.
type Dates struct {
	Months, Weekdays, Halves [][]string
	Eras                     map[string][]string
	DateStyles, StyleGlues   map[string]string
	TimeStyles               map[string][3]string // as usual, with 12 hours, with 24
	Cycle, Cycle12, Cycle24  string
	Date, Time, Glue         Places
	Weekday                  [3]Places
	Glues, Patterns          []string
}

// Places are small numbers, written with repeated ones as number*times.
type Places []uint16

// UnmarshalText reads the written form.
func (p *Places) UnmarshalText(text []byte) error {
	*p = nil
	for _, run := range strings.Fields(string(text)) {
		digits, repeated, _ := strings.Cut(run, "*")
		place, err := strconv.ParseUint(digits, 10, 16)
		if err != nil {
			return err
		}
		times := 1
		if repeated != "" {
			if times, err = strconv.Atoi(repeated); err != nil {
				return err
			}
		}
		*p = append(*p, slices.Repeat(Places{uint16(place)}, times)...)
	}
	return nil
}

// World is what does not depend on a locale.
type World struct {
	Groups    []string          // of zones, which all locales call the same
	Links     map[string]string // other names of zones
	Supported struct{ Zones string }

	// Currencies: Named have names in every locale, Others have one in Node only.
	Currencies struct{ Named, Others string }

	FractionDigits map[string]int // of currencies that have not two
}

var loaded = struct {
	sync.Mutex
	locales map[string]*Locale
}{locales: map[string]*Locale{}}

// Has tells whether there are data for a tag, in its canonical form.
func Has(tag string) bool {
	_, err := fs.Stat(data, "data/"+tag+".json")
	return err == nil && tag != "world"
}

// Load gives the data of a locale that Has knows. They must not be changed.
func Load(tag string) *Locale {
	loaded.Lock()
	defer loaded.Unlock()
	if l := loaded.locales[tag]; l != nil {
		return l
	}
	l := new(Locale)
	if base, _, regional := strings.Cut(tag, "-"); regional {
		read(base+".json", l)
	}
	read(tag+".json", l)
	loaded.locales[tag] = l
	return l
}

// TheWorld gives what does not depend on a locale.
var TheWorld = sync.OnceValue(func() *World {
	w := new(World)
	read("world.json", w)
	return w
})

// InNode tells whether Node has data of its own for a language, or for a language in
// a region.
func InNode(language, region string) bool { return nodeLocales()[language+"-"+region] }

var nodeLocales = sync.OnceValue(func() map[string]bool {
	text, err := data.ReadFile("data/known.txt")
	if err != nil {
		panic(err) // it is embedded
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		known[words[0]+"-"] = true
		for _, region := range words[1:] {
			known[words[0]+"-"+region] = true
		}
	}
	return known
})

func read(name string, v any) {
	text, err := data.ReadFile("data/" + name)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		panic(fmt.Sprintf("locale data %s: %v", name, err)) // embedded, and read by the tests
	}
}
