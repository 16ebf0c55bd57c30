package sqlite

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/store"
)

// runColumns are read by scanRun. The counts are worked out where they are read:
// keeping them would make every step update its run's row.
const runColumns = `
	r.id, r.framework, r.input, r.metadata, r.state, r.output, r.started_at, r.finished_at, r.usage,
	(SELECT count(*) FROM steps WHERE run_id = r.id),
	(SELECT count(*) FROM steps WHERE run_id = r.id AND type = 'tool_selected'),
	coalesce((SELECT id FROM scenarios WHERE run_id = r.id), '')`

// CreateRun implements store.Runs.
func (s *Store) CreateRun(ctx context.Context, run recorder.Run) (created bool, err error) {
	metadata, err := json.Marshal(run.Metadata)
	if err != nil {
		return false, err
	}
	res, err := s.write.ExecContext(ctx, `
		INSERT INTO runs (id, framework, input, metadata, state, started_at)
		VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING`,
		run.ID, run.Framework, run.Input, string(metadata), recorder.StateOpen, nanos(run.StartedAt))
	if err != nil {
		return false, translate(err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// ListRuns implements store.Runs. It asks for one row more than a page, which
// tells whether there is a next one.
func (s *Store) ListRuns(ctx context.Context, q store.RunQuery) (store.RunPage, error) {
	where, args, err := runFilter(q)
	if err != nil {
		return store.RunPage{}, err
	}
	if err := s.book(ctx); err != nil {
		return store.RunPage{}, err
	}
	limit := q.Bounded()
	rows, err := s.read.QueryContext(ctx, `SELECT `+runColumns+` FROM runs r WHERE `+where+`
		ORDER BY r.started_at DESC, r.id DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return store.RunPage{}, translate(err)
	}
	runs, err := collect(rows, scanRun)
	if err != nil {
		return store.RunPage{}, err
	}
	page := store.RunPage{Runs: runs}
	if len(runs) > limit {
		page.Runs = runs[:limit]
		page.NextCursor = cursorAfter(runs[limit-1])
	}
	return page, nil
}

func runFilter(q store.RunQuery) (where string, args []any, err error) {
	terms := []string{"true"}
	if q.Text != "" {
		like := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(q.Text) + "%"
		terms = append(terms, `(r.id = ? OR r.input LIKE ? ESCAPE '\'
			OR r.metadata ->> '$.cwd' LIKE ? ESCAPE '\'
			OR EXISTS (SELECT 1 FROM steps WHERE run_id = r.id AND tool_name LIKE ? ESCAPE '\'))`)
		args = append(args, q.Text, like, like, like)
	}
	if q.Cursor != "" {
		at, id, err := parseCursor(q.Cursor)
		if err != nil {
			return "", nil, err
		}
		terms = append(terms, `(r.started_at, r.id) < (?, ?)`)
		args = append(args, at, id)
	}
	return strings.Join(terms, " AND "), args, nil
}

// cursorAfter names the last run of a page. It is a position and not an offset,
// so runs that start meanwhile neither repeat nor hide one.
func cursorAfter(last recorder.Run) string {
	text := strconv.FormatInt(nanos(last.StartedAt), 10) + " " + last.ID
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

func parseCursor(cursor string) (startedAt int64, id string, err error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, "", store.ErrCursor
	}
	at, id, _ := strings.Cut(string(text), " ")
	startedAt, err = strconv.ParseInt(at, 10, 64)
	if err != nil || id == "" {
		return 0, "", store.ErrCursor
	}
	return startedAt, id, nil
}

// Run implements store.Runs. One transaction reads both tables: a step that is
// counted is there.
func (s *Store) Run(ctx context.Context, id string) (recorder.RunWithSteps, error) {
	if err := s.book(ctx); err != nil {
		return recorder.RunWithSteps{}, err
	}
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return recorder.RunWithSteps{}, translate(err)
	}
	defer tx.Rollback() //nolint:errcheck // it wrote nothing
	run, err := scanRun(tx.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs r WHERE r.id = ?`, id))
	if err != nil {
		return recorder.RunWithSteps{}, translate(err)
	}
	rows, err := tx.QueryContext(ctx, `SELECT `+stepColumns+` FROM steps
		WHERE run_id = ? ORDER BY step_index, id`, id)
	if err != nil {
		return recorder.RunWithSteps{}, translate(err)
	}
	steps, err := collect(rows, scanStep)
	return recorder.RunWithSteps{Run: run, Steps: steps}, err
}

// SetInput implements store.Runs.
func (s *Store) SetInput(ctx context.Context, runID, input string) error {
	return s.changeOne(ctx, `UPDATE runs SET input = ? WHERE id = ?`, input, runID)
}

// DeleteRun implements store.Runs; the foreign keys take the rest along.
func (s *Store) DeleteRun(ctx context.Context, id string) error {
	release, err := s.pending.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := s.bookLocked(ctx); err != nil {
		return err
	}
	delete(s.pending.runs, id)
	return s.changeOne(ctx, `DELETE FROM runs WHERE id = ?`, id)
}

// FinishRun implements store.Runs. One statement, so that a run is never
// finished without its end; the right-hand sides read the row as it was.
func (s *Store) FinishRun(ctx context.Context, runID string, end recorder.Finish) error {
	usage, err := usageText(end.Usage)
	if err != nil {
		return err
	}
	return s.changeOne(ctx, `
		UPDATE runs SET
			state       = 'finished',
			output      = CASE state WHEN 'open' THEN ?1 ELSE output END,
			finished_at = CASE state WHEN 'open' THEN ?2 ELSE finished_at END,
			usage       = CASE state WHEN 'open' THEN ?3 ELSE usage END,
			metadata    = CASE WHEN ?4 THEN json_set(metadata, '$.lossy', json('true')) ELSE metadata END
		WHERE id = ?5`,
		end.Output, nanos(end.FinishedAt), usage, end.Lossy, runID)
}

// usageText is empty where nothing was measured, which is not the same as nothing
// having been used.
func usageText(usage map[string]recorder.Usage) (string, error) {
	if usage == nil {
		return "", nil
	}
	text, err := json.Marshal(usage)
	return string(text), err
}

// changeOne runs a statement that must find its row.
func (s *Store) changeOne(ctx context.Context, query string, args ...any) error {
	res, err := s.write.ExecContext(ctx, query, args...)
	if err != nil {
		return translate(err)
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// row is what *sql.Row and *sql.Rows share.
type row interface{ Scan(dest ...any) error }

func scanRun(r row) (recorder.Run, error) {
	var run recorder.Run
	var metadata, usage string
	var started, finished int64
	err := r.Scan(&run.ID, &run.Framework, &run.Input, &metadata, &run.State, &run.Output,
		&started, &finished, &usage, &run.StepCount, &run.CallCount, &run.ScenarioID)
	if err != nil {
		return recorder.Run{}, err
	}
	if err := json.Unmarshal([]byte(metadata), &run.Metadata); err != nil {
		return recorder.Run{}, fmt.Errorf("metadata of %s: %w", run.ID, err)
	}
	if usage != "" {
		if err := json.Unmarshal([]byte(usage), &run.Usage); err != nil {
			return recorder.Run{}, fmt.Errorf("usage of %s: %w", run.ID, err)
		}
	}
	run.StartedAt, run.FinishedAt = fromNanos(started), fromNanos(finished)
	return run, nil
}

// collect reads all rows and closes them. An empty list is not nil, because it
// becomes JSON.
func collect[T any](rows *sql.Rows, scan func(row) (T, error)) ([]T, error) {
	list := []T{}
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, errors.Join(translate(err), rows.Close())
		}
		list = append(list, item)
	}
	return list, translate(errors.Join(rows.Err(), rows.Close()))
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
