package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/store"
)

const stepColumns = `
	id, step_index, type, call_id, tool_name, server_name, upstream_tool,
	tool_input, tool_output, tool_error, context, answer, status, started_at, duration_ms,
	asked_input, agent_id, agent_type, attempts`

// stepColumnCount is how many stepColumns are, and the run's id.
const stepColumnCount = 20

// rowsTogether is how many steps one statement inserts. Fewer statements cost less,
// up to here; a list that is no multiple ends with single ones.
const rowsTogether = 16

// insertSteps is the statement that inserts so many steps.
func insertSteps(count int) string {
	row := "(?" + strings.Repeat(", ?", stepColumnCount-1) + ")"
	return `INSERT INTO steps (run_id, ` + stepColumns + `) VALUES ` + row + strings.Repeat(", "+row, count-1) + `
		ON CONFLICT (id) DO NOTHING`
}

// AddSteps implements store.Runs.
func (s *Store) AddSteps(ctx context.Context, runID string, steps ...recorder.Step) error {
	release, err := s.pending.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	if noted, err := s.note(ctx, runID, steps); noted || err != nil {
		return err
	}
	if err := s.bookLocked(ctx); err != nil {
		return err
	}
	return s.insert(ctx, runID, steps)
}

// insert writes steps to their table. One transaction costs about as much as one row
// that is a transaction of its own.
func (s *Store) insert(ctx context.Context, runID string, steps []recorder.Step) error {
	defer s.checkpoint.later()
	return s.inTx(ctx, func(tx *sql.Tx) error {
		for len(steps) > 0 {
			insert, count := s.insertStep, 1
			if len(steps) >= rowsTogether {
				insert, count = s.insertMany, rowsTogether
			}
			if err := addSteps(ctx, tx, tx.StmtContext(ctx, insert), runID, steps[:count]); err != nil {
				return err
			}
			steps = steps[count:]
		}
		return nil
	})
}

// addSteps runs a statement that inserts as many steps as there are.
func addSteps(ctx context.Context, tx *sql.Tx, insert *sql.Stmt, runID string, steps []recorder.Step) error {
	values := make([]any, 0, len(steps)*stepColumnCount)
	for i := range steps {
		values = appendValues(append(values, runID), &steps[i])
	}
	res, err := insert.ExecContext(ctx, values...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == int64(len(steps)) {
		return err
	}
	for i := range steps { // some were there
		if err := sameRun(ctx, tx, runID, steps[i].ID); err != nil {
			return err
		}
	}
	return nil
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
	if err := s.book(ctx); err != nil {
		return err
	}
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
			WHERE id = ?`, append(appendValues(nil, &step), stepID)...)
		return err
	})
}

// appendValues appends in the order of stepColumns. Types of its own would make the
// driver look closer.
func appendValues(values []any, s *recorder.Step) []any {
	return append(values,
		s.ID, int64(s.StepIndex), string(s.Type), s.CallID, s.ToolName, s.ServerName, s.UpstreamTool,
		s.ToolInput, s.ToolOutput, s.ToolError, s.Context, s.Answer, string(s.Status), nanos(s.StartedAt), s.DurationMS,
		s.AskedInput, s.AgentID, s.AgentType, int64(s.Attempts))
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
