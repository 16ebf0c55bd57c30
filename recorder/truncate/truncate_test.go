package truncate

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bir-run/bir/recorder/jsontext"
)

func parse(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %.200s", err, raw)
	}
	return v
}

func TestWhatFitsIsLeftAlone(t *testing.T) {
	for _, in := range []string{`{"a":1.0,"b":"x"}`, `[1]`, `"x"`, ``, `{"truncated":true}`, "{ \"a\" : -0 }\n"} {
		if got, wasCut := JSON([]byte(in), 0); string(got) != in || wasCut {
			t.Errorf("JSON(%s) = %s, %v", in, got, wasCut)
		}
	}
}

func TestToolResultKeepsItsHeads(t *testing.T) {
	text := func(s string) string { return `{"type":"text","text":"` + s + `"}` }
	raw := `{"content":[` + text("first "+strings.Repeat("é", 80<<10)) + `,` + text("second "+strings.Repeat("x", 80<<10)) + `],"isError":false,"_meta":{"n":9007199254740993}}`
	got, wasCut := JSON([]byte(raw), 0)
	if !wasCut || len(got) > MaxBytes || len(got) < MaxBytes*9/10 {
		t.Fatalf("cut %v to %d bytes", wasCut, len(got))
	}
	if !bytes.HasPrefix(got, fmt.Appendf(nil, `{"truncated":true,"originalBytes":%d,`, len(raw))) {
		t.Errorf("the marker is not in front: %.80s", got)
	}
	if !bytes.Contains(got, []byte(`"isError":false,"_meta":{"n":9007199254740993}`)) {
		t.Errorf("small members are gone: %s", got[len(got)-80:])
	}
	content := parse(t, got)["content"].([]any)
	if len(content) != 2 {
		t.Fatalf("%d blocks are left, want 2", len(content))
	}
	for i, head := range []string{"first é", "second x"} {
		block := content[i].(map[string]any)
		if text := block["text"].(string); !strings.HasPrefix(text, head) || !strings.HasSuffix(text, "…") || block["type"] != "text" {
			t.Errorf("block %d is %.40s", i, text)
		}
	}
}

func TestCutShapes(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, c := range []struct{ name, in, want string }{
		{"array", `[1,2,"` + long + `"]`, `{"truncated":true,"originalBytes":1008,"head":[1,2,"xxx`},
		{"string", `"` + long + `"`, `{"truncated":true,"originalBytes":1002,"head":"xxx`},
		{"no json", `{"a` + long, `{"truncated":true,"originalBytes":1003,"head":"{\"axxx`},
		{"its own marker", `{"truncated":false,"originalBytes":3,"a":"` + long + `"}`, `{"truncated":true,"originalBytes":1044,"a":"xxx`},
		{"its own marker, spelled otherwise", `{"trunc\u0061ted":false,"a":"` + long + `"}`, `{"truncated":true,"originalBytes":1031,"a":"xxx`},
		{"number", strings.Repeat("9", 1000), `{"truncated":true,"originalBytes":1000,"head":null}`},
		{"later small members", `{"a":` + strings.Repeat("9", 1000) + `,"b":1}`, `{"truncated":true,"originalBytes":1012,"a":null,"b":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, wasCut := JSON([]byte(c.in), 300)
			if !wasCut || len(got) > 300 || !json.Valid(got) || !strings.HasPrefix(string(got), c.want) {
				t.Errorf("JSON = %s (%d bytes)", got, len(got))
			}
		})
	}
}

func TestSmallTextThatIsNoJSONBecomesAString(t *testing.T) {
	if got, wasCut := JSON([]byte("a <b"), 0); string(got) != `"a <b"` || wasCut {
		t.Errorf("got %s, %v", got, wasCut)
	}
}

func TestBinaryBlocksGiveWayToTheirHash(t *testing.T) {
	data := bytes.Repeat([]byte{0, 1, 254}, 100_000)
	sum := sha256.Sum256(data)
	with := fmt.Sprintf(`{"truncated":true,"originalBytes":300000,"sha256":"%s"}`, hex.EncodeToString(sum[:]))
	b64 := strings.ReplaceAll(base64.StdEncoding.EncodeToString(data), "/", `\/`)
	frame := func(v string) string {
		return `{"content":[{"data":` + v + `,"type":"image","mimeType":"image/png"},{"type":"resource","resource":{"uri":"x:","blob":` + v +
			`}},{"type":"audio","data":` + v + `},{"type":"text","text":"kept"}]}`
	}
	got, wasCut := JSON([]byte(frame(`"`+b64+`"`)), 0)
	if diff := cmp.Diff(frame(with), string(got)); diff != "" || wasCut {
		t.Errorf("cut %v: %s", wasCut, diff)
	}
}

func TestBinaryThatIsNoBase64IsHashedAsText(t *testing.T) {
	text := strings.Repeat("%", 500)
	sum := sha256.Sum256([]byte(text))
	got, _ := JSON([]byte(`{"type":"image","data":"`+text+`"}`), 0)
	if !strings.Contains(string(got), `"originalBytes":500,"sha256":"`+hex.EncodeToString(sum[:])) {
		t.Errorf("got %s", got)
	}
}

func TestDataThatIsNoBlockStays(t *testing.T) {
	raw := `{"type":"report","data":"` + strings.Repeat("A", 1000) + `","blob":"` + strings.Repeat("B", 1000) + `"}`
	if got, _ := JSON([]byte(raw), 0); string(got) != raw {
		t.Errorf("got %.200s", got)
	}
}

func TestText(t *testing.T) {
	if got, wasCut := Text("short", 10); got != "short" || wasCut {
		t.Errorf("got %q, %v", got, wasCut)
	}
	got, wasCut := Text(strings.Repeat("é", 200), 101)
	if !wasCut || len(got) > 101 || !utf8.ValidString(got) || !strings.HasSuffix(got, "é [truncated, originalBytes: 400]") {
		t.Errorf("got %q, %v", got, wasCut)
	}
	if got, _ := Text("0123456789", 4); len(got) != 4 {
		t.Errorf("got %q", got)
	}
}

// TestEveryCutIsValid holds, for documents drawn at random, that a cut is valid
// JSON within its bound, is marked, and changes nothing the second time.
func TestEveryCutIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(value(t, 4))
		if err != nil {
			t.Fatal(err)
		}
		max := rapid.IntRange(minBytes, 2000).Draw(t, "max")
		got, wasCut := JSON(raw, max)
		if !json.Valid(got) || len(got) > max {
			t.Fatalf("JSON(%s, %d) = %s (%d bytes)", raw, max, got, len(got))
		}
		if wasCut != (len(raw) > max) || wasCut && !bytes.HasPrefix(got, fmt.Appendf(nil, `{"truncated":true,"originalBytes":%d`, len(raw))) {
			t.Fatalf("marked wrongly (%v): %.100s", wasCut, got)
		}
		if again, twice := JSON(got, max); twice || !bytes.Equal(again, got) {
			t.Fatalf("a second cut gives %s", again)
		}
	})
}

