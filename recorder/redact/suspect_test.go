package redact

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func everything([]byte) bool { return true }

// pieces are what texts with and without secrets are made of.
func pieces() []string {
	all := slices.Sorted(maps.Keys(secretWords))
	all = append(all, slices.Sorted(maps.Keys(keyOwners))...)
	all = append(all, slices.Sorted(maps.Keys(passOwners))...)
	for _, secret := range slices.Sorted(maps.Keys(secrets)) {
		all = append(all, secrets[secret])
	}
	for _, candidates := range shapes {
		for _, s := range candidates {
			all = append(all, s.prefix+strings.Repeat("A1", 25), s.prefix)
		}
	}
	all = append(all, strings.Fields(`key Key keys pass pwd env envs environ environment vars Var auth author sig X-Amz-Signature
		Bearer Basic YWRhOmxvdmVsYWNl https:// ada:pw@e.com a@b.c name value --token u00 us ing ed -----END`)...)
	all = append(all, "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----", "-----BEGIN EC PRIVATE KEY-----", "to\u212aen", "access\u212aey", "web\u212ahook")
	for _, between := range []string{"", "", "_", "-", " ", "\n", "\t", ":", "=", ": ", " = ", `"`, `'`, `\`, "/", "<", ">", "&", "?", "@", ".", "é", "\u2028", ",", "{", "}", "[", "]", "1", "x", "hunter2", "abc123def456", "\x01", "\x7f"} {
		all = append(all, between, between, between)
	}
	return all
}

// drawText joins pieces, with the case of some letters changed.
func drawText(t *rapid.T, from []string) string {
	text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), 1, 12).Draw(t, "pieces"), "")
	switch rapid.IntRange(0, 4).Draw(t, "case") {
	case 0:
		return strings.ToUpper(text)
	case 1:
		return strings.ToLower(text)
	case 2:
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		return text[:at] + strings.ToUpper(text[at:min(len(text), at+1)]) + text[min(len(text), at+1):]
	}
	return text
}

// drawDocument hides the text in JSON, as a key, a value or both, some of it in
// escapes, or in JSON in a string of that.
func drawDocument(t *rapid.T, from []string) string {
	doc := drawText(t, from)
	for layers := rapid.IntRange(0, 3).Draw(t, "layers"); layers > 0; layers-- {
		key, value := `"`+escapeSome(t, drawText(t, from))+`"`, `"`+escapeSome(t, doc)+`"`
		other := `"` + escapeSome(t, drawText(t, from)) + `"`
		doc = rapid.SampledFrom([]string{
			`[` + value + `]`, `[` + other + `,` + value + `]`, `{` + key + `:` + value + `}`, `{` + key + `:7,"a":` + value + `}`,
			`{"name":` + other + `,"value":` + value + `}`, `{` + key + `:{"x":` + value + `},` + other + `:true}`, value,
		}).Draw(t, "shape")
		if !json.Valid([]byte(doc)) {
			t.Fatalf("the test made no JSON: %s", doc)
		}
	}
	return doc
}

// names are every name that the tables make a secret's, and some that they do not.
func names() []string {
	all := append(slices.Sorted(maps.Keys(secretWords)), "auth", "sig", "env", "envs", "environ", "envvars", "env_vars", "environmentVariables", "dbsecret")
	for owner := range keyOwners {
		all = append(all, owner+"_key", owner+"Keys", strings.ToUpper(owner)+" KEY")
	}
	for owner := range passOwners {
		all = append(all, owner+"_pass", owner+"Pwd")
	}
	return all
}

func TestEveryNameIsSuspect(t *testing.T) {
	frames := []string{
		`{"NAME":"hunter2"}`, `{"a":[{"My-NAME2":"hunter2"}]}`, `{"NAME":{"a":"x"}}`, `{"name":"NAME","value":"x"}`, `["--NAME","x"]`, `{"a":"{\"NAME\":\"x\"}"}`,
		`NAME=hunter2`, `a\nNAME: hunter2`, `https://e.com/?NAME=hunter2`, `X-NAME: "hunter2"`, `cli --NAME hunter2`, `X-Amz-NAMEnature=ab12`, `?sNAME&X-Amz-Signature=ab12`,
	}
	for _, name := range names() {
		found := 0
		for _, frame := range frames {
			doc := []byte(strings.ReplaceAll(frame, "NAME", name))
			if len(jsonEdits(doc, everything)) == 0 {
				continue
			}
			if found++; !suspect(doc) {
				t.Errorf("%s is not suspect", doc)
			}
		}
		if found == 0 {
			t.Errorf("no frame makes a secret of %s: this test sees nothing", name)
		}
	}
}

