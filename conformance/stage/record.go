//go:build unix

package stage

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

// Runs reads every run that is recorded, once none is open: what waits is sent first.
func (p *Project) Runs() []recorder.RunWithSteps {
	p.Helper()
	if _, err := p.Health(); err == nil {
		p.Await("the end of every run", func(h client.Health) bool { return len(h.Runs) == 0 })
		p.Bir("down")
	}
	var list struct{ Runs []recorder.Run }
	for until := time.Now().Add(Patience); ; time.Sleep(pause) {
		p.decode(p.Bir("runs", "list", "--limit", "1000", "--json"), &list)
		if !anyOpen(list.Runs) || time.Now().After(until) {
			break
		}
	}
	var runs []recorder.RunWithSteps
	for _, run := range list.Runs {
		var whole recorder.Export
		p.decode(p.Bir("runs", "export", run.ID), &whole)
		runs = append(runs, whole.RunWithSteps)
	}
	return runs
}

func anyOpen(list []recorder.Run) bool {
	for _, run := range list {
		if run.State == recorder.StateOpen {
			return true
		}
	}
	return false
}

func (p *Project) decode(text string, v any) {
	p.Helper()
	if err := json.NewDecoder(strings.NewReader(text)).Decode(v); err != nil {
		p.Fatalf("read %.200q: %v", text, err)
	}
}

// Call is a recorded call, its two rows put together.
type Call struct {
	ID, Tool, Input, Output, Error string
	Status                         recorder.Status
}

// Calls lists the calls of a run in their order, and holds that its rows are whole:
// numbered without a gap, and two to a call.
func (p *Project) Calls(run recorder.RunWithSteps) (calls []Call, answer string) {
	p.Helper()
	for i, step := range run.Steps {
		if step.StepIndex != i {
			p.Errorf("row %d has the number %d", i, step.StepIndex)
			return calls, answer
		}
		switch step.Type {
		case recorder.StepSelected:
			calls = append(calls, Call{ID: step.CallID, Tool: step.ToolName, Input: step.ToolInput})
		case recorder.StepResponse:
			if len(calls) == 0 || calls[len(calls)-1].ID != step.CallID || calls[len(calls)-1].Status != "" {
				p.Errorf("row %d answers %s out of place", i, step.CallID)
				return calls, answer
			}
			last := &calls[len(calls)-1]
			last.Output, last.Error, last.Status = step.ToolOutput, step.ToolError, step.Status
		case recorder.StepAnswer:
			answer = step.Answer
		}
	}
	return calls, answer
}
