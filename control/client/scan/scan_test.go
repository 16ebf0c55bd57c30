package scan

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// hard are texts at which a scanner goes wrong, good and bad ones.
var hard = []string{
	``, ` `, `{}`, ` { } `, `{}{}`, `{},`, `[]`, `null`, `"x"`, `{`, `}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`,
	`{"a":1}`, `{"a" : 1 , "b":[1,2,{"c":"d"}]}`, `{"a":01}`, `{"a":-}`, `{"a":-0.5e+7}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`,
	`{"a":1E-2}`, `{"a":tru}`, `{"a":true}`, `{"a":nulll}`, `{"a":"\u00e9\n\"\\\/"}`, `{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`,
	`{"a":"\ud83d\u0041"}`, `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\u12G4"}`, "{\"a\":\"\n\"}", "{\"a\":\"\t\"}", `{"a":"`, `{"a":"\`, `{"a":"\"`,
	`{"a":1,"a":2}`, `{"":""}`, `{"\u0061":1}`, "\ufeff{}", "{\"a\":\"\xff\"}", `{"a":[}`, `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":{"b":[[[]]]}}`,
	`{"a":` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `}`,
	`{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`,
	`{"a":` + strings.Repeat("[", 200_000),
}

// judge holds the scanner against encoding/json.
func judge(t *testing.T, text []byte) {
	t.Helper()
	var want map[string]json.RawMessage
	valid := json.Unmarshal(text, &want) == nil && want != nil
	got := map[string]json.RawMessage{}
	ok := Members(text, func(key string, value []byte) bool { got[key] = value; return true })
	if ok != valid || Object(text) != valid {
		t.Fatalf("object %v and %v, encoding/json says %v: %.80q", ok, Object(text), valid, text)
	}
	if !valid || !utf8.Valid(text) {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%.80q: %s", text, diff)
	}
	for _, value := range got {
		judgeValue(t, value)
	}
}

func judgeValue(t *testing.T, value []byte) {
	t.Helper()
	var text string
	isText := value[0] == '"' && json.Unmarshal(value, &text) == nil
	if got, ok := String(value); ok != isText || got != text {
		t.Fatalf("string %q, %v, want %q, %v", got, ok, text, isText)
	}
	var number int64
	isNumber := value[0] != 'n' && json.Unmarshal(value, &number) == nil
	if got, ok := Int(value); ok != isNumber || ok && got != number {
		t.Fatalf("number %d, %v, want %d, %v", got, ok, number, isNumber)
	}
	var want, got []json.RawMessage
	isArray := json.Unmarshal(value, &want) == nil && want != nil
	ok := Items(value, func(item []byte) bool { got = append(got, item); return true })
	if ok != isArray || len(got) != len(want) {
		t.Fatalf("%d items, %v, want %d, %v: %.80q", len(got), ok, len(want), isArray, value)
	}
}

func TestScannerAcceptsWhatEncodingJSONAccepts(t *testing.T) {
	for _, text := range hard {
		judge(t, []byte(text))
	}
}

func TestScannerStopsWhenAskedTo(t *testing.T) {
	var seen []string
	ok := Members([]byte(`{"a":1,"b":2,"c":!`), func(key string, _ []byte) bool { seen = append(seen, key); return key != "b" })
	if diff := cmp.Diff([]string{"a", "b"}, seen); diff != "" || !ok {
		t.Errorf("ok %v: %s", ok, diff)
	}
	count := 0
	if !Items([]byte(`[1,2,!`), func([]byte) bool { count++; return count < 2 }) || count != 2 {
		t.Errorf("%d items", count)
	}
}

func TestBytesThatAreNotUTF8StayWhatTheyAre(t *testing.T) {
	if got, ok := String([]byte("\"/home/\xff\"")); !ok || got != "/home/\xff" {
		t.Errorf("got %q, %v", got, ok)
	}
}

func FuzzScanner(f *testing.F) {
	for _, text := range hard {
		if len(text) < 1000 {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) { judge(t, text) })
}