func TestEveryShapeIsSuspect(t *testing.T) {
	all := maps.Clone(secrets)
	for _, candidates := range shapes {
		for _, s := range candidates {
			all[s.prefix] = s.prefix + strings.Repeat("A1", 25)
		}
	}
	all["pem"] = "-----BEGIN EC PRIVATE KEY-----\nMII\n-----END EC PRIVATE KEY-----"
	all["bearer"], all["basic"] = "Bearer abc123def456", "Basic YWRhOmxvdmVsYWNl"
	all["url"], all["escaped url"] = "https://ada:pw@e.com", `"https:\/\/ada:pw@e.com"`
	all["spelled"], all["spelled twice"] = `"\u0073k-a1b2c3d4e5f6"`, `["[\"\\u0073k-a1b2c3d4e5f6\"]"]`
	all["kelvin"], all["spelled kelvin"] = "{\"access\u212aey\":\"x\"}", `{"access\u212aey":"x"}`
	for name, secret := range all {
		for _, doc := range []string{secret, "x\n" + secret, `{"a":"b\n` + secret + `"}`, `"\u003c` + secret + `"`, `"{\"a\":\"\\n` + secret + `\"}"`} {
			if len(jsonEdits([]byte(doc), everything)) > 0 && !suspect([]byte(doc)) {
				t.Errorf("%s: %s is not suspect", name, doc)
			}
		}
		if len(jsonEdits([]byte(secret), everything)) == 0 {
			t.Errorf("%s: %s is no secret: this test sees nothing", name, secret)
		}
	}
}

// TestNothingThatIsFoundIsUnsuspected looks at each text with and without the
// filter: it must find the same, and nothing in a text that is passed whole.
func TestNothingThatIsFoundIsUnsuspected(t *testing.T) {
	from := pieces()
	rapid.Check(t, func(t *rapid.T) {
		doc := []byte(drawDocument(t, from))
		want := jsonEdits(doc, everything)
		if len(want) > 0 && !suspect(doc) {
			t.Fatalf("%q is not suspect, and holds %q", doc, doc[want[0].start:want[0].end])
		}
		if diff := cmp.Diff(want, jsonEdits(doc, suspect), cmp.AllowUnexported(edit{})); diff != "" {
			t.Fatalf("%q: %s", doc, diff)
		}
	})
}

func FuzzSuspect(f *testing.F) {
	for _, seed := range []string{`{"token":"x"}`, `{"api\nkey":"\u0009AKIA` + strings.Repeat("A", 16) + `"}`, `"\u003csk-a1b2c3d4e5f6"`, `{"environment\tvars":{"a":1}}`, `https:\/\/a:b@c`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		want := jsonEdits(doc, everything)
		if len(want) > 0 && !suspect(doc) {
			t.Fatalf("%q is not suspect, and holds %q", doc, doc[want[0].start:want[0].end])
		}
		if diff := cmp.Diff(want, jsonEdits(doc, suspect), cmp.AllowUnexported(edit{})); diff != "" {
			t.Fatalf("%q: %s", doc, diff)
		}
	})
}

func TestOrdinaryTextIsNotSuspect(t *testing.T) {
	for _, text := range []string{
		"the author passed the environment to a tokenizer in the authentic keyboard shop; primary key, public keys, incredible credit",
		`{"author":"ada","lastSeen":"2026-03-04T05:06:07Z","url":"https://example.com/v/7?page=2","mail":"ada@example.com","note":"a significant signal, basically\u003cb\u003e"}`,
		"func open(path string) (*File, error) {\n\tf, err := os.Open(path)\n\treturn f, nil // in Asia, said the monkey_\n}",
	} {
		if suspect([]byte(text)) {
			t.Errorf("%q is suspect", text)
		}
	}
}

func BenchmarkSuspect(b *testing.B) {
	raw := bytes.ReplaceAll(ordinaryJSON(64<<10), []byte("max_tokens"), []byte("max_number"))
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if suspect(raw) {
			b.Fatal("ordinary JSON is suspect")
		}
	}
}
