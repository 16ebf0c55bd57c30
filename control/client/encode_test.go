package client

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
)

func FuzzReportsAreSpelledAsEncodingJSONReadsThem(f *testing.F) {
	f.Add("rep_1", "tool \"x\"\n\u2028", `{"a":1.0}`, `{"content":[]}`, "", int64(1_756_600_000_123_456_789), 1500, 3)
	f.Add("", "é<&>", ``, `nonsense`, "error\x00", int64(0), 0, 0)
	f.Fuzz(func(t *testing.T, id, text, args, result, failure string, at int64, duration, lost int) {
		for _, s := range []string{id, text, args, result, failure} {
			if !utf8.ValidString(s) {
				t.Skip("how many U+FFFD stand for broken bytes is nobody's concern")
			}
		}
		r := StepReport{ID: id, ProxyID: text, ServerName: id, ToolName: text, ToolUseID: id, CallID: text, Fingerprint: id,
			Args: json.RawMessage(args), Result: json.RawMessage(result), Error: failure, Status: recorder.StatusOK,
			StartedAt: time.Unix(0, at).UTC(), DurationMS: float64(duration) / 1000, Lost: lost}.Clean()
		text1, err := json.Marshal(r)
		if err != nil {
			t.Skip(err) // a payload that Clean does not make JSON, below
		}
		var want, got StepReport
		if err := json.Unmarshal(text1, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(r.append(nil), &got); err != nil {
			t.Fatalf("%v in %s", err, r.append(nil))
		}
		same := cmp.Comparer(func(a, b json.RawMessage) bool { return string(compact(t, a)) == string(compact(t, b)) })
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Error(diff)
		}
	})
}

func compact(t *testing.T, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	text, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func BenchmarkStepReport(b *testing.B) {
	result, err := json.Marshal(map[string]string{"text": string(make([]byte, 10<<10))})
	if err != nil {
		b.Fatal(err)
	}
	r := StepReport{ID: recorder.NewID("rep"), Args: json.RawMessage(`{"a":1}`), Result: result, StartedAt: time.Now()}
	b.ReportAllocs()
	for b.Loop() {
		r.append(nil)
	}
}
