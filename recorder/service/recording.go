package service

import (
	"encoding/json"
	"fmt"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder"
)

// Recording is a stored run as the engine reads it. The calls stand in the order
// in which they were chosen, which is one in which each could have used the
// outputs of those before it.
func Recording(r recorder.RunWithSteps) engine.Recording {
	rec := engine.Recording{
		RunID:      r.Run.ID,
		Prompt:     r.Run.Input,
		RecordedAt: r.Run.StartedAt,
		Answer:     r.Run.Output,
		Partial:    partial(r.Run),
	}
	answers := newResponses(r.Steps)
	for _, step := range r.Steps {
		switch step.Type {
		case recorder.StepSelected:
			rec.Calls = append(rec.Calls, callOf(step, answers.take(step)))
		case recorder.StepAnswer:
			if rec.Answer == "" {
				rec.Answer = step.Answer
			}
		}
	}
	markDelegations(rec.Calls, r.Steps)
	if rec.Partial == "" {
		rec.Partial = missing(rec.Calls, answers.left())
	}
	return rec
}

// markDelegations finds the calls that started a subagent of which a call that ended
// well is there: to repeat both would do its work twice. The host's tool for this
// answers with the agent's id.
func markDelegations(calls []engine.Call, steps []recorder.Step) {
	worked := map[string]bool{}
	for _, s := range steps {
		worked[s.AgentID] = worked[s.AgentID] || s.Type == recorder.StepResponse && s.Status == recorder.StatusOK
	}
	for i, call := range calls {
		if call.ServerName != "" {
			continue
		}
		var started struct {
			AgentID string `json:"agentId"`
		}
		calls[i].Delegates = json.Unmarshal([]byte(call.Output), &started) == nil && started.AgentID != "" && worked[started.AgentID]
	}
}

// partial says why a run as a whole is less than what happened.
func partial(run recorder.Run) string {
	switch {
	case run.State != recorder.StateFinished:
		return "the run is still open"
	case run.Metadata.Lossy:
		return "some calls were lost while recording"
	case run.Metadata.Tier == recorder.TierStandalone && run.Input == "":
		return "the run has no prompt: the proxy recorded on its own"
	}
	return ""
}

// missing says which part of the calls was not kept.
func missing(calls []engine.Call, orphans int) string {
	if orphans > 0 {
		return fmt.Sprintf("the input of %d calls was not recorded", orphans)
	}
	for i, call := range calls {
		if call.Usable() && cutInput(call.Input) {
			return fmt.Sprintf("the input of call %d was cut when it was recorded", i+1)
		}
	}
	return ""
}

// ended tells of the ways to fail in which no tool failed.
var ended = map[recorder.Status]string{
	recorder.StatusCancelled:   "was cancelled",
	recorder.StatusNoAnswer:    "had no answer",
	recorder.StatusDenied:      "was denied",
	recorder.StatusRejected:    "was rejected",
	recorder.StatusInvalid:     "had an input that the host refused",
	recorder.StatusInterrupted: "was interrupted",
	recorder.StatusUnreported:  "ended in a way that nobody reported",
}

// callOf joins the two rows of a call. A call without an answer has failed.
func callOf(selected recorder.Step, response *recorder.Step) engine.Call {
	call := engine.Call{
		ToolName:     selected.ToolName,
		ServerName:   selected.ServerName,
		UpstreamTool: selected.UpstreamTool,
		Input:        json.RawMessage(selected.ToolInput),
		Failed:       true,
	}
	if selected.ToolInput == "" {
		call.Input = json.RawMessage("{}")
	}
	if response != nil {
		call.Output = response.ToolOutput
		call.Failed, call.Ended = response.Status != recorder.StatusOK, ended[response.Status]
		call.Truncated = cutOutput(response.ToolOutput)
	}
	return call
}

// responses are the tool_response rows that no call has taken yet.
type responses struct {
	rows  []recorder.Step
	taken []bool
}

func newResponses(steps []recorder.Step) *responses {
	r := &responses{}
	for _, s := range steps {
		if s.Type == recorder.StepResponse {
			r.rows = append(r.rows, s)
		}
	}
	r.taken = make([]bool, len(r.rows))
	return r
}

// take finds the answer to a call: by its id, else the next one of the tool that
// carries no id of its own.
func (r *responses) take(selected recorder.Step) *recorder.Step {
	for i, row := range r.rows {
		if r.taken[i] || row.CallID != selected.CallID {
			continue
		}
		if selected.CallID != "" || row.ToolName == selected.ToolName {
			return r.mark(i)
		}
	}
	for i, row := range r.rows {
		oneHasNoID := row.CallID == "" || selected.CallID == ""
		if !r.taken[i] && oneHasNoID && row.ToolName == selected.ToolName {
			return r.mark(i)
		}
	}
	return nil
}

func (r *responses) mark(i int) *recorder.Step {
	r.taken[i] = true
	return &r.rows[i]
}

func (r *responses) left() int {
	n := 0
	for _, taken := range r.taken {
		if !taken {
			n++
		}
	}
	return n
}

// cutMarks are what the recorder puts in place of a payload that is too large.
type cutMarks struct {
	Truncated     bool     `json:"truncated"`
	OriginalBytes *float64 `json:"originalBytes"`
}

func cutOutput(output string) bool {
	var m cutMarks
	return json.Unmarshal([]byte(output), &m) == nil && m.Truncated
}

// cutInput asks for both marks: a tool may well have an argument "truncated".
func cutInput(input json.RawMessage) bool {
	var m cutMarks
	return json.Unmarshal(input, &m) == nil && m.Truncated && m.OriginalBytes != nil
}
