package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/bir-run/bir/engine/dts"
)

// FuzzTypesAreTypeScript holds that whatever was recorded, the declarations are
// valid TypeScript and nothing but declarations: a compiler of another maker finds
// no error in them and no code.
func FuzzTypesAreTypeScript(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, `1e400`, `"*/ let x = 1; /*"`, `{"*/ let x; /*": "\u2028*/ let y;"}`,
		`{"__proto__": {"constructor": [[], [null, {"a b": true}]]}, "": 1, "class": -0}`,
		`[{"a": 1, "b": "x"}, {"a": null, "c": [1, "two", [false]]}, "text", 5]`,
		`{"dev-1":{},"dev-2":{},"dev-3":{"a":1},"dev-4":{},"dev-5":{},"dev-6":{},"dev-7":{},"dev-8":{}}`,
		"\"`${evil()}`\\n// \"", `{"line\nbreak": "a\rb", "é😀": "\ud83d"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sample string) {
		if !json.Valid([]byte(sample)) {
			t.Skip()
		}
		text, err := dts.File{
			Comment:   []string{"a comment"},
			Aliases:   []dts.Alias{{Name: "Result", Doc: "of " + sample, Sample: json.RawMessage(sample)}},
			Variables: []dts.Variable{{Name: "params", Sample: json.RawMessage(sample)}, {Name: "toolOutput", Type: "string"}},
		}.Write()
		if err != nil {
			t.Fatal(err)
		}
		out := api.Transform(text, api.TransformOptions{Loader: api.LoaderTS})
		if len(out.Errors) > 0 {
			t.Errorf("%s: %s\n%s", sample, out.Errors[0].Text, text)
		}
		if code := strings.TrimSpace(string(out.Code)); code != "" {
			t.Errorf("%s: code came out: %q\n%s", sample, code, text)
		}
	})
}
