package jsontext

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzRows holds Rows to what Valid and Members find in two passes.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{
		`[]`, ` [ ] `, `[{}]`, `[{"a":1,"b":{"c":[2]}} , {"a\"":"x"}, 7, [1], "s"]`, `[{"a":1}`, `[{"a":1,}]`, `[,]`, `[1,]`, `[1 2]`,
		`{"a":1}`, `[{"a" 1}]`, `[{1:2}]`, `[{"a":tru}]`, `[] x`, ``, `[{`, `[{"a"`, `[{"a":`, `[`, `[{"a":1}}`, "[\"\xff\"]",
	} {
		f.Add([]byte(seed))
	}
	type row struct {
		Element string
		Members []string
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		got, want := []row{}, []row{}
		ok := Rows(s, func(element Span, members []Member) {
			r := row{Element: string(s[element.Start:element.End])}
			for _, m := range members {
				r.Members = append(r.Members, string(m.Key), string(s[m.Start:m.End]))
			}
			got = append(got, r)
		})
		var list []json.RawMessage
		if wanted := json.Unmarshal(s, &list) == nil && list != nil; wanted != ok {
			t.Fatalf("%q: valid %v, want %v", s, ok, wanted)
		}
		if !ok {
			return
		}
		trimmed := s[start(s):]
		Members(trimmed, func(_, element []byte) {
			r := row{Element: string(element)}
			if element[0] == '{' {
				Members(element, func(key, value []byte) {
					r.Members = append(r.Members, string(key[1:len(key)-1]), string(value))
				})
			}
			want = append(want, r)
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", s, diff)
		}
	})
}

// start is where the text's value begins.
func start(s []byte) int {
	i := 0
	for s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r' {
		i++
	}
	return i
}
