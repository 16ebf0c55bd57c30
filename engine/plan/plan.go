// Package plan runs a scenario for one request: it completes the parameters, asks
// the guards, computes each input, has it executed and threads the output. It
// stops at the first step without a result and says what may be assumed. It knows
// no transport: what executes a step, and what judges it, is given.
package plan

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/bundle"
	"github.com/bir-run/bir/engine/outcome"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// Guards judge a request. A nil Guards in a Config denies everything.
type Guards interface {
	Check(ctx context.Context, req guardsdk.Request) Decision
}

// Decision is the judgement of all guards together.
type Decision struct {
	Allow    bool      `json:"allow"`
	Verdicts []Verdict `json:"verdicts,omitempty"`
}

// Verdict is that of one guard.
type Verdict struct {
	Module     string  `json:"module"`
	Allow      bool    `json:"allow"`
	Code       string  `json:"code,omitempty"`
	Reason     string  `json:"reason,omitempty"`
	DurationMS float64 `json:"durationMs,omitempty"`
}

// Executor sends one step and returns its whole result. An error that has a
// method `Sent() bool` giving false says that nothing was sent; any other error
// leaves open whether the step took effect.
type Executor interface {
	Execute(ctx context.Context, step engine.Step, input json.RawMessage) (json.RawMessage, error)
}

// Config is what a plan is made of.
type Config struct {
	Scenario    engine.Scenario
	Params      map[string]json.RawMessage // derived; a missing setting takes its sample
	Evaluator   engine.Evaluator
	Guards      Guards
	Executor    Executor
	World       sandbox.World
	StepTimeout time.Duration    // of one execution; 0: only the context's
	Dry         bool             // the executor serves recorded results
	OnArm       func([]Verdict)  // called once the guards judged the values; may be nil
	OnStep      func(StepResult) // called after each step; may be nil
	Logger      *slog.Logger     // default: discard
}

// Status is how a step ended. Only a failed one means that the scenario itself is
// broken.
type Status string

// The statuses of a step.
const (
	StatusOK       Status = "ok"
	StatusRecorded Status = "recorded" // its result is a recorded one
	StatusSkipped  Status = "skipped"  // no result: not sent, refused, no answer, or a tool error
	StatusFailed   Status = "failed"   // a body of it failed
)

// Stage is where in a step it stopped.
type Stage string

// The stages of a plan.
const (
	StageParams   Stage = "params"
	StageFrozen   Stage = "frozen"
	StageInput    Stage = "input"
	StageRedacted Stage = "redacted" // the input has a redaction in place of a secret
	StageGuard    Stage = "guard"
	StageExecute  Stage = "execute"
	StageTool     Stage = "tool" // the tool answered with isError
	StageOutput   Stage = "output"
	StageResponse Stage = "response"
)

// StepResult is what became of one step. Steps that the plan never reached have
// none.
type StepResult struct {
	StepIndex  int             `json:"stepIndex"`
	ToolName   string          `json:"toolName"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
	DurationMS float64         `json:"durationMs,omitempty"`
	Verdicts   []Verdict       `json:"verdicts,omitempty"`
	Status     Status          `json:"status"`
	Stage      Stage           `json:"stage,omitempty"`
	Error      string          `json:"error,omitempty"`
	MayHaveRun bool            `json:"mayHaveRun,omitempty"` // sent, and nobody knows
}

// Result is what became of a plan.
type Result struct {
	Params        json.RawMessage `json:"params"` // completed by the params body
	Steps         []StepResult    `json:"steps"`
	ResponseModel json.RawMessage `json:"responseModel,omitempty"`
	Outcome       outcome.Outcome `json:"outcome"`
	HandOver      string          `json:"handOver,omitempty"`  // empty when every step ran
	Stage         Stage           `json:"stage,omitempty"`     // where it stopped
	Error         string          `json:"error,omitempty"`     // why it stopped
	Verdicts      []Verdict       `json:"verdicts,omitempty"`  // at arm time
	Unchanged     bool            `json:"unchanged,omitempty"` // every parameter has its recorded value
}

// Done says that every step ran and the response model was made.
func (r Result) Done() bool { return r.Error == "" }

// Plan is a scenario armed for one request. It runs once.
type Plan struct{ cfg Config }

// New makes a plan and starts nothing.
func New(cfg Config) *Plan {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Plan{cfg: cfg}
}

// Run runs the plan. An error means that it could not be decided at all, because
// the evaluator could not be used before anything was sent; everything else is a
// Result.
func (p *Plan) Run(ctx context.Context) (Result, error) {
	r := newRun(p.cfg)
	if err := r.arm(ctx); err != nil {
		return r.result, err
	}
	if p.cfg.OnArm != nil {
		p.cfg.OnArm(r.result.Verdicts)
	}
	if r.result.Error != "" {
		r.close(ctx, outcome.Facts{Declined: r.declined}, engine.Step{}, bundle.NotSent)
		return r.result, nil
	}
	for _, step := range p.cfg.Scenario.Steps {
		if ending := r.step(ctx, step); ending != "" {
			r.close(ctx, outcome.Facts{}, step, ending)
			return r.result, nil
		}
	}
	r.respond(ctx)
	return r.result, nil
}
