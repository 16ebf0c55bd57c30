package logic

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/engine/logic"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/sandbox/cases"
)

// stepCases are a step's stored bodies as cases: its input must be the recorded
// one, its output body must give something.
func (t tester) stepCases(ctx context.Context) ([]cases.Case, error) {
	scn, args, err := fetchStep(ctx, t.app, t.pool, t.scenario, t.options.step)
	if err != nil {
		return nil, err
	}
	args.noteMissing(t.app.Err)
	if args.step.ToolName != args.call.ToolName {
		return nil, cli.Failed("step %d calls %s, and the recording %s", args.step.StepIndex, args.step.ToolName, args.call.ToolName)
	}
	id := fmt.Sprintf("%s step %d", scn.ID, args.step.StepIndex)
	input := cases.Case{
		ID: id + " input", Body: logic.InputBody(args.step), Args: args.Args,
		Expect: &cases.Expect{Value: args.call.Input}, Compare: value.Diff,
	}
	if literal, ok := logic.Literal(args.step.ToolInputLogic); ok {
		// A replay takes the text of the object as it is; JavaScript could lose digits.
		input.Compare = func(want, _ json.RawMessage) string { return value.Diff(want, literal) }
	}
	output := cases.Case{
		ID: id + " output", Body: logic.OutputBody(args.step), Args: args.Args,
	}
	return []cases.Case{input, output}, nil
}
