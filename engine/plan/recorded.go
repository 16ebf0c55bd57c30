package plan

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/value"
)

// Recorded serves the recorded outputs of a run, for each tool in the order in
// which they were recorded. It calls nothing. It serves one plan.
type Recorded struct {
	queues      map[string][]engine.Call
	comparisons []Comparison
}

// Comparison holds what a step computed against what the run really sent.
type Comparison struct {
	StepIndex  int             `json:"stepIndex"`
	ToolName   string          `json:"toolName"`
	Sent       json.RawMessage `json:"sent,omitempty"` // by the run; empty when it made no such call
	Computed   json.RawMessage `json:"computed"`
	Difference string          `json:"difference,omitempty"` // empty when they are the same
}

// NewRecorded makes an executor of a recording.
func NewRecorded(rec engine.Recording) *Recorded {
	r := &Recorded{queues: map[string][]engine.Call{}}
	for _, call := range rec.Usable() {
		r.queues[call.ToolName] = append(r.queues[call.ToolName], call)
	}
	return r
}

// notRecorded says that nothing stands in for a step. Nothing was sent.
type notRecorded struct{ tool string }

func (e *notRecorded) Error() string { return fmt.Sprintf("the run has no further call of %s", e.tool) }

// Sent is false: a recording sends nothing.
func (e *notRecorded) Sent() bool { return false }

// Execute serves the next recorded output of the step's tool.
func (r *Recorded) Execute(_ context.Context, step engine.Step, input json.RawMessage) (json.RawMessage, error) {
	c := Comparison{StepIndex: step.StepIndex, ToolName: step.ToolName, Computed: input}
	queue := r.queues[step.ToolName]
	if len(queue) == 0 {
		c.Difference = "the run made no such call"
		r.comparisons = append(r.comparisons, c)
		return nil, &notRecorded{step.ToolName}
	}
	call := queue[0]
	r.queues[step.ToolName] = queue[1:]
	c.Sent, c.Difference = call.Input, value.Diff(call.Input, input)
	r.comparisons = append(r.comparisons, c)
	return json.RawMessage(call.Output), nil
}

// Comparisons are those of the steps so far, in order.
func (r *Recorded) Comparisons() []Comparison { return r.comparisons }

// Left counts the calls of the run that the plan did not make.
func (r *Recorded) Left() int {
	left := 0
	for _, queue := range r.queues {
		left += len(queue)
	}
	return left
}
