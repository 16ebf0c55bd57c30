package cases_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
	"github.com/google/go-cmp/cmp"
)

func TestAcceptChangesTheExpectedValueAndNothingElse(t *testing.T) {
	before := `[
  { "id" : "a", "kind":"raw","body":"return 1","expect":{"value":  2 , "x": 0} },
  {"id": "b", "kind": "raw",   "body": "return {}",
   "expect": {
     "value": {
       "old": 1
     }
   }
  },
  {"id": "c", "kind": "raw", "body": "return 3", "expect": {"error": "throw"}}
]
`
	want := `[
  { "id" : "a", "kind":"raw","body":"return 1","expect":{"value":  1 , "x": 0} },
  {"id": "b", "kind": "raw",   "body": "return {}",
   "expect": {
     "value": {
       "n": [
         1
       ]
     }
   }
  },
  {"id": "c", "kind": "raw", "body": "return 3", "expect": {"value": 3}}
]
`
	file := write(t, t.TempDir(), "cases.json", before)
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err) // not every Windows lets us
	}
	for i, value := range []string{"1", `{"n":[1]}`, "3"} {
		expect := &cases.Expect{Value: json.RawMessage("0")}
		if i == 2 {
			expect = &cases.Expect{Error: sandbox.TypeThrow}
		}
		o := cases.Outcome{Value: json.RawMessage(value), Case: cases.Case{Expect: expect, Place: cases.Place{File: link, Index: i}}}
		if err := cases.Accept(o); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
}

func TestAcceptReplacesAFileThatIsTheValue(t *testing.T) {
	for before, want := range map[string]string{"2": "[1]\n", "[\n  2\n]\n": "[\n  1\n]\n"} {
		file := write(t, t.TempDir(), "want.json", before)
		o := cases.Outcome{Value: json.RawMessage("[1]"), Case: cases.Case{
			Expect: &cases.Expect{Value: json.RawMessage(before)}, Place: cases.Place{File: file, Index: cases.Whole},
		}}
		if err := cases.Accept(o); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%q became %q, want %q (%v)", before, got, want, err)
		}
	}
}

func TestOnlyAnotherValueIsAcceptable(t *testing.T) {
	expect := cases.Case{Expect: &cases.Expect{Value: json.RawMessage("1")}}
	for _, o := range []cases.Outcome{
		{OK: true, Value: json.RawMessage("1"), Case: expect},
		{Error: &sandbox.Error{Type: sandbox.TypeThrow}, Case: expect},
		{Value: json.RawMessage("1")},
	} {
		if o.Acceptable() || cases.Accept(o) == nil {
			t.Errorf("accepted %+v", o)
		}
	}
}
