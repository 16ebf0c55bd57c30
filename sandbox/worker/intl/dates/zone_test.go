package dates

import (
	"testing"
	"time"
	_ "time/tzdata" // as the worker has them
)

// A zone that could not be opened would be written as UTC.
func TestEveryZoneThatHasANameCanBeOpened(t *testing.T) {
	if len(zoneTable()) < 500 {
		t.Fatalf("only %d zones", len(zoneTable()))
	}
	for name, canonical := range zoneTable() {
		if _, err := time.LoadLocation(canonical); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if z := zoneOf(canonical); z.group == "" {
			t.Errorf("%s is in no group", canonical)
		}
	}
}

func TestZonesAreFoundByAnyOfTheirNames(t *testing.T) {
	for name, want := range map[string]string{"utc": "UTC", "Etc/UTC": "UTC", "asia/kolkata": "Asia/Calcutta", "US/Eastern": "America/New_York", "EUROPE/BERLIN": "Europe/Berlin"} {
		if got, ok := canonicalZone(name); !ok || got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	for _, name := range []string{"", "Local", "../etc/passwd", "X/Y", "+01:00"} {
		if got, ok := canonicalZone(name); ok {
			t.Errorf("%q is %s", name, got)
		}
	}
}
