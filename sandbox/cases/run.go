package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/bir-run/bir/sandbox"
)

// Evaluator runs one body; sandbox.Pool is one.
type Evaluator interface {
	Eval(ctx context.Context, body sandbox.Body, args sandbox.Args) (sandbox.Result, error)
}

// Outcome is how one case ended. As JSON it is a line of `bir logic test --json`.
type Outcome struct {
	ID          string          `json:"id"`
	OK          bool            `json:"ok"` // as expected; without an expectation: no error
	Value       json.RawMessage `json:"value,omitempty"`
	Error       *sandbox.Error  `json:"error,omitempty"`
	Console     []string        `json:"console"`
	DurationMS  float64         `json:"durationMs"`
	MemoryBytes int64           `json:"memoryBytes"`
	Level       sandbox.Level   `json:"level,omitempty"` // where it ran; nothing when it did not

	// Difference says in a sentence how the outcome is not the expected one.
	Difference string `json:"difference,omitempty"`

	Case Case `json:"-"` // what was run
}

// Run evaluates the cases in order. It ends early, with an error, when ctx does or
// the evaluator is closed.
func Run(ctx context.Context, evaluator Evaluator, cases []Case) iter.Seq2[Outcome, error] {
	return func(yield func(Outcome, error) bool) {
		for _, c := range cases {
			outcome, err := run(ctx, evaluator, c)
			if !yield(outcome, err) || err != nil {
				return
			}
		}
	}
}

func run(ctx context.Context, evaluator Evaluator, c Case) (Outcome, error) {
	out := Outcome{ID: c.ID, Console: []string{}, Case: c}
	started := time.Now()
	result, err := evaluator.Eval(ctx, c.Body, c.Args)
	if err != nil {
		result.Duration = time.Since(started) // an evaluation that failed has no own measure
		if !errors.As(err, &out.Error) {
			return out, fmt.Errorf("case%s: %w", named(c.ID), err)
		}
		result.Console = out.Error.Console
	}
	if len(result.Console) > 0 {
		out.Console = result.Console
	}
	out.Value = result.Value
	out.DurationMS = float64(result.Duration.Microseconds()) / 1000
	out.MemoryBytes = result.MemoryBytes
	out.Level = result.Level
	out.Difference = difference(c, out)
	out.OK = out.Difference == "" && (c.Expect != nil || out.Error == nil)
	return out, nil
}

func difference(c Case, out Outcome) string {
	expect := c.Expect
	switch {
	case expect == nil:
		return ""
	case expect.Error != "" && out.Error == nil:
		return fmt.Sprintf("expected an error of type %s, got a value", expect.Error)
	case expect.Error != "" && out.Error.Type != expect.Error:
		return fmt.Sprintf("expected an error of type %s, got %s: %v", expect.Error, out.Error.Type, out.Error)
	case expect.Error != "":
		return ""
	case out.Error != nil:
		return fmt.Sprintf("expected a value, got an error of type %s: %v", out.Error.Type, out.Error)
	}
	if c.Compare != nil {
		return c.Compare(expect.Value, out.Value)
	}
	return Diff(expect.Value, out.Value)
}
