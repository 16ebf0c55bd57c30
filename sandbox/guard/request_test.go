package guard

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/sandbox/guardsdk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFlattenListsEveryStringWithItsPath(t *testing.T) {
	got, err := Flatten("args", []byte(`{"path":"/a","n":1,"list":["x",{"deep":"y"}],"a.b":"z","":"e","b\"c":null,"ok":true,"u":"\u0075s"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []guardsdk.String{
		{Path: "args.path", Value: "/a"},
		{Path: "args.list[0]", Value: "x"},
		{Path: "args.list[1].deep", Value: "y"},
		{Path: `args["a.b"]`, Value: "z"},
		{Path: `args[""]`, Value: "e"},
		{Path: "args.u", Value: "us"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHostFillsWhatTheCallerMayNotSay(t *testing.T) {
	req, err := complete(guardsdk.Request{
		ABI: 9, Kind: guardsdk.KindValue, Value: json.RawMessage(`"a"`), Sample: json.RawMessage(`["b"]`),
		Strings: []guardsdk.String{{Path: "forged"}}, Config: json.RawMessage(`1`),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []guardsdk.String{{Path: "value", Value: "a"}, {Path: "sample[0]", Value: "b"}}
	if diff := cmp.Diff(want, req.Strings); diff != "" || req.ABI != guardsdk.ABI || req.Config != nil {
		t.Errorf("%+v %s", req, diff)
	}
}

func TestRequestIsWrittenWithoutNeedlessEscapes(t *testing.T) {
	shared, err := encode(guardsdk.Request{Kind: guardsdk.KindStep, Args: json.RawMessage(`{"q": "a<b&c>d"}`),
		Strings: []guardsdk.String{{Path: "args.q", Value: "a<b&c>d"}}})
	if err != nil {
		t.Fatal(err)
	}
	data := withConfig(shared, json.RawMessage(`{"k":1}`))
	if !json.Valid(data) || !json.Valid(shared) || bytes.Contains(shared, []byte("config")) {
		t.Errorf("%s", data)
	}
	if strings.Count(string(data), "a<b&c>d") != 2 || !strings.Contains(string(data), `"config":{"k":1}`) {
		t.Errorf("%s", data)
	}
}

// Whatever Flatten accepts, the standard library reads, and finds as many strings.
func FuzzFlatten(f *testing.F) {
	for _, seed := range []string{`{"a":["b",{"c":"d"}]}`, `{"a":1,"a":2}`, `"x"`, `[[[]]]`, `{} {}`, "\"\xff\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := Flatten("v", data)
		if err != nil {
			return
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatalf("accepted %q: %v", data, err)
		}
		var want, got []string
		collect(v, &want)
		for _, s := range found {
			got = append(got, s.Value)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func collect(v any, all *[]string) {
	switch v := v.(type) {
	case string:
		*all = append(*all, v)
	case []any:
		for _, e := range v {
			collect(e, all)
		}
	case map[string]any:
		for _, e := range v {
			collect(e, all)
		}
	}
}
