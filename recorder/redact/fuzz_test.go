package redact

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzJSON holds that valid JSON stays valid, that a second pass changes nothing,
// and that what is no JSON does not break the reader.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"password":"x","env":{"A":1},"t":"{\"token\":\"y\"}"}`, `["--token","x"]`, `{"name":"token","value":{"value":"z"}}`,
		`"https:\/\/a:b@c"`, `"\ud83d\ude00 Bearer abc123def"`, `{"value":"password=a","name":"secret"}`, `[1e5,-0,"\u0000"]`, `{"a`, `"\`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		out := JSON(raw)
		if !bytes.Equal(raw, before) {
			t.Fatalf("the input was changed: %q", raw)
		}
		if !json.Valid(raw) {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("JSON(%q) = %q, which is not valid", raw, out)
		}
		if again := JSON(out); !bytes.Equal(again, out) {
			t.Fatalf("a second pass over %q gives %q", out, again)
		}
	})
}

// TestNoSecretSurvives builds documents around secrets, some keys and escapes
// drawn at random, and holds that the secrets go and their neighbours stay.
func TestNoSecretSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(secrets))).Draw(t, "secret")
		secret := secrets[name]
		neighbour := rapid.StringMatching(`[a-z é"\\\n]{0,20}`).Draw(t, "neighbour")
		text := escapeSome(t, neighbour+" "+secret+" "+neighbour)
		key, _ := json.Marshal(rapid.StringMatching(`[xyz.é/"]{0,6}`).Draw(t, "key"))
		number := rapid.SampledFrom([]string{"9007199254740993", "1.0", "-0", "1e400"}).Draw(t, "number")
		head, tail := `{`+string(key)+`:[`+number+`,"`, `"],"z" :  `+number+`}`
		raw := head + text + tail
		for layers := rapid.IntRange(0, 2).Draw(t, "layers"); layers > 0; layers-- {
			quoted, _ := json.Marshal(raw)
			raw, head, tail = `{"text":`+string(quoted)+`}`, `{"text":"`, `"}`
		}
		if !json.Valid([]byte(raw)) {
			t.Fatalf("the test made no JSON: %s", raw)
		}

		out := string(JSON([]byte(raw)))
		if !json.Valid([]byte(out)) {
			t.Fatalf("not valid: %s", out)
		}
		if strings.Contains(decodeAll(out), secret) {
			t.Fatalf("%s survived in %s", name, out)
		}
		if !strings.HasPrefix(out, head) || !strings.HasSuffix(out, tail) {
			t.Fatalf("the bytes around %s changed: %s", raw, out)
		}
	})
}

// escapeSome spells a JSON string's inside with some characters as \uXXXX.
func escapeSome(t *rapid.T, s string) string {
	quoted, _ := json.Marshal(s)
	inside := string(quoted[1 : len(quoted)-1])
	every := rapid.IntRange(1, 9).Draw(t, "every")
	var b strings.Builder
	for i := 0; i < len(inside); i++ {
		c := inside[i]
		if c == '\\' {
			n := 2
			if inside[i+1] == 'u' {
				n = 6
			}
			b.WriteString(inside[i : i+n])
			i += n - 1
			continue
		}
		if c < 0x80 && i%every == 0 {
			b.WriteString(`\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789ABCDEF"[c&15]))
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// decodeAll joins a document with what its strings decode to, layer by layer.
func decodeAll(doc string) string {
	var all strings.Builder
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, member := range v {
				all.WriteString(key + "\n")
				visit(member)
			}
		case []any:
			for _, element := range v {
				visit(element)
			}
		case string:
			all.WriteString(v + "\n")
			visit(decoded(v))
		}
	}
	visit(decoded(doc))
	return doc + "\n" + all.String()
}

func decoded(doc string) any {
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}
