package plan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/plan"
	"github.com/bir-run/bir/sandbox"
)

// timed knows what of a plan's time its bodies took, and what was spent on them
// besides.
type timed struct {
	engine.Evaluator
	bodies, evaluations time.Duration
}

func (e *timed) Eval(ctx context.Context, body sandbox.Body, args sandbox.Args) (sandbox.Result, error) {
	begun := time.Now()
	result, err := e.Evaluator.Eval(ctx, body, args)
	e.evaluations += time.Since(begun)
	e.bodies += result.Duration
	return result, err
}

// BenchmarkTenSteps runs a plan whose guards and executor take no time. Its parts are
// medians of one run: the plan itself, the round trips to the sandbox without the
// bodies, and the bodies.
func BenchmarkTenSteps(b *testing.B) {
	scenario := tenSteps()
	given := map[string]json.RawMessage{"region": json.RawMessage(`"eu"`)}
	executor := &executor{answer: func(engine.Step) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"type":"text","text":"abc"}]}`), nil
	}}
	var plans, trips, bodies []time.Duration
	for b.Loop() {
		evaluator := &timed{Evaluator: pool}
		begun := time.Now()
		result, err := plan.New(plan.Config{Scenario: scenario, Params: given, Evaluator: evaluator, Guards: &guards{}, Executor: executor}).Run(b.Context())
		took := time.Since(begun)
		if err != nil || !result.Done() {
			b.Fatalf("stopped at %s: %s %v", result.Stage, result.Error, err)
		}
		plans = append(plans, took-evaluator.evaluations)
		trips = append(trips, evaluator.evaluations-evaluator.bodies)
		bodies = append(bodies, evaluator.bodies)
	}
	for unit, times := range map[string][]time.Duration{"plan-us": plans, "trips-us": trips, "bodies-us": bodies} {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds()), unit)
	}
}

func tenSteps() engine.Scenario {
	s := engine.Scenario{
		ID: "scn_bench", State: engine.StateReady,
		ParamsObject:        map[string]engine.Param{"region": {SampleValue: json.RawMessage(`"us"`), Kind: engine.KindTarget}},
		ParamsLogic:         "return params;",
		ResponseParamsLogic: "return respParams;",
	}
	for i := range 10 {
		s.Steps = append(s.Steps, engine.Step{
			StepIndex: i, ToolName: "read", ServerName: "files", UpstreamTool: "read",
			ToolInputLogic:  "return {path: '/data/' + params.region}",
			ToolOutputLogic: fmt.Sprintf("return {text%d: JSON.parse(toolOutput).content[0].text}", i),
		})
	}
	return s
}
