package intl_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	_ "time/tzdata" // the same zones as the worker has

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/collation"
	"github.com/bir-run/bir/sandbox/worker/intl/dates"
	"github.com/bir-run/bir/sandbox/worker/intl/decimal"
	"github.com/bir-run/bir/sandbox/worker/intl/numbers"
)

// options are a case's, converted as JavaScript does.
type options map[string]any

func (o options) Text(name string) (string, bool) {
	v, ok := o[name]
	return fmt.Sprint(v), ok
}

func (o options) Number(name string) (float64, bool) {
	v, ok := o[name].(float64)
	return v, ok
}

func (o options) Truth(name string) (value, ok bool) {
	v, ok := o[name]
	return ok && v != false && v != "" && v != 0.0, ok
}

func (o options) IsTrue(name string) bool { return o[name] == true }

// question is one case of most files.
type question struct {
	Locale   string
	Options  options
	Value    string
	Big      bool
	Resolved bool
	Items    []string
	Unit     string
	Want     json.RawMessage
	Error    string
}

func (q question) request() intl.Request {
	return intl.Request{Locales: []string{q.Locale}, Options: q.Options}
}

// readCases reads what cases.mjs wrote.
func readCases[T any](t *testing.T, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []T
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// answer is what a case expects: the text and its parts, the options in effect, or an
// error.
type answer struct {
	text, parts string
	resolved    []intl.Resolved
	err         *intl.Error
}

func (q question) check(t *testing.T, got answer) {
	t.Helper()
	text := ""
	switch {
	case got.err != nil:
		text = got.err.Error()
	case q.Resolved:
		text = asJSON(got.resolved)
	default:
		text = toJSON([]string{got.text, got.parts})
	}
	want := string(q.Want)
	if q.Error != "" {
		want = q.Error
	}
	if text != want {
		t.Errorf("%s %s %s %q %s\n got %s\nwant %s", q.Locale, toJSON(q.Options), q.Value, q.Items, q.Unit, text, want)
	}
}

func toJSON(v any) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(out.String())
}

// asJSON keeps the order of the options.
func asJSON(resolved []intl.Resolved) string {
	fields := make([]string, len(resolved))
	for i, r := range resolved {
		fields[i] = toJSON(r.Name) + ":" + toJSON(r.Value)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

func joined(parts []intl.Part) string {
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = p.Type + "=" + p.Value
	}
	return strings.Join(list, "|")
}

func (q question) decimal(t *testing.T) decimal.Decimal {
	t.Helper()
	if q.Big {
		d, ok := decimal.Parse(q.Value)
		if !ok {
			t.Fatalf("bad number %q", q.Value)
		}
		return d
	}
	f, err := strconv.ParseFloat(q.Value, 64)
	if err != nil {
		t.Fatal(err)
	}
	return decimal.FromFloat(f)
}

func TestNumbersAreWrittenAsInNode(t *testing.T) {
	for _, q := range readCases[question](t, "number") {
		f, err := numbers.New(q.request())
		got := answer{err: err}
		switch {
		case err != nil:
		case q.Resolved:
			got.resolved = f.Resolved()
		default:
			n := q.decimal(t)
			got.text, got.parts = f.Format(n), joined(f.Parts(n))
		}
		q.check(t, got)
	}
}

func TestTimesAreWrittenAsInNode(t *testing.T) {
	for _, q := range readCases[question](t, "date") {
		f, err := dates.New(q.request(), dates.Defaults{Required: "any", Fill: "date"}, "UTC")
		got := answer{err: err}
		switch {
		case err != nil:
		case q.Resolved:
			got.resolved = f.Resolved()
		default:
			ms, _ := strconv.ParseFloat(q.Value, 64)
			got.text, got.err = f.Format(ms)
			parts, _ := f.Parts(ms)
			got.parts = joined(parts)
		}
		q.check(t, got)
	}
}

func TestPluralsAreSortedAsInNode(t *testing.T) {
	type pluralCase struct {
		question
		Values []string
	}
	for _, q := range readCases[pluralCase](t, "plural") {
		rules, err := numbers.NewPluralRules(q.request())
		if err != nil {
			t.Fatal(err)
		}
		if q.Resolved {
			q.check(t, answer{resolved: rules.Resolved()})
			continue
		}
		var got []string
		for _, v := range q.Values {
			f, _ := strconv.ParseFloat(v, 64)
			got = append(got, rules.Select(decimal.FromFloat(f)))
		}
		if text := toJSON(got); text != string(q.Want) {
			t.Errorf("%s %v %v\n got %s\nwant %s", q.Locale, q.Options, q.Values, text, q.Want)
		}
	}
}

func TestListsAreJoinedAsInNode(t *testing.T) {
	for _, q := range readCases[question](t, "list") {
		f, err := numbers.NewListFormat(q.request())
		if err != nil {
			t.Fatal(err)
		}
		parts := f.Parts(q.Items)
		q.check(t, answer{text: intl.Text(parts), parts: joined(parts)})
	}
}

func TestRelativeTimesAreSaidAsInNode(t *testing.T) {
	for _, q := range readCases[question](t, "relative") {
		f, err := numbers.NewRelativeTimeFormat(q.request())
		if err != nil {
			t.Fatal(err)
		}
		value, _ := strconv.ParseFloat(q.Value, 64)
		parts, err := f.Parts(value, q.Unit, "format")
		got := answer{err: err}
		var list []string
		for _, p := range parts {
			kind := p.Type
			if p.Unit != "" {
				kind += "/" + p.Unit
			}
			got.text += p.Value
			list = append(list, kind+"="+p.Value)
		}
		got.parts = strings.Join(list, "|")
		q.check(t, got)
	}
}

func TestTextsAreOrderedAsInNode(t *testing.T) {
	type order struct {
		question
		Words, Order []string
	}
	cases := readCases[order](t, "collation")
	words := cases[0].Words
	for _, q := range cases[1:] {
		c, err := collation.New(q.request())
		if err != nil {
			t.Fatal(err)
		}
		if q.Resolved {
			q.check(t, answer{resolved: c.Resolved()})
			continue
		}
		for i, row := range q.Order {
			for j, want := range row {
				a, b := words[i], words[i+1+j]
				if got := c.Compare(a, b); "<=>"[got+1] != byte(want) {
					t.Errorf("%s %v: %q %c %q, want %c", q.Locale, q.Options, a, "<=>"[got+1], b, want)
				}
			}
		}
	}
}

func TestTagsAreReadAsInNode(t *testing.T) {
	type tag struct {
		Tag         string
		Number      bool
		Want, Error string
	}
	for _, q := range readCases[tag](t, "tag") {
		got, err := intl.Canonical(q.Tag)
		if err == nil && q.Number {
			var f *numbers.Format
			if f, err = numbers.New(intl.Request{Locales: []string{got}}); err == nil {
				got = f.Resolved()[0].Value.(string)
			}
		}
		switch {
		case err != nil && err.Error() != q.Error:
			t.Errorf("%q: %v, want %s%s", q.Tag, err, q.Want, q.Error)
		case err == nil && got != q.Want:
			t.Errorf("%q is %s, want %s%s", q.Tag, got, q.Want, q.Error)
		}
	}
}
