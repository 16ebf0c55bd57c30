package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/store"
)

const stepColumns = `
	id, step_index, type, call_id, tool_name, server_name, upstream_tool,
	tool_input, tool_output, tool_error, context, answer, status, started_at, duration_ms`

const insertStepSQL = `
	INSERT INTO steps (run_id, ` + stepColumns + `)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO NOTHING`

// AddStep implements store.Runs.
func (s *Store) AddStep(ctx context.Context, runID string, step recorder.Step) error {
	res, err := s.insertStep.ExecContext(ctx, append([]any{runID}, stepValues(step)...)...)
	if err != nil {
		return translate(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return s.sameRun(ctx, runID, step.ID)
}

// sameRun tells a step that came twice from an id that another run uses. It asks
// the writer, which is sure to see the row that stood in the way.
func (s *Store) sameRun(ctx context.Context, runID, stepID string) error {
	var owner string
	err := s.write.QueryRowContext(ctx, `SELECT run_id FROM steps WHERE id = ?`, stepID).Scan(&owner)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.ErrNotFound // its run was deleted in between
	case err != nil:
		return translate(err)
	case owner != runID:
		return store.ErrExists
	}
	return nil
}

// UpdateStep implements store.Runs.
func (s *Store) UpdateStep(ctx context.Context, runID, stepID string, change func(*recorder.Step) error) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		step, err := scanStep(tx.QueryRowContext(ctx,
			`SELECT `+stepColumns+` FROM steps WHERE run_id = ? AND id = ?`, runID, stepID))
		if err != nil {
			return err
		}
		if err := change(&step); err != nil {
			return err
		}
		step.ID = stepID
		_, err = tx.ExecContext(ctx, `
			UPDATE steps SET (`+stepColumns+`) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			WHERE id = ?`, append(stepValues(step), stepID)...)
		return err
	})
}

// stepValues is in the order of stepColumns.
func stepValues(s recorder.Step) []any {
	return []any{
		s.ID, s.StepIndex, s.Type, s.CallID, s.ToolName, s.ServerName, s.UpstreamTool,
		s.ToolInput, s.ToolOutput, s.ToolError, s.Context, s.Answer, s.Status, nanos(s.StartedAt), s.DurationMS,
	}
}

func scanStep(r row) (recorder.Step, error) {
	var s recorder.Step
	var started int64
	err := r.Scan(
		&s.ID, &s.StepIndex, &s.Type, &s.CallID, &s.ToolName, &s.ServerName, &s.UpstreamTool,
		&s.ToolInput, &s.ToolOutput, &s.ToolError, &s.Context, &s.Answer, &s.Status, &started, &s.DurationMS)
	s.StartedAt = fromNanos(started)
	return s, err
}
