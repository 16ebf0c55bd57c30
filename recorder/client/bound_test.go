package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
)

var boundAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// reportTurn reports a turn as the control server does, which numbers rows itself.
func reportTurn(r recorder.Recorder) {
	r.StartRun(recorder.Run{ID: "run_1", Input: "look"})
	r.RecordCall("run_1", recorder.Call{
		ID: "toolu_1", ToolName: "Bash", Args: json.RawMessage(`{"command":"ls -a"}`), Asked: json.RawMessage(`{"command":"ls"}`),
		Result: json.RawMessage(`{"stdout":"a"}`), StartedAt: boundAt, Context: "First I look.", AgentID: "a1", AgentType: "Explore", Attempts: 2,
		Place: recorder.Place{Index: 6, RowIDs: [2]string{"step_a", "step_b"}},
	})
	r.RecordCall("run_1", recorder.Call{
		ID: "toolu_2", ServerName: "fleet", ToolName: "stop", Args: json.RawMessage(`{"n":1}`), Asked: json.RawMessage(`{"n":1}`),
		Status: recorder.StatusDenied, Error: "not allowed", StartedAt: boundAt, Attempts: 1,
		Place: recorder.Place{Index: 4, RowIDs: [2]string{"step_c", "step_d"}},
	})
	r.FinishRun("run_1", recorder.Finish{
		Output: "done", FinishedAt: boundAt, Usage: map[string]recorder.Usage{"opus": {Input: 1, CacheRead: 2}},
		Answer: recorder.Place{Index: 9, RowIDs: [2]string{"step_e"}},
	})
}

func turnRows() []recorder.Step {
	bash := recorder.Step{CallID: "toolu_1", ToolName: "Bash", StartedAt: boundAt, AgentID: "a1", AgentType: "Explore"}
	stop := recorder.Step{CallID: "toolu_2", ToolName: "mcp__fleet__stop", ServerName: "fleet", UpstreamTool: "stop", StartedAt: boundAt}
	steps := []recorder.Step{bash, bash, stop, stop, {ID: "step_e", StepIndex: 9, Type: recorder.StepAnswer, Answer: "done", StartedAt: boundAt}}
	steps[0].ID, steps[0].StepIndex, steps[0].Type = "step_a", 6, recorder.StepSelected
	steps[0].ToolInput, steps[0].AskedInput, steps[0].Context = `{"command":"ls -a"}`, `{"command":"ls"}`, "First I look."
	steps[1].ID, steps[1].StepIndex, steps[1].Type = "step_b", 7, recorder.StepResponse
	steps[1].ToolOutput, steps[1].Status, steps[1].Attempts = `{"stdout":"a"}`, recorder.StatusOK, 2
	steps[2].ID, steps[2].StepIndex, steps[2].Type, steps[2].ToolInput = "step_c", 4, recorder.StepSelected, `{"n":1}`
	steps[3].ID, steps[3].StepIndex, steps[3].Type = "step_d", 5, recorder.StepResponse
	steps[3].Status, steps[3].ToolError = recorder.StatusDenied, "not allowed"
	return steps
}

func (f *fakeService) wantTurn(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if diff := cmp.Diff(turnRows(), f.steps); diff != "" {
		t.Error(diff)
	}
	want := []recorder.Finish{{Output: "done", FinishedAt: boundAt, Usage: map[string]recorder.Usage{"opus": {Input: 1, CacheRead: 2}}}}
	if diff := cmp.Diff(want, f.ends); diff != "" {
		t.Error(diff)
	}
}

func TestBoundTurnKeepsItsPlaces(t *testing.T) {
	f := newFake(t)
	reportTurn(open(t, f.config(t)))
	f.waitFinished(t)
	f.wantTurn(t)
}

// TestTurnReportedAgainIsBookedOnce has a second process report all that a first one
// did, which the first had sent or spooled.
func TestTurnReportedAgainIsBookedOnce(t *testing.T) {
	for _, spooled := range []bool{false, true} {
		f := newFake(t)
		cfg := f.config(t)
		first := cfg
		if spooled {
			first.Connect = func(context.Context) (*Client, error) { return nil, errors.New("down") }
		}
		s := NewRecorder(first)
		reportTurn(s)
		closeNow(t, s)
		if s.chain.spool.Has("run_1") != spooled {
			t.Fatalf("spooled %v: the first process left it elsewhere", spooled)
		}
		again := NewRecorder(cfg)
		reportTurn(again)
		reportTurn(again) // and once more in one process
		closeNow(t, again)
		f.wantTurn(t)
	}
}

func TestRowsWithoutAPlaceComeAfterThoseWithOne(t *testing.T) {
	f := newFake(t)
	s := open(t, f.config(t))
	s.StartRun(recorder.Run{ID: "run_1"})
	s.RecordCall("run_1", recorder.Call{ToolName: "Bash", Place: recorder.Place{Index: 10}})
	s.RecordCall("run_1", recorder.Call{ToolName: "Read", Place: recorder.Place{Index: 2}})
	s.RecordCall("run_1", recorder.Call{ToolName: "Edit"})
	s.FinishRun("run_1", recorder.Finish{Output: "done"})
	f.waitFinished(t)
	want := []string{"start run_1", "step run_1 10", "step run_1 11", "step run_1 2", "step run_1 3",
		"step run_1 12", "step run_1 13", "step run_1 14", "finish run_1"}
	if diff := cmp.Diff(want, f.taken()); diff != "" {
		t.Error(diff)
	}
}

// TestRunThatTheServiceNoLongerHasIsGivenUp: somebody deleted it while it went on.
func TestRunThatTheServiceNoLongerHasIsGivenUp(t *testing.T) {
	f := newFake(t)
	s := NewRecorder(f.config(t))
	s.StartRun(recorder.Run{ID: "run_1"})
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.setFail(func(string) int { return http.StatusNotFound })
	recordCalls(s, 0, 3)
	s.FinishRun("run_1", recorder.Finish{})
	closeNow(t, s)
	if s.chain.spool.Has("run_1") || len(s.chain.runs) != 0 || len(s.chain.lossy) != 0 {
		t.Errorf("kept for ever: %v %v", s.chain.runs, s.chain.lossy)
	}
}
