package value_test

import (
	"encoding/json"
	"testing"

	"github.com/bir-run/bir/engine/value"
)

func TestDiffNamesTheFirstDifference(t *testing.T) {
	tests := []struct{ want, got, diff string }{
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, ""},
		{`{"a":[1,2]}`, `{"a":[1,3]}`, "a[1]: want 2, got 3"},
		{`{"a":[1,2]}`, `{"a":[1]}`, "a: want 2 elements, got 1"},
		{`{"a":{"b":"x"}}`, `{"a":{}}`, "a.b: missing"},
		{`{}`, `{"a":null}`, "a: not in the recording"},
		{`"1"`, `1`, `(whole value): want "1", got 1`},
		{`{"a":null}`, `{"a":false}`, "a: want null, got false"},
		{`1e21`, `1e+21`, ""},
		{`1.50`, `1.5`, ""},
		{`1.0`, `1`, "(whole value): want 1.0, got 1"},
		{`-0`, `0`, "(whole value): want -0, got 0"},
		{`9007199254740993`, `9007199254740992`, "(whole value): want 9007199254740993, got 9007199254740992"},
		{`1e999999999`, `1e999999998`, "(whole value): want 1e999999999, got 1e999999998"},
	}
	for _, test := range tests {
		if got := value.Diff(json.RawMessage(test.want), json.RawMessage(test.got)); got != test.diff {
			t.Errorf("%s and %s: %q, want %q", test.want, test.got, got, test.diff)
		}
	}
}

func TestJavaScriptPrintsNumbersAsAProgramWould(t *testing.T) {
	tests := []struct {
		text, printed string
		exact         bool
	}{
		{"0.93", "0.93", true}, {"42", "42", true}, {"1.0", "1", false}, {"1e21", "1e+21", true},
		{"1e-7", "1e-7", true}, {"-0", "0", false}, {"9007199254740993", "9007199254740992", false},
		{"123456789012345680000", "123456789012345680000", true}, {"1e999", "", false},
	}
	for _, test := range tests {
		printed, exact := value.JavaScript(test.text)
		if printed != test.printed || exact != test.exact {
			t.Errorf("%s: %s, %v", test.text, printed, exact)
		}
	}
}

func FuzzEveryValueEqualsItself(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x",null,true,{"b":-0}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := value.Parse(text)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is not JSON", text)
		}
		if !n.Equal(n) {
			t.Fatalf("%q differs from itself", text)
		}
	})
}
