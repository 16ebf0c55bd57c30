package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// texts are JSON and what is nearly JSON.
var texts = []string{
	``, ` `, `null`, `nul`, `nulll`, ` true `, `false`, `0`, `-0`, `-`, `01`, `1.`, `1.5`, `.5`, `1e5`, `1E+5`, `1e-`, `1e400`, `+1`, `12 3`,
	`""`, `"`, `"a`, `"\`, `"\"`, `"\""`, `"\n\u00e9\/"`, `"\u12"`, `"\u12g4"`, `"\x"`, "\"a\nb\"", "\"a\tb\"", "\"\x7f\x80\xff\"",
	`{}`, `{ }`, `{`, `}`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1}`, `{"a":1,}`, `{"a":1 "b":2}`, `{a:1}`, `{"a":{"b":[1,2,{}]}}`, `{"a" : 1 , "b" : 2 }`,
	`[]`, `[ ]`, `[`, `]`, `[,]`, `[1,]`, `[1 2]`, `[[[]]]`, `[1,"a",null,true]`, `[}`, `{]`, `[]]`, "\v1", "\ufeff1", `{"a":1}{}`,
	strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	`"` + strings.Repeat("x", 7) + "\x1f" + `"`, `"` + strings.Repeat("é", 20) + `\"` + strings.Repeat("x", 9) + `"`,
}

func TestValidAgreesWithTheStandardLibrary(t *testing.T) {
	for _, text := range texts {
		if got, want := Valid([]byte(text)), json.Valid([]byte(text)); got != want {
			t.Errorf("Valid(%.60q) = %v, want %v", text, got, want)
		}
	}
}

func FuzzValid(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		if got, want := Valid(s), json.Valid(s); got != want {
			t.Errorf("Valid(%q) = %v, want %v", s, got, want)
		}
	})
}

func TestLongStringsAreListed(t *testing.T) {
	spans, ok := Long([]byte(`{"abc":"d","e":["fghi\"",""]} `), 4)
	if diff := cmp.Diff([]Span{{1, 6}, {16, 24}}, spans); diff != "" || !ok {
		t.Errorf("valid %v: %s", ok, diff)
	}
	if spans, ok := Long([]byte(`["abcdef"`), 4); ok || spans != nil {
		t.Errorf("%v of a text that is not valid", spans)
	}
}

func TestSpecialFindsTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SliceOf(rapid.Byte()).Draw(t, "s")
		i := rapid.IntRange(0, len(s)).Draw(t, "i")
		want := i
		for want < len(s) && s[want] >= ' ' && s[want] != '"' && s[want] != '\\' {
			want++
		}
		if got := Special(s, i); got != want {
			t.Fatalf("Special(%q, %d) = %d, want %d", s, i, got, want)
		}
	})
}

func TestStringEnd(t *testing.T) {
	type result struct {
		end         int
		escaped, ok bool
	}
	for in, want := range map[string]result{
		`x"abc"`: {5, false, true}, `x"a\"c"`: {6, true, true}, `x"a\\"c`: {5, true, true}, "x\"a\nb\"": {5, false, true},
		`x"abc`: {}, `x"abc\`: {}, `x"abc\"`: {}, `x"`: {},
	} {
		end, escaped, ok := StringEnd([]byte(in), 1)
		if diff := cmp.Diff(want, result{end, escaped, ok}, cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

func TestMembers(t *testing.T) {
	for in, want := range map[string][]string{
		`{}`: nil, `[ ]`: nil, `{"a":1}x`: {`"a"=1`}, `[1 , "a]",[2,{"b":"}"}] ,true]`: {"=1", `="a]"`, `=[2,{"b":"}"}]`, "=true"},
		"{ \"a\" : { } ,\n\"b\\\"\":\"c\\\\\",\"a\":-1.5e3}": {`"a"={ }`, `"b\""="c\\"`, `"a"=-1.5e3`},
	} {
		var got []string
		Members([]byte(in), func(key, value []byte) { got = append(got, string(key)+"="+string(value)) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

// TestStringsComeBack holds for any bytes: what a decoder reads is the text, with
// U+FFFD for what was no character.
func TestStringsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.SliceOf(rapid.Byte()), rapid.Map(rapid.String(), func(s string) []byte { return []byte(s) })).Draw(t, "in")
		quoted := AppendString(nil, in)
		var got string
		if err := json.Unmarshal(quoted, &got); err != nil {
			t.Fatalf("%q: %v", quoted, err)
		}
		if want := string(bytes.ToValidUTF8(in, []byte("\uFFFD"))); got != want {
			t.Fatalf("%q became %q", want, got)
		}
		if !Valid(quoted) {
			t.Fatalf("Valid(%q) is false", quoted)
		}
	})
}

func source() []byte {
	text := strings.Repeat("if err != nil {\n\treturn fmt.Errorf(\"open: %w\", err)\n}\n", 1200)
	return AppendString(nil, text)
}

func BenchmarkValid(b *testing.B) {
	s := source()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		if !Valid(s) {
			b.Fatal("not valid")
		}
	}
}

func BenchmarkAppendString(b *testing.B) {
	s, dst := source(), make([]byte, 0, 1<<20)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		AppendString(dst, s)
	}
}
