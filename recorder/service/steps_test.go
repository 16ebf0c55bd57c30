package service

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bir-run/bir/recorder"
)

// TestListsAreReadAsTheDecoderReadsThem: the quick way to read a step is taken only
// where it gives the same.
func TestListsAreReadAsTheDecoderReadsThem(t *testing.T) {
	values := map[string]*rapid.Generator[string]{
		"text":    rapid.SampledFrom([]string{`""`, `"a b"`, `"é"`, `"\u00e9\n"`, `null`, `7`, `{"a":1}`, "\"\xff\"", `"x\\"`}),
		"payload": rapid.SampledFrom([]string{`{"a": [1.0]}`, `[]`, `"{\"a\":1}"`, `"plain"`, `null`, `7`, `true`, "{\"a\":\"\xff\"}"}),
		"number":  rapid.SampledFrom([]string{`0`, `7`, `-1`, `1.5`, `1e2`, `9007199254740993`, `"7"`, `null`, `99999999999999999999`}),
		"time":    rapid.SampledFrom([]string{`"2026-11-02T09:30:00.5Z"`, `"2026-11-02T9:30:00Z"`, `""`, `null`, `5`}),
	}
	kinds := map[string]string{
		"id": "text", "stepIndex": "number", "type": "text", "callId": "text", "toolName": "text", "serverName": "text", "upstreamTool": "text",
		"toolInput": "payload", "toolOutput": "payload", "toolError": "text", "context": "text", "answer": "text", "status": "text",
		"startedAt": "time", "durationMs": "number", "askedInput": "payload", "agentId": "text", "agentType": "text", "attempts": "number",
		"ToolName": "text", "other": "payload",
	}
	names := slices.Sorted(maps.Keys(kinds))
	rapid.Check(t, func(t *rapid.T) {
		element := []byte("{")
		for i, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 8).Draw(t, "names") {
			if i > 0 {
				element = append(element, " ,"...)
			}
			element = append(append(append(append(element, '"'), name...), `": `...), values[kinds[name]].Draw(t, name)...)
		}
		element = append(element, '}')
		want, wantErr := decodeStep(element)
		got, err := readSteps(append(append([]byte("[ "), element...), ']'))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %v, want %v", element, err, wantErr)
		}
		if err == nil {
			if diff := cmp.Diff([]recorder.Step{want}, got); diff != "" {
				t.Fatalf("%s: %s", element, diff)
			}
		}
	})
}

// TestEveryFieldIsReadTheQuickWay fails for a field of a step that readMember lacks.
func TestEveryFieldIsReadTheQuickWay(t *testing.T) {
	want := recorder.Step{
		ID: "step_1", StepIndex: 1, Type: recorder.StepResponse, CallID: "c", ToolName: "t", ServerName: "s", UpstreamTool: "u", ToolInput: "1",
		ToolOutput: "2", ToolError: "e", Context: "x", Answer: "a", Status: recorder.StatusOK, StartedAt: time.Unix(1, 5).UTC(), DurationMS: 1.25,
		AskedInput: "3", AgentID: "i", AgentType: "y", Attempts: 2,
	}
	encoded, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &members); err != nil {
		t.Fatal(err)
	}
	var got recorder.Step
	for name, value := range members {
		if !readMember(&got, name, string(value)) {
			t.Errorf("%s is not read", name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(members) != 19 {
		t.Errorf("%d fields: %s", len(members), diff)
	}
}
