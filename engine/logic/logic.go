// Package logic evaluates the four kinds of body of a scenario in the order of a
// run and threads what they return. A check and a replay both go through it, so
// that a body cannot behave one way when it is proved and another when it runs.
package logic

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/sandbox"
)

// Runner holds what the bodies of one run share. It is not safe for concurrent
// use: a run evaluates one body at a time.
type Runner struct {
	evaluator engine.Evaluator
	world     sandbox.World
	params    json.RawMessage
	resp      map[string]json.RawMessage
}

// New makes a runner whose bodies see the given world.
func New(evaluator engine.Evaluator, world sandbox.World) *Runner {
	return &Runner{evaluator: evaluator, world: world, params: json.RawMessage("{}"), resp: map[string]json.RawMessage{}}
}

// Params completes the derived parameters; later bodies see the result.
func (r *Runner) Params(ctx context.Context, source string, params map[string]json.RawMessage) (json.RawMessage, error) {
	given, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	r.params = given
	completed, err := r.eval(ctx, sandbox.Body{Kind: sandbox.KindParams, Source: source}, "")
	if err != nil {
		return nil, err
	}
	r.params = completed
	return completed, nil
}

// Input computes a step's arguments.
func (r *Runner) Input(ctx context.Context, step engine.Step) (json.RawMessage, error) {
	if literal, ok := Literal(step.ToolInputLogic); ok {
		return literal, nil
	}
	return r.eval(ctx, InputBody(step), "")
}

// Output reads a step's output and merges what it returns into the threaded
// values.
func (r *Runner) Output(ctx context.Context, step engine.Step, output string) (json.RawMessage, error) {
	derived, err := r.eval(ctx, OutputBody(step), output)
	if err != nil {
		return nil, err
	}
	var more map[string]json.RawMessage
	if err := json.Unmarshal(derived, &more); err != nil {
		return nil, &sandbox.Error{Type: sandbox.TypeResult, Message: "the output body did not return an object"}
	}
	for name, value := range more {
		r.resp[name] = value
	}
	return derived, nil
}

// Response computes the response model.
func (r *Runner) Response(ctx context.Context, source string) (json.RawMessage, error) {
	return r.eval(ctx, sandbox.Body{Kind: sandbox.KindResponseParams, Source: source}, "")
}

// Threaded is what the output bodies have returned so far, as an object.
func (r *Runner) Threaded() json.RawMessage {
	// A map of raw JSON that the evaluator returned always marshals.
	threaded, err := json.Marshal(r.resp)
	if err != nil {
		return json.RawMessage("{}")
	}
	return threaded
}

// InputBody is the body that computes a step's arguments.
func InputBody(step engine.Step) sandbox.Body {
	return sandbox.Body{Kind: sandbox.KindToolInput, Source: step.ToolInputLogic, Unproved: step.Unproved()}
}

// OutputBody is the body that reads a step's output.
func OutputBody(step engine.Step) sandbox.Body {
	return sandbox.Body{Kind: sandbox.KindToolOutput, Source: step.ToolOutputLogic, Unproved: step.Unproved()}
}

func (r *Runner) eval(ctx context.Context, body sandbox.Body, output string) (json.RawMessage, error) {
	result, err := r.evaluator.Eval(ctx, body, sandbox.Args{
		Params:     r.params,
		RespParams: r.Threaded(),
		ToolOutput: output,
		World:      r.world,
	})
	return result.Value, err
}

// Literal is the object of a body that is nothing but `return {JSON};`. Its text
// is the answer: JavaScript would turn 1.0 into 1 and 9007199254740993 into
// another number, and no step can be repeated exactly that way.
func Literal(source string) (json.RawMessage, bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(source), "return ")
	if !ok {
		return nil, false
	}
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), ";"))
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil, false
	}
	return json.RawMessage(text), true
}
