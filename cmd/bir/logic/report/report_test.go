package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/cmd/bir/logic/report"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
)

// outcomes are one of each sort.
var outcomes = []cases.Outcome{
	{ID: "good", OK: true, Value: json.RawMessage(`1`), DurationMS: 1.5, Case: cases.Case{Expect: &cases.Expect{Value: json.RawMessage(`1`)}}},
	{
		ID: "other # value", Value: json.RawMessage(`{"b":[1,2],"a":"<x>","c":0}`), Difference: "result.b[1] is 2, expected 3",
		Console: []string{"seen \x00"}, DurationMS: 0.25, MemoryBytes: 3 << 20,
		Case: cases.Case{Expect: &cases.Expect{Value: json.RawMessage(`{"a":"<x>","b":[1,3],"c":0}`)}, Place: cases.Place{File: "dir/a.json"}},
	},
	{ID: "thrown", Error: &sandbox.Error{Type: sandbox.TypeThrow, Message: "Error: no\nreally", Line: 2, Column: 3}},
	{ID: "broken", Error: &sandbox.Error{Type: sandbox.TypeSandbox, Message: "no worker"}},
}

func write(t *testing.T, format report.Format, all []cases.Outcome) string {
	t.Helper()
	var out bytes.Buffer
	r, err := report.New(format, &colorprofile.Writer{Forward: &out, Profile: colorprofile.NoTTY}, len(all))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if err := r.Case(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTextShowsDifferencesByLines(t *testing.T) {
	want := `ok  good  1.50 ms
not ok  other # value  0.25 ms, 3.0 MB
   result.b[1] is 2, expected 3
   - expected, + result
     …
       "b": [
         1,
   -     3
   +     2
       ],
       "c": 0
     …
   console seen \u0000
not ok  thrown  0.00 ms
   throw: Error: no
   really (line 2, column 3)
not ok  broken  0.00 ms
   sandbox: no worker
1 as expected, 3 not
`
	if diff := cmp.Diff(want, write(t, report.Text, outcomes)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := write(t, report.Text, outcomes[:1]); got != "ok  good  1.50 ms\n   value 1\n" {
		t.Errorf("alone it is %q", got)
	}
}

func TestTextIsColouredOnATerminal(t *testing.T) {
	var out bytes.Buffer
	r, err := report.New(report.Text, &colorprofile.Writer{Forward: &out, Profile: colorprofile.ANSI}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Case(outcomes[1]); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\x1b[31m-     3") || !strings.Contains(out.String(), "\x1b[32m+     2") {
		t.Errorf("no colours in %q", out.String())
	}
}

func TestTAP(t *testing.T) {
	want := `TAP version 14
1..4
ok 1 - good # time=1.500ms
not ok 2 - other \# value # time=0.250ms
  ---
  message: "result.b[1] is 2, expected 3"
  expected: "{\"a\":\"\u003cx\u003e\",\"b\":[1,3],\"c\":0}"
  found: "{\"b\":[1,2],\"a\":\"\u003cx\u003e\",\"c\":0}"
  ...
not ok 3 - thrown # time=0.000ms
  ---
  message: "throw: Error: no\nreally (line 2, column 3)"
  type: throw
  line: 2
  column: 3
  ...
not ok 4 - broken # time=0.000ms
  ---
  message: "sandbox: no worker"
  type: sandbox
  line: 0
  column: 0
  ...
`
	if diff := cmp.Diff(want, write(t, report.TAP, outcomes)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := write(t, report.TAP, nil); got != "TAP version 14\n1..0\n" {
		t.Errorf("without cases: %q", got)
	}
}

func TestJUnitIsXMLWithItsCounts(t *testing.T) {
	text := write(t, report.JUnit, outcomes)
	var got struct {
		Suite struct {
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Errors   int    `xml:"errors,attr"`
			Time     string `xml:"time,attr"`
			Cases    []struct {
				Class   string `xml:"classname,attr"`
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Type    string `xml:"type,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s := got.Suite
	if s.Tests != 4 || s.Failures != 2 || s.Errors != 1 || s.Time != "0.001750" || len(s.Cases) != 4 {
		t.Errorf("got %+v", s)
	}
	if c := s.Cases[1]; c.Class != "dir/a.json" || c.Failure == nil || c.Failure.Type != "difference" || !strings.Contains(c.Failure.Text, "+     2") {
		t.Errorf("got %+v", c)
	}
	if c := s.Cases[2]; c.Failure == nil || c.Failure.Type != "throw" {
		t.Errorf("got %+v", c)
	}
}

func TestLinesOfJSONAreTheOutcomes(t *testing.T) {
	got := strings.Split(write(t, report.JSON, outcomes), "\n")
	if len(got) != 5 || !strings.HasPrefix(got[0], `{"id":"good","ok":true,"value":1,`) || !strings.Contains(got[1], `"a":"<x>"`) {
		t.Errorf("got %q", got)
	}
}

func TestUnknownFormatIsRefused(t *testing.T) {
	if _, err := report.New("xml", nil, 0); err == nil || !strings.Contains(err.Error(), "junit") {
		t.Errorf("error %v", err)
	}
}

func TestLongValuesAreIndentedAndCut(t *testing.T) {
	if got := report.Pretty(json.RawMessage(`[1,2]`)); got != "[1,2]" {
		t.Errorf("got %s", got)
	}
	got := report.Pretty(json.RawMessage("[" + strings.Repeat("1,", 500) + "1]"))
	if !strings.HasPrefix(got, "[\n  1,\n") || !strings.HasSuffix(got, "… and 303 more lines") {
		t.Errorf("got %s", got)
	}
}

func TestNothingSteersTheTerminal(t *testing.T) {
	hostile := "\x1b]0;title\a\u009b2J\x7f"
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	got := write(t, report.Text, []cases.Outcome{
		{ID: "a", OK: true, Value: quoted, Console: []string{hostile}},
		{ID: "b", Value: quoted, Difference: "it differs", Case: cases.Case{Expect: &cases.Expect{Value: json.RawMessage("[1]")}}},
		{ID: "c", Error: &sandbox.Error{Type: sandbox.TypeThrow, Message: hostile}},
	})
	if strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
		t.Errorf("control characters in %q", got)
	}
}

func TestHugeDifferencesAreNotComparedByLines(t *testing.T) {
	huge := json.RawMessage("[" + strings.Repeat("1,", 3000) + "1]")
	if got := report.Diff(huge, json.RawMessage("[]")); len(got) != 2 || got[1] != "+ []" {
		t.Errorf("%d lines", len(got))
	}
}