// TestShortenedTextIsCutAlike holds that dropping the ends of long strings first
// changes no byte of what is kept.
func TestShortenedTextIsCutAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(value(t, 4))
		if err != nil {
			t.Fatal(err)
		}
		limit := rapid.IntRange(minBytes, 600).Draw(t, "limit")
		if len(raw) <= limit {
			return
		}
		long, _ := jsontext.Long(raw, longBytes)
		short := shorten(raw, long, limit)
		if diff := cmp.Diff(string(cut(raw, 7, limit)), string(cut(short, 7, limit))); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestBorderIsTheLastBetweenTwoCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "😀", `\n`, `\\`, `\"`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, "\xff"})).Draw(t, "parts")
		raw := []byte(`"` + strings.Join(parts, "") + `"`)
		limit := rapid.IntRange(1, len(raw)).Draw(t, "limit")
		want := 1
		for want < limit {
			size := step(raw[want:])
			if want+size > limit {
				break
			}
			want += size
		}
		if got := border(raw, limit); got != want {
			t.Fatalf("border(%s, %d) = %d, want %d", raw, limit, got, want)
		}
	})
}

func value(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 && kind > 2 {
		kind -= 3
	}
	switch kind {
	case 0:
		return rapid.Float64Range(-1e6, 1e6).Draw(t, "number")
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2, 3:
		return strings.Repeat(rapid.StringMatching(`[a-z"\\\n\x{1F600}é<]{0,9}`).Draw(t, "text"), rapid.IntRange(0, 300).Draw(t, "times"))
	case 4:
		list := []any{}
		for range rapid.IntRange(0, 6).Draw(t, "length") {
			list = append(list, value(t, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 6).Draw(t, "members") {
		object[rapid.StringMatching(`[a-d"é]{0,60}`).Draw(t, "key")] = value(t, depth-1)
	}
	return object
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"image","data":"`+strings.Repeat("A", 400)+`"}]}`), 256)
	f.Add([]byte(`["\ud83d\ude00\u00e9`+strings.Repeat(`\ud83d\ude00`, 90)+`"]`), 300)
	f.Add([]byte(strings.Repeat("[", 900)), 256)
	f.Fuzz(func(t *testing.T, raw []byte, limit int) {
		got, _ := JSON(raw, limit)
		bound := MaxBytes
		if limit > 0 {
			bound = max(limit, minBytes)
		}
		if len(got) > bound || len(raw) > 0 && !json.Valid(got) {
			t.Fatalf("JSON(%q, %d) = %q", raw, limit, got)
		}
	})
}

func BenchmarkWithinBound(b *testing.B) {
	raw := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat(`a line of text\n`, 4000) + `"}]}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		JSON(raw, 0)
	}
}

func BenchmarkCutOneMiB(b *testing.B) {
	raw := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat(`a line of text\n`, 64<<10) + `"}]}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		JSON(raw, 0)
	}
}

func BenchmarkImageOneMiB(b *testing.B) {
	raw := []byte(`{"content":[{"type":"image","data":"` + base64.StdEncoding.EncodeToString(make([]byte, 1<<20)) + `"}]}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		JSON(raw, 0)
	}
}
