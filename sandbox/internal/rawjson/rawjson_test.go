package rawjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/sandbox/internal/rawjson"
)

var texts = []string{
	`null`, `true`, `false`, `0`, `-1.5e+3`, `""`, `"a"`, `"a\"b\\"`, `"\u00e9\ud83d\ude00\ud800x"`, `[]`, `{}`,
	` [ 1 , "x" , { "a" : [ ] } ] `, `{"a":{"b":[true,null,{"c":"d,}]"}]},"\u0061":1}`, `"\/\b\f\n\r\t"`,
	``, `"`, `"\`, `"\u12`, `"\x"`, `[`, `[1`, `[1,`, `[1,]`, `{"a"}`, `{"a":}`, `{a:1}`, `01`, `1.`, `.5`, `+1`, `1e`, `-`, `nul`,
	`1 2`, `tru e`, `"a"b`, `[1 2]`, `{"a":1,}`, `"\ud83d\u0041"`, `[[[[[]]]]]`,
}

func TestReadsWhatTheStandardLibraryReads(t *testing.T) {
	for _, text := range texts {
		compare(t, text)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if json.Valid([]byte(text)) { // elsewhere it may be laxer, not longer
			compare(t, text)
		}
		v, err := rawjson.Parse([]byte(text))
		raw := rawjson.At([]byte(text)).Raw()
		if err == nil && len(raw) == 0 || err != nil && v != nil {
			t.Fatalf("%q: %v, %v and the raw value %q", text, v, err, raw)
		}
	})
}

// compare holds Parse against encoding/json, which replaces invalid UTF-8 where
// Parse keeps it: such texts are left out.
func compare(t *testing.T, text string) {
	t.Helper()
	if strings.ToValidUTF8(text, "") != text || strings.Count(text, "[")+strings.Count(text, "{") > 200 {
		return
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var want any
	valid := json.Valid([]byte(text))
	got, err := rawjson.Parse([]byte(text))
	if (err == nil) != valid {
		t.Errorf("%q: error %v, and the standard library says valid: %v", text, err, valid)
		return
	}
	if !valid {
		return
	}
	if err := dec.Decode(&want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
		t.Errorf("%q: %s", text, diff)
	}
	if raw := rawjson.At([]byte(text)).Raw(); !bytes.Equal(raw, bytes.TrimSpace([]byte(text))) {
		t.Errorf("%q: the raw value is %q", text, raw)
	}
}

// plain has numbers as strings of their own type for both readers.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return rawjson.Number(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}
