package guardsdk

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// full has every field set, so that a field added to Request and forgotten in
// decode is found.
var full = Request{
	ABI: ABI, Kind: KindPin, Parameter: "region", Value: json.RawMessage(`"a\n\"b"`), Sample: json.RawMessage(`{"x":[1,"]"]}`),
	Tools: []string{"a", "b\u00e9"}, Server: "fleet", Tool: "read", Args: json.RawMessage(`{"path":"/a"}`),
	ModelArgs: json.RawMessage(`[]`), Strings: []String{{Path: "value", Value: "a\n\"b"}, {Path: `args["k k"]`, Value: "\U0001f600"}},
	Plan:   Plan{ScenarioID: "scn_1", Risk: RiskRuns, StepIndex: 1, StepCount: 2, ToolCalls: 3, Now: "2026-05-04T09:00:00+02:00", Dry: true},
	Config: json.RawMessage(`{"deny":["x"]}`),
}

func TestDecodeReadsWhatTheHostWrites(t *testing.T) {
	for _, req := range []Request{full, {}, {ABI: 1, Kind: KindStep}} {
		data, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(req, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestEveryFieldOfARequestIsInTheTest(t *testing.T) {
	data, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	var plan map[string]json.RawMessage
	if err := json.Unmarshal(fields["plan"], &plan); err != nil {
		t.Fatal(err)
	}
	if len(fields) != 13 || len(plan) != 7 {
		t.Errorf("%d fields are set and %d of the plan, and decode reads 13 and 7", len(fields), len(plan))
	}
}

func TestEncodeWritesWhatTheHostReads(t *testing.T) {
	for _, v := range []Verdict{Allowed(), Denied("c", "a \"b\" \\ \n\x00 é \u2028"), Denied("", "")} {
		var got Verdict
		if err := json.Unmarshal(encode(v), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(v, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestUnreadableRequestIsDenied(t *testing.T) {
	g := Handlers{Step: func(Request) Verdict { return Allowed() }}
	for request, want := range map[string]bool{
		`{"abi":1,"kind":"step","later":{"a":[1]},"plan":{}}`: true,
		`{"abi":1,"kind":"pin"}`:                              true, // no answer for it
		`{"abi":2,"kind":"step"}`:                             false,
		`{"kind":"step"}`:                                     false,
		`{"abi":1,"kind":"step"`:                              false,
		`[]`:                                                  false,
		``:                                                    false,
	} {
		var v Verdict
		if err := json.Unmarshal(g.Answer([]byte(request)), &v); err != nil || v.Allow != want {
			t.Errorf("%s: %+v, %v", request, v, err)
		}
	}
}

// Whatever the bytes, the answer is a verdict, and only a request of this ABI can be
// allowed.
func FuzzAnswer(f *testing.F) {
	request, err := json.Marshal(full)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(request)
	f.Add([]byte(`{"abi":1,"kind":"step"}`))
	f.Add([]byte(`{"abi":1,"plan":{"now":1}}`))
	h := Handlers{Pin: func(Request) Verdict { return Denied("no", "\x00\xff") }}
	f.Fuzz(func(t *testing.T, request []byte) {
		var v Verdict
		if err := json.Unmarshal(h.Answer(request), &v); err != nil {
			t.Fatal(err)
		}
		var asked struct{ ABI json.Number }
		if v.Allow && (json.Unmarshal(request, &asked) == nil && asked.ABI != "1") {
			t.Errorf("allowed %s", request)
		}
	})
}
