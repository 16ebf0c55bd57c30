package jsonedit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/hosts/patch"
)

func edited(t *testing.T, text string, edit func(*Doc) ([]patch.Edit, error)) string {
	t.Helper()
	doc, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	edits, err := edit(doc)
	if err != nil {
		t.Fatal(err)
	}
	changed, undo, err := patch.Apply([]byte(text), edits)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(changed); err != nil {
		t.Fatalf("%v in\n%s", err, changed)
	}
	back, err := undo.Undo(changed)
	if err != nil || string(back) != text {
		t.Fatalf("%v: taken back it is\n%s", err, back)
	}
	return string(changed)
}

func TestPutKeepsEverythingElse(t *testing.T) {
	value := json.RawMessage(`{"command":"x","args":["<&>"]}`)
	for name, c := range map[string]struct{ text, want string }{
		"a key among others": {"{\n\t\"n\": 1.0e2, // why\n\t\"m\": {\n\t\t\"a\": 1\n\t}\n}\n",
			"{\n\t\"n\": 1.0e2, // why\n\t\"m\": {\n\t\t\"a\": 1,\n\t\t\"k\": {\n\t\t\t\"command\": \"x\",\n\t\t\t\"args\": [\n\t\t\t\t\"<&>\"\n\t\t\t]\n\t\t}\n\t}\n}\n"},
		"a trailing comma": {"{\n  \"m\": {\n    \"a\": 1,\n  },\n}",
			"{\n  \"m\": {\n    \"a\": 1,\n    \"k\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"<&>\"\n      ]\n    },\n  },\n}"},
		"Windows' line ends and a mark": {"\ufeff{\r\n    \"m\": {}\r\n}\r\n",
			"\ufeff{\r\n    \"m\": {\r\n        \"k\": {\r\n            \"command\": \"x\",\r\n            \"args\": [\r\n                \"<&>\"\r\n            ]\r\n        }\r\n    }\r\n}\r\n"},
		"one line":          {`{"m":{"a":1}}`, `{"m":{"a":1,"k":{"command":"x","args":["<&>"]}}}`},
		"one line, spaced":  {`{ "m": { "a": 1 } }`, `{ "m": { "a": 1, "k": {"command":"x","args":["<&>"]} } }`},
		"nothing above yet": {"{\n  \"a\": 1\n}", "{\n  \"a\": 1,\n  \"m\": {\n    \"k\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"<&>\"\n      ]\n    }\n  }\n}"},
		"an empty file":     {"{}", "{\n  \"m\": {\n    \"k\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"<&>\"\n      ]\n    }\n  }\n}"},
		"only a comment":    {"{\n  \"m\": {\n    // none yet\n  }\n}", "{\n  \"m\": {\n    // none yet\n    \"k\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"<&>\"\n      ]\n    }\n  }\n}"},
		"a comment after":   {"{\n  \"m\": {\n    \"a\": 1 // last\n  }\n}", "{\n  \"m\": {\n    \"a\": 1,\n    \"k\": {\n      \"command\": \"x\",\n      \"args\": [\n        \"<&>\"\n      ]\n    } // last\n  }\n}"},
		"in place":          {"{\n  \"m\": {\"k\": [1,\n2] /* old */}\n}", "{\n  \"m\": {\"k\": {\n    \"command\": \"x\",\n    \"args\": [\n      \"<&>\"\n    ]\n  } /* old */}\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			got := edited(t, c.text, func(d *Doc) ([]patch.Edit, error) { return d.Put(value, "m", "k") })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCutTakesOnlyTheMember(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"a\": 1, // one\n  \"k\": 2,\n  \"b\": 3\n}":    "{\n  \"a\": 1, // one\n  \"b\": 3\n}",
		"{\n  \"a\": 1,\n  \"k\": 2\n}":                        "{\n  \"a\": 1\n}",
		"{\n  \"a\": 1, // one\n  \"k\": 2 // two\n}":          "{\n  \"a\": 1 // one // two\n}",
		"{\n  \"a\": 1,\n  \"k\": 2,\n}":                       "{\n  \"a\": 1,\n}",
		"{\n  \"k\": 2\n}":                                     "{}",
		"{\n  \"k\": 2,\n}":                                    "{}",
		"{\n  // keep\n  \"k\": 2\n}":                          "{\n  // keep\n}",
		`{"k":1,"a":[1,2]}`:                                    `{"a":[1,2]}`,
		`{ "a": 1, "k": 2 }`:                                   `{ "a": 1 }`,
		"{\n  \"k\": {\"x\": 1},\n\n  // about a\n  \"a\": 3}": "{\n\n  // about a\n  \"a\": 3}",
	} {
		got := edited(t, text, func(d *Doc) ([]patch.Edit, error) { return d.Cut("k") })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
}

func TestElementsComeAndGo(t *testing.T) {
	text := "{\n  \"h\": [\n    1\n  ]\n}"
	got := edited(t, text, func(d *Doc) ([]patch.Edit, error) { return d.Add(json.RawMessage(`{"a":1}`), "h") })
	if want := "{\n  \"h\": [\n    1,\n    {\n      \"a\": 1\n    }\n  ]\n}"; got != want {
		t.Fatalf("got %s", got)
	}
	if got := edited(t, got, func(d *Doc) ([]patch.Edit, error) {
		h, _ := d.Find("h")
		return h.CutElement(1), nil
	}); got != text {
		t.Errorf("got %s", got)
	}
	if got := edited(t, "{}", func(d *Doc) ([]patch.Edit, error) { return d.Add(json.RawMessage(`1`), "h") }); got != "{\n  \"h\": [\n    1\n  ]\n}" {
		t.Errorf("got %s", got)
	}
}

func TestWhatIsNotCertainIsRefused(t *testing.T) {
	for _, text := range []string{"", "  ", "[]", `"x"`, `{"a":1,"a":2}`, `{"b":{"a":1,"\u0061":2}}`, `{"a":}`, `{a:1}`, `{"a":1} x`, strings.Repeat(`{"a":`, 5000)} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%.40q was taken", text)
		}
	}
	doc, err := Parse([]byte(`{"m":[1],"n":3}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := doc.Put(json.RawMessage(`1`), "m", "k"); err == nil {
		t.Error("a member was put into an array")
	}
	if _, err := doc.Add(json.RawMessage(`1`), "n"); err == nil {
		t.Error("an element was added to a number")
	}
	for _, path := range [][]string{{"x"}, {"m", "k"}, {}} {
		if _, err := doc.Cut(path...); err == nil {
			t.Errorf("%v was cut", path)
		}
	}
}

func TestPlainIsStandardJSONWithItsNumbers(t *testing.T) {
	doc, err := Parse([]byte(`{"a": {"n": 1.50e+3, /* x */ "l": [1, 2,],}}`))
	if err != nil {
		t.Fatal(err)
	}
	n, _ := doc.Find("a")
	if got := string(n.Plain()); got != `{"n":1.50e+3,"l":[1,2]}` {
		t.Errorf("got %s", got)
	}
}
