package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/bundle"
	"github.com/bir-run/bir/engine/logic"
	"github.com/bir-run/bir/engine/outcome"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// run is one run of a plan.
type run struct {
	cfg      Config
	logic    *logic.Runner
	params   map[string]json.RawMessage
	changed  []string // parameters that differ from their samples
	declined bool
	facts    guardsdk.Plan
	sent     map[string]int // calls by server and tool
	result   Result
}

func newRun(cfg Config) *run {
	return &run{
		cfg:   cfg,
		logic: logic.New(cfg.Evaluator, cfg.World),
		sent:  map[string]int{},
		facts: guardsdk.Plan{
			ScenarioID: cfg.Scenario.ID, Risk: RiskOf(cfg.Scenario),
			StepCount: len(cfg.Scenario.Steps), Dry: cfg.Dry,
			Now: clock(cfg.World),
		},
	}
}

// arm completes the parameters and asks the guards about every value that was
// derived for this request.
func (r *run) arm(ctx context.Context) error {
	if r.cfg.Scenario.State != engine.StateReady {
		r.decline(StageParams, "the scenario is not ready: "+r.cfg.Scenario.Problem)
		return nil
	}
	if missing := r.fill(); len(missing) > 0 {
		r.decline(StageParams, "the request does not say "+strings.Join(missing, ", "))
		return nil
	}
	for _, name := range r.changed {
		decision := r.check(ctx, r.valueRequest(name, r.params[name]))
		r.result.Verdicts = append(r.result.Verdicts, decision.Verdicts...)
		if !decision.Allow {
			r.decline(StageGuard, fmt.Sprintf("a guard refused %s: %s", name, decision.reason()))
			return nil
		}
	}
	completed, err := r.logic.Params(ctx, r.cfg.Scenario.ParamsLogic, r.params)
	if unusable(err) {
		return fmt.Errorf("evaluate params: %w", err)
	}
	if err != nil {
		r.result.Stage, r.result.Error = StageParams, "params body: "+err.Error()
		return nil
	}
	r.result.Params = completed
	r.result.Unchanged = len(r.changed) == 0
	return nil
}

// fill takes samples for missing settings and lists missing targets.
func (r *run) fill() (missing []string) {
	r.params = map[string]json.RawMessage{}
	for name, given := range r.cfg.Params {
		r.params[name] = given
	}
	for _, name := range names(r.cfg.Scenario.ParamsObject) {
		param := r.cfg.Scenario.ParamsObject[name]
		given, ok := r.params[name]
		switch {
		case ok && len(given) > 0 && string(given) != "null":
			if value.Diff(param.SampleValue, given) != "" {
				r.changed = append(r.changed, name)
			}
		case param.Kind == engine.KindSetting:
			r.params[name] = param.SampleValue
		default:
			missing = append(missing, name)
		}
	}
	for _, name := range names(r.cfg.Params) {
		if _, known := r.cfg.Scenario.ParamsObject[name]; !known {
			r.changed = append(r.changed, name) // a guard judges what nobody declared, too
		}
	}
	return missing
}

func names[V any](m map[string]V) []string {
	var all []string
	for name := range m {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func (r *run) decline(stage Stage, reason string) {
	r.declined = true
	r.result.Stage, r.result.Error = stage, reason
}

// step runs one step. It gives how the step ended, or nothing when the plan goes
// on.
func (r *run) step(ctx context.Context, step engine.Step) bundle.Ending {
	result := StepResult{StepIndex: step.StepIndex, ToolName: step.ToolName}
	ending := r.attempt(ctx, step, &result)
	r.result.Steps = append(r.result.Steps, result)
	r.cfg.Logger.Info("plan step", "scenario", r.cfg.Scenario.ID, "step", step.StepIndex,
		"tool", step.ToolName, "status", string(result.Status), "stage", string(result.Stage))
	if r.cfg.OnStep != nil {
		r.cfg.OnStep(result)
	}
	if ending != "" {
		r.result.Stage, r.result.Error = result.Stage, result.Error
	}
	return ending
}

func (r *run) attempt(ctx context.Context, step engine.Step, result *StepResult) bundle.Ending {
	result.Status = StatusSkipped
	if ctx.Err() != nil {
		return result.stop(StageExecute, ended(ctx), ctx.Err().Error())
	}
	if step.Frozen && len(r.changed) > 0 {
		return result.stop(StageFrozen, bundle.NotSent, "its input is frozen as recorded and would not fit the new "+
			strings.Join(r.changed, ", ")+" ("+step.FrozenReason+")")
	}
	input, err := r.logic.Input(ctx, step)
	if err != nil {
		result.Status = StatusFailed
		return result.stop(StageInput, bundle.NotSent, "input body: "+err.Error())
	}
	result.Input = input
	if bytes.Contains(input, []byte(engine.RedactionMark)) {
		return result.stop(StageRedacted, bundle.NotSent, "its input held a secret, which was not recorded and cannot be sent again")
	}
	decision := r.check(ctx, r.stepRequest(step, input))
	result.Verdicts = decision.Verdicts
	if !decision.Allow {
		return result.stop(StageGuard, bundle.NotSent, "a guard refused it: "+decision.reason())
	}
	if ending := r.execute(ctx, step, result); ending != "" {
		return ending
	}
	if _, err := r.logic.Output(ctx, step, string(result.Output)); err != nil {
		result.Status = StatusFailed
		return result.stop(StageOutput, bundle.Unreadable, "output body: "+err.Error())
	}
	result.Status = StatusOK
	if r.cfg.Dry {
		result.Status = StatusRecorded
	}
	return ""
}

func (r *run) execute(ctx context.Context, step engine.Step, result *StepResult) bundle.Ending {
	sending := ctx
	if r.cfg.StepTimeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, r.cfg.StepTimeout)
		defer cancel()
		sending = bounded
	}
	r.sent[toolOf(step)]++ // also when it fails: it may have run
	start := time.Now()
	output, err := r.cfg.Executor.Execute(sending, step, result.Input)
	result.DurationMS = float64(time.Since(start).Microseconds()) / 1000
	if err != nil {
		if wasSent(err) && !r.cfg.Dry {
			result.MayHaveRun = true
			return result.stop(StageExecute, bundle.NoAnswer, err.Error())
		}
		return result.stop(StageExecute, bundle.NotSent, err.Error())
	}
	if !gjson.ValidBytes(output) {
		return result.stop(StageTool, bundle.ToolError, "the answer is not JSON")
	}
	result.Output = output
	if message, bad := toolError(output); bad {
		return result.stop(StageTool, bundle.ToolError, message)
	}
	return ""
}

