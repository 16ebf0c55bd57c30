package dates

import (
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox/worker/intl"
)

// asked are options that are all text, but for the digits of a second.
type asked map[string]string

func (a asked) Text(name string) (string, bool) {
	v, ok := a[name]
	return v, ok
}

func (a asked) Number(name string) (float64, bool) {
	v, ok := a[name]
	if !ok {
		return 0, false
	}
	return float64(v[0] - '0'), true
}

func (a asked) Truth(string) (value, ok bool) { return false, false }
func (a asked) IsTrue(string) bool            { return false }

// Every combination has a pattern, and each of its tokens can be written.
func TestEveryCombinationOfFieldsIsWritten(t *testing.T) {
	for _, locale := range []string{"en-US", "de-CH", "ja-JP", "pt-PT"} {
		each(dateAxes, asked{}, func(date asked) { write(t, locale, date) })
		each(timeAxes, asked{"weekday": "short"}, func(time asked) { write(t, locale, time) })
	}
}

func write(t *testing.T, locale string, a asked) {
	t.Helper()
	f, err := New(intl.Request{Locales: []string{locale}, Options: a}, Defaults{Required: "any", Fill: "date"}, "Europe/Berlin")
	if err != nil {
		if !strings.Contains(err.Message, "not available to bodies") {
			t.Fatalf("%s %v: %v", locale, a, err)
		}
		return
	}
	text, err := f.Format(1.7e12)
	if err != nil || text == "" || strings.ContainsAny(text, "{}") {
		t.Fatalf("%s %v: %q, %v", locale, a, text, err)
	}
}

// each calls f with every combination of the axes' widths.
func each(axes []axis, chosen asked, f func(asked)) {
	if len(axes) == 0 {
		f(chosen)
		return
	}
	each(axes[1:], chosen, f)
	for _, width := range axes[0].widths {
		switch width {
		case "any":
			width = "short"
		case "offset":
			width = "shortOffset"
		}
		chosen[axes[0].field] = width
		each(axes[1:], chosen, f)
		delete(chosen, axes[0].field)
	}
}
