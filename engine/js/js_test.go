package js_test

import (
	"testing"

	"github.com/bir-run/bir/engine/js"
	"github.com/bir-run/bir/engine/value"
)

func TestTemplatesEscapeWhatTheyMustAndNoMore(t *testing.T) {
	tests := []struct {
		parts []js.Part
		want  string
	}{
		{nil, `""`},
		{[]js.Part{{Text: "plain `x` ${y}"}}, "\"plain `x` ${y}\""},
		{[]js.Part{{Text: "a `b` ${c} \\ \" \n"}, {Expr: "params.d"}}, "`a \\`b\\` \\${c} \\\\ \" \\n${params.d}`"},
		{[]js.Part{{Text: "a\nb\n"}, {Expr: "x"}}, "[\n  \"a\",\n  \"b\",\n  `${x}`,\n].join(\"\\n\")"},
	}
	for _, test := range tests {
		if got := js.Template(test.parts, ""); got != test.want {
			t.Errorf("got %s\nwant %s", got, test.want)
		}
	}
}

func TestLiteralsSetPropertiesOnly(t *testing.T) {
	n, err := value.Parse([]byte(`{"__proto__":1,"a-b":[1,{"c":null}],"d":"\u2028"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{ ["__proto__"]: 1, "a-b": [1, { c: null }], d: "\u2028" }`
	if got := js.Literal(n, ""); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
