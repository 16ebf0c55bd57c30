package service

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder"
)

func selected(callID, tool, input string) recorder.Step {
	return recorder.Step{Type: recorder.StepSelected, CallID: callID, ToolName: tool, ServerName: "s", UpstreamTool: "u", ToolInput: input}
}

func response(callID, tool, output string) recorder.Step {
	return recorder.Step{Type: recorder.StepResponse, CallID: callID, ToolName: tool, ToolOutput: output, Status: recorder.StatusOK}
}

func ending(callID string, status recorder.Status) recorder.Step {
	return recorder.Step{Type: recorder.StepResponse, CallID: callID, ToolName: "t", Status: status}
}

func wantCall(tool, input, output string) engine.Call {
	return engine.Call{ToolName: tool, ServerName: "s", UpstreamTool: "u", Input: json.RawMessage(input), Output: output}
}

func finished() recorder.Run {
	run := openRun()
	run.State, run.Output = recorder.StateFinished, "done"
	return run
}

func TestRowsBecomeCalls(t *testing.T) {
	failed := response("c", "t", `{"isError":true}`)
	failed.Status = recorder.StatusToolError
	lost := wantCall("t", `{}`, "")
	lost.Failed = true
	refused := wantCall("t", `{}`, `{"isError":true}`)
	refused.Failed = true
	cut := wantCall("t", `{}`, `{"truncated":true,"originalBytes":9}`)
	cut.Truncated = true

	for name, c := range map[string]struct {
		steps []recorder.Step
		want  []engine.Call
	}{
		"parallel calls keep the order they were chosen in": {
			[]recorder.Step{selected("a", "t", `{"n":1}`), selected("b", "t", `{"n":2}`), response("b", "t", "B"), response("a", "t", "A")},
			[]engine.Call{wantCall("t", `{"n":1}`, "A"), wantCall("t", `{"n":2}`, "B")},
		},
		"calls without an id go by the order of their tool": {
			[]recorder.Step{selected("", "t", `{}`), selected("", "u", `{}`), selected("", "t", `{}`), response("", "u", "U"), response("", "t", "1"), response("", "t", "2")},
			[]engine.Call{wantCall("t", `{}`, "1"), wantCall("u", `{}`, "U"), wantCall("t", `{}`, "2")},
		},
		"an answer without an id goes to the call that waits": {
			[]recorder.Step{selected("a", "t", `{}`), selected("b", "t", `{}`), response("a", "t", "A"), response("", "t", "B")},
			[]engine.Call{wantCall("t", `{}`, "A"), wantCall("t", `{}`, "B")},
		},
		"the answer of another call is not taken": {
			[]recorder.Step{selected("a", "t", `{}`), selected("b", "t", `{}`), response("b", "t", "B")},
			[]engine.Call{lost, wantCall("t", `{}`, "B")},
		},
		"a call without an answer failed": {[]recorder.Step{selected("c", "t", "")}, []engine.Call{lost}},
		"an error is no result":           {[]recorder.Step{selected("c", "t", `{}`), failed}, []engine.Call{refused}},
		"a denied call says so": {
			[]recorder.Step{selected("c", "t", `{}`), ending("c", recorder.StatusDenied)},
			[]engine.Call{{ToolName: "t", ServerName: "s", UpstreamTool: "u", Input: json.RawMessage(`{}`), Failed: true, Ended: "was denied"}},
		},
		"a cut output is marked": {
			[]recorder.Step{selected("c", "t", `{}`), response("c", "t", cut.Output)}, []engine.Call{cut},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Recording(recorder.RunWithSteps{Run: finished(), Steps: c.steps})
			if diff := cmp.Diff(c.want, got.Calls); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPartialTraceSaysWhy(t *testing.T) {
	open, lossy, alone := openRun(), finished(), finished()
	lossy.Metadata.Lossy = true
	alone.Metadata.Tier, alone.Input = recorder.TierStandalone, ""
	asked := alone
	asked.Input = "restart"
	cutInput := selected("a", "t", `{"truncated":true,"originalBytes":70000}`)

	for name, c := range map[string]struct {
		run   recorder.RunWithSteps
		wants string
	}{
		"whole":             {recorder.RunWithSteps{Run: finished(), Steps: []recorder.Step{selected("a", "t", `{"truncated":true}`), response("a", "t", "")}}, ""},
		"open":              {recorder.RunWithSteps{Run: open}, "the run is still open"},
		"lossy":             {recorder.RunWithSteps{Run: lossy}, "some calls were lost while recording"},
		"standalone":        {recorder.RunWithSteps{Run: alone}, "the run has no prompt: the proxy recorded on its own"},
		"with a prompt set": {recorder.RunWithSteps{Run: asked}, ""},
		"orphan":            {recorder.RunWithSteps{Run: finished(), Steps: []recorder.Step{response("a", "t", "A")}}, "the input of 1 calls was not recorded"},
		"cut input, denied": {recorder.RunWithSteps{Run: finished(), Steps: []recorder.Step{cutInput, ending("a", recorder.StatusDenied)}}, ""},
		"cut input":         {recorder.RunWithSteps{Run: finished(), Steps: []recorder.Step{cutInput, response("a", "t", "")}}, "the input of call 1 was cut when it was recorded"},
	} {
		if got := Recording(c.run).Partial; got != c.wants {
			t.Errorf("%s: %q, want %q", name, got, c.wants)
		}
	}
}

func TestAnswerComesFromTheRunOrItsLastStep(t *testing.T) {
	run := recorder.RunWithSteps{Run: finished(), Steps: []recorder.Step{{Type: recorder.StepAnswer, Answer: "from the step"}}}
	if got := Recording(run).Answer; got != "done" {
		t.Errorf("got %q", got)
	}
	run.Run.Output = ""
	got := Recording(run)
	want := engine.Recording{RunID: run.Run.ID, Prompt: run.Run.Input, RecordedAt: recordedAt, Answer: "from the step"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestWorkOfASubagentIsRepeatedOnce: either the call that started the subagent is a
// step or the subagent's own calls are.
func TestWorkOfASubagentIsRepeatedOnce(t *testing.T) {
	agent := func(callID, id string) []recorder.Step {
		rows := []recorder.Step{selected(callID, "Agent", `{"prompt":"look"}`), response(callID, "Agent", `{"status":"completed","agentId":"`+id+`"}`)}
		rows[0].ServerName, rows[0].UpstreamTool = "", ""
		return rows
	}
	by := func(id, callID string, status recorder.Status) []recorder.Step {
		rows := []recorder.Step{selected(callID, "t", `{}`), response(callID, "t", "")}
		rows[0].AgentID, rows[1].AgentID, rows[1].Status = id, id, status
		return rows
	}
	server := []recorder.Step{selected("e", "t", `{}`), response("e", "t", `{"agentId":"a1"}`)}
	steps := slices.Concat(agent("a", "a1"), by("a1", "b", recorder.StatusOK), agent("c", "a2"), by("a2", "d", recorder.StatusDenied), server, agent("f", ""))
	got := map[string]bool{}
	for i, call := range Recording(recorder.RunWithSteps{Run: finished(), Steps: steps}).Calls {
		got[steps[2*i].CallID] = call.Usable()
	}
	want := map[string]bool{
		"a": false, "b": true, // its calls stand for it
		"c": true, "d": false, // it did nothing that a step could do
		"e": true, // a server's answer may look as it likes
		"f": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