func (s *StepResult) stop(stage Stage, ending bundle.Ending, reason string) bundle.Ending {
	s.Stage, s.Error = stage, reason
	return ending
}

// wasSent takes the cautious side: an error that does not say otherwise may have
// come after the step took effect.
func wasSent(err error) bool {
	var teller interface{ Sent() bool }
	return !errors.As(err, &teller) || teller.Sent()
}

// toolError reads the result of a tool that says it failed.
func toolError(output json.RawMessage) (string, bool) {
	if !gjson.GetBytes(output, "isError").Bool() {
		return "", false
	}
	message := gjson.GetBytes(output, "content.0.text").String()
	if message == "" {
		message = "the tool answered with an error"
	}
	return message, true
}

func ended(ctx context.Context) bundle.Ending {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return bundle.OutOfTime
	}
	return bundle.Cancelled
}

// respond makes the response model after the last step.
func (r *run) respond(ctx context.Context) {
	model, err := r.logic.Response(ctx, r.cfg.Scenario.ResponseParamsLogic)
	if err != nil {
		r.result.Stage, r.result.Error = StageResponse, "response body: "+err.Error()
		r.close(ctx, outcome.Facts{Incomplete: true}, engine.Step{}, bundle.AllRan)
		return
	}
	r.result.ResponseModel = model
	r.close(ctx, outcome.Facts{}, engine.Step{}, "")
}

// close decides the outcome and writes the note of a plan that stopped.
func (r *run) close(ctx context.Context, facts outcome.Facts, stopped engine.Step, ending bundle.Ending) {
	facts.Planned = len(r.cfg.Scenario.Steps)
	facts.OutOfTime = ending == bundle.OutOfTime
	facts.Cancelled = errors.Is(ctx.Err(), context.Canceled)
	note := bundle.Facts{
		Total: facts.Planned, Recorded: r.cfg.Dry, Ending: ending, Error: r.result.Error, Params: r.params,
		Stopped: bundle.Step{Index: stopped.StepIndex, Tool: stopped.ToolName},
	}
	for _, step := range r.result.Steps {
		switch step.Status {
		case StatusOK:
			facts.Worked++
		case StatusRecorded:
			facts.Recorded++
		default:
			continue
		}
		note.Ran = append(note.Ran, bundle.Step{Index: step.StepIndex, Tool: step.ToolName})
	}
	if ending == bundle.Unreadable && !r.cfg.Dry {
		facts.Worked++ // its tool ran; only its output could not be read
	}
	for _, step := range r.cfg.Scenario.Steps {
		if ending != bundle.AllRan && step.StepIndex > stopped.StepIndex {
			note.Remaining = append(note.Remaining, bundle.Step{Index: step.StepIndex, Tool: step.ToolName})
		}
	}
	facts.Incomplete = facts.Incomplete || ending == bundle.Unreadable
	r.result.Outcome = outcome.Of(facts)
	if ending != "" {
		r.result.HandOver = bundle.HandOver(note)
	}
}

// unusable tells an evaluator that could not be used from a body at fault.
func unusable(err error) bool {
	var fault *sandbox.Error
	return err != nil && (!errors.As(err, &fault) || fault.Type == sandbox.TypeSandbox)
}
