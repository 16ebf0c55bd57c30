package client

import (
	"context"
	"fmt"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/truncate"
)

// Import stores an exported run under its own ids. It may come from anywhere, so
// it is redacted and truncated as a recording is; what was exported by bir passes
// unchanged. Importing again books nothing twice.
func (c *Client) Import(ctx context.Context, e recorder.RunWithSteps) error {
	run := e.Run
	run.Input = cleanText(run.Input, truncate.MaxBytes)
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
		Output: cleanText(run.Output, truncate.MaxBytes), Lossy: run.Metadata.Lossy, FinishedAt: run.FinishedAt, Usage: run.Usage,
	})
}

func cleanStep(s recorder.Step) recorder.Step {
	s.ToolInput = string(cleanJSON([]byte(s.ToolInput), truncate.MaxBytes))
	s.AskedInput = string(cleanJSON([]byte(s.AskedInput), truncate.MaxBytes))
	s.ToolOutput = string(cleanJSON([]byte(s.ToolOutput), truncate.MaxBytes))
	s.ToolError = cleanText(s.ToolError, truncate.MaxBytes)
	s.Context = cleanText(s.Context, truncate.MaxBytes)
	s.Answer = cleanText(s.Answer, truncate.MaxBytes)
	return s
}
