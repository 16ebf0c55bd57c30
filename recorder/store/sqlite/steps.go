package sqlite

import (
	"context"
	"database/sql"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/store"
)

const stepColumns = `
	id, step_index, type, call_id, tool_name, server_name, upstream_tool,
	tool_input, tool_output, tool_error, context, answer, status, started_at, duration_ms,
	asked_input, agent_id, agent_type, attempts`

const insertStepSQL = `
	INSERT INTO steps (run_id, ` + stepColumns + `)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO NOTHING`

// AddSteps implements store.Runs. One transaction costs about as much as one row
// that is a transaction of its own.
func (s *Store) AddSteps(ctx context.Context, runID string, steps ...recorder.Step) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		insert := tx.StmtContext(ctx, s.insertStep)
		for _, step := range steps {
			if err := addStep(ctx, tx, insert, runID, step); err != nil {
				return err
			}
		}
		return nil
	})
}

func addStep(ctx context.Context, tx *sql.Tx, insert *sql.Stmt, runID string, step recorder.Step) error {
	res, err := insert.ExecContext(ctx, append([]any{runID}, stepValues(step)...)...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return sameRun(ctx, tx, runID, step.ID)
}

// sameRun tells a step that came twice from an id that another run uses.
func sameRun(ctx context.Context, tx *sql.Tx, runID, stepID string) error {
	var owner string
	err := tx.QueryRowContext(ctx, `SELECT run_id FROM steps WHERE id = ?`, stepID).Scan(&owner)
	if err == nil && owner != runID {
		return store.ErrExists
	}
	return err
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
			UPDATE steps SET (`+stepColumns+`) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			WHERE id = ?`, append(stepValues(step), stepID)...)
		return err
	})
}

// stepValues is in the order of stepColumns.
func stepValues(s recorder.Step) []any {
	return []any{
		s.ID, s.StepIndex, s.Type, s.CallID, s.ToolName, s.ServerName, s.UpstreamTool,
		s.ToolInput, s.ToolOutput, s.ToolError, s.Context, s.Answer, s.Status, nanos(s.StartedAt), s.DurationMS,
		s.AskedInput, s.AgentID, s.AgentType, s.Attempts,
	}
}

func scanStep(r row) (recorder.Step, error) {
	var s recorder.Step
	var started int64
	err := r.Scan(
		&s.ID, &s.StepIndex, &s.Type, &s.CallID, &s.ToolName, &s.ServerName, &s.UpstreamTool,
		&s.ToolInput, &s.ToolOutput, &s.ToolError, &s.Context, &s.Answer, &s.Status, &started, &s.DurationMS,
		&s.AskedInput, &s.AgentID, &s.AgentType, &s.Attempts)
	s.StartedAt = fromNanos(started)
	return s, err
}
