// Package proof holds a scenario against its recording: every body is evaluated
// in the sandbox and must reproduce what was recorded. A change by hand is held
// against it too, and must not be a copy of what it should compute. It judges and
// reports; it changes and saves nothing.
package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/logic"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/sandbox"
)

// Stage says which body of a step a report speaks of.
type Stage string

// The stages of a check.
const (
	StageParams   Stage = "params"
	StageInput    Stage = "input"
	StageOutput   Stage = "output"
	StageResponse Stage = "response"
)

// Report is what a check found.
type Report struct {
	OK       bool         `json:"ok"`
	NoChange bool         `json:"noChange,omitempty"` // the edit changes nothing
	Copy     bool         `json:"copy,omitempty"`     // the edit repeats the recording instead of computing it
	Steps    []StepReport `json:"steps"`
	Problems []string     `json:"problems,omitempty"`
}

// StepReport is what a check found in one step. Expected and Computed are the
// step's input, side by side.
type StepReport struct {
	StepIndex  int             `json:"stepIndex"`
	ToolName   string          `json:"toolName"`
	OK         bool            `json:"ok"`
	Stage      Stage           `json:"stage"` // where it stopped; StageOutput when it passed
	Expected   json.RawMessage `json:"expected,omitempty"`
	Computed   json.RawMessage `json:"computed,omitempty"`
	Difference string          `json:"difference,omitempty"` // the first path that differs
	Error      *sandbox.Error  `json:"error,omitempty"`
}

// Reason says in one line why a step did not pass.
func (s StepReport) Reason() string {
	if s.Error != nil {
		return fmt.Sprintf("%s body: %s", s.Stage, s.Error.Error())
	}
	return s.Difference
}

// Check evaluates the whole scenario with its samples against the recording. A
// step that fails does not end the check: what later steps make of it is what the
// author needs to see. An error means that nothing can be said, because the
// evaluator could not be used.
func Check(ctx context.Context, ev engine.Evaluator, s engine.Scenario, rec engine.Recording) (Report, error) {
	calls := rec.Usable()
	report := Report{}
	if len(calls) != len(s.Steps) {
		report.problem("the scenario has %d steps and the recording %d calls", len(s.Steps), len(calls))
		return report, nil
	}
	run := logic.New(ev, sandbox.World{Now: rec.RecordedAt})
	if _, err := run.Params(ctx, s.ParamsLogic, Samples(s)); err != nil {
		fault, err := bodyError(err)
		if err != nil {
			return Report{}, err
		}
		report.problem("params body: %s", fault.Error())
		return report, nil
	}
	for i, step := range s.Steps {
		result, err := checkStep(ctx, run, step, calls[i])
		if err != nil {
			return Report{}, err
		}
		report.Steps = append(report.Steps, result)
		if !result.OK {
			report.problem("step %d (%s): %s", step.StepIndex, step.ToolName, result.Reason())
		}
	}
	if _, err := run.Response(ctx, s.ResponseParamsLogic); err != nil {
		fault, err := bodyError(err)
		if err != nil {
			return Report{}, err
		}
		report.problem("response body: %s", fault.Error())
	}
	report.OK = len(report.Problems) == 0
	return report, nil
}

func checkStep(ctx context.Context, run *logic.Runner, step engine.Step, call engine.Call) (StepReport, error) {
	result := StepReport{StepIndex: step.StepIndex, ToolName: step.ToolName, Stage: StageInput, Expected: call.Input}
	if step.ToolName != call.ToolName {
		result.Difference = fmt.Sprintf("the recording calls %s here", call.ToolName)
	}
	computed, err := run.Input(ctx, step)
	if fault, err := bodyError(err); err != nil {
		return result, err
	} else if fault != nil {
		result.Error = fault
	} else {
		result.Computed = computed
		if d := value.Diff(call.Input, computed); d != "" {
			result.Difference = d
		}
	}
	inputOK := result.Error == nil && result.Difference == ""
	_, err = run.Output(ctx, step, call.Output)
	fault, err := bodyError(err)
	if err != nil {
		return result, err
	}
	if inputOK {
		result.Stage, result.Error = StageOutput, fault
	}
	result.OK = inputOK && fault == nil
	return result, nil
}

// Samples are the recorded values of a scenario's parameters.
func Samples(s engine.Scenario) map[string]json.RawMessage {
	samples := map[string]json.RawMessage{}
	for name, p := range s.ParamsObject {
		samples[name] = p.SampleValue
	}
	return samples
}

// bodyError tells the fault of a body from the failure to evaluate it.
func bodyError(err error) (*sandbox.Error, error) {
	var fault *sandbox.Error
	if err == nil {
		return nil, nil
	}
	if !errors.As(err, &fault) || fault.Type == sandbox.TypeSandbox {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	return fault, nil
}

func (r *Report) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}
