package clean

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bir-run/bir/recorder/redact"
	"github.com/bir-run/bir/recorder/truncate"
)

const limit = 600

// TestLargePayloadsAreCleanedAsIfReadWhole: what is dropped of a payload is not
// looked at, and the rest comes out as if it had been.
func TestLargePayloadsAreCleanedAsIfReadWhole(t *testing.T) {
	secrets := []string{
		"sk-" + "a1b2c3d4e5f6g7h8", "password=hunter2", `password: "hunter2 and more"`, "Authorization: Bearer abc123def456ghi789", "postgres://ada:lovelace@db/x",
		"-----BEGIN PRIVATE KEY-----\nMIIabc\nMIIdef\n-----END PRIVATE KEY-----", "AKIA" + "ABCDEFGHIJKLMNOP", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
		`{"password":"hunter2"}`, `{"value":"hunter2","name":"API_KEY"}`, `[{"env":{"A":"b"}}]`, `{"note":{"value":"hunter2","comment":"` + strings.Repeat("c", 5000) + `","name":"API_KEY"}}`,
	}
	plain := []string{"a word ", "é ", "\"quoted\" ", "line\n", strings.Repeat("x", 100), strings.Repeat("y ", 300), strings.Repeat("z", 5000), "f(a=1) "}
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			parts := rapid.SliceOfN(rapid.SampledFrom(plain), 0, 8).Draw(t, name)
			if rapid.Bool().Draw(t, "secret") {
				parts = append(parts, rapid.SampledFrom(secrets).Draw(t, "which"))
				parts = append(parts, rapid.SliceOfN(rapid.SampledFrom(plain), 0, 8).Draw(t, "rest")...)
			}
			return strings.Join(parts, "")
		}
		var value any = text("text")
		for range rapid.IntRange(0, 3).Draw(t, "layers") {
			switch rapid.IntRange(0, 3).Draw(t, "shape") {
			case 0:
				value = []any{text("before"), value}
			case 1:
				value = map[string]any{"text": value, "password": text("password")}
			case 2:
				value = map[string]any{"name": "x", "value": value, "more": text("more")}
			case 3: // JSON in a string
				value = string(encode(t, value))
			}
		}
		raw := encode(t, value)
		want, _ := truncate.Scan(raw, limit).Redacted(redact.JSON(raw)).JSON()
		if diff := cmp.Diff(string(want), string(JSON(raw, limit))); diff != "" {
			t.Fatalf("%s\n%s", raw, diff)
		}
	})
}

func encode(t *rapid.T, v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestWhatIsNoJSONIsCleanedToo(t *testing.T) {
	text := "not JSON, token=hunter2 " + strings.Repeat("x", 2000)
	got := string(JSON(json.RawMessage(text), limit))
	if strings.Contains(got, "hunter2") || len(got) > limit || !json.Valid([]byte(got)) {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if got := Text("token=hunter2 "+strings.Repeat("x", 2000), limit); strings.Contains(got, "hunter2") || len(got) > limit {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestASecretAtTheCutDoesNotLeaveAHalf(t *testing.T) {
	secret := "sk-" + strings.Repeat("a1b2c3d4", 8)
	for before := limit - 100; before < limit+100; before++ {
		raw := json.RawMessage(`{"text":"` + strings.Repeat("w ", before/2) + strings.Repeat("-", before%2) + " " + secret + strings.Repeat(" x", 20000) + `"}`)
		if got := string(JSON(raw, limit)); strings.Contains(got, "a1b2") || !json.Valid([]byte(got)) {
			t.Fatalf("%d bytes before it: %s", before, got)
		}
	}
}
