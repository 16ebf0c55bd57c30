package cldr

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// The data are embedded and read late: here all of them are.
func TestAllDataAreWhole(t *testing.T) {
	files, err := fs.Glob(data, "data/*.json")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		tag := strings.TrimSuffix(strings.TrimPrefix(file, "data/"), ".json")
		if tag == "world" {
			continue
		}
		l := Load(tag)
		dates := l.Dates
		if len(dates.Date) != 432 || len(dates.Time) != 1728 || len(dates.Glue) != len(dates.Date) || len(dates.Weekday[2]) != len(dates.Time) {
			t.Errorf("%s: tables of %d, %d, %d and %d", tag, len(dates.Date), len(dates.Time), len(dates.Glue), len(dates.Weekday[2]))
		}
		for _, places := range []Places{dates.Date, dates.Time, dates.Weekday[0], dates.Weekday[1], dates.Weekday[2]} {
			for _, place := range places {
				if int(place) >= len(dates.Patterns) {
					t.Fatalf("%s: no pattern %d", tag, place)
				}
			}
		}
		for _, pattern := range dates.Patterns {
			checkPattern(t, tag, pattern)
		}
		for _, zone := range l.Zones {
			if n := strings.Count(zone, "|"); n != 5 && n != 2 {
				t.Errorf("%s: names %q", tag, zone)
			}
		}
	}
}

var patternForm = regexp.MustCompile(`^([^{}]|\{(0|[a-zA-Z]+[0-9]*)\})*$`)

func checkPattern(t *testing.T, tag, pattern string) {
	t.Helper()
	if !patternForm.MatchString(pattern) {
		t.Errorf("%s: pattern %q", tag, pattern)
	}
}

func TestTheWorldIsKnown(t *testing.T) {
	w := TheWorld()
	if len(w.Groups) < 100 || w.Links["Etc/UTC"] != "UTC" || w.FractionDigits["JPY"] != 0 || !strings.Contains(w.Currencies.Named, "EUR") {
		t.Errorf("%d groups, Etc/UTC is %s", len(w.Groups), w.Links["Etc/UTC"])
	}
	if !InNode("de", "LU") || InNode("de", "XX") || InNode("xx", "") {
		t.Error("the list of Node's locales is not read")
	}
}
