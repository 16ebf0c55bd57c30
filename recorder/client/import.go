package client

import (
	"context"
	"fmt"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/clean"
)

// Import stores an exported run under its own ids. It may come from anywhere, so
// it is redacted and truncated as a recording is; what was exported by bir passes
// unchanged. Importing again books nothing twice.
func (c *Client) Import(ctx context.Context, e recorder.RunWithSteps) error {
	run := e.Run
	run.Input = clean.Text(run.Input, 0)
	run.Metadata = cleanMetadata(run.Metadata)
	if err := c.CreateRun(ctx, run); err != nil {
		return err
	}
	for _, s := range e.Steps {
		if err := c.AddStep(ctx, run.ID, cleanStep(s)); err != nil {
			return fmt.Errorf("row %d: %w", s.StepIndex, err)
		}
	}
	if run.State != recorder.StateFinished {
		return nil
	}
	return c.Finish(ctx, run.ID, recorder.Finish{
		Output: clean.Text(run.Output, 0), Lossy: run.Metadata.Lossy, FinishedAt: run.FinishedAt, Usage: run.Usage,
	})
}

func cleanStep(s recorder.Step) recorder.Step {
	s.ToolInput = string(clean.JSON([]byte(s.ToolInput), 0))
	s.AskedInput = string(clean.JSON([]byte(s.AskedInput), 0))
	s.ToolOutput = string(clean.JSON([]byte(s.ToolOutput), 0))
	s.ToolError = clean.Text(s.ToolError, 0)
	s.Context = clean.Text(s.Context, 0)
	s.Answer = clean.Text(s.Answer, 0)
	return s
}
