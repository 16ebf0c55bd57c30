package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder/store"
)

// CreateScenario implements store.Scenarios.
func (s *Store) CreateScenario(ctx context.Context, scn engine.Scenario) error {
	body, err := json.Marshal(scn)
	if err != nil {
		return err
	}
	_, err = s.write.ExecContext(ctx, `
		INSERT INTO scenarios (id, run_id, chain_revision, updated_at, body)
		VALUES (?, ?, ?, ?, ?)`,
		scn.ID, scn.RunID, scn.ChainRevision, nanos(scn.UpdatedAt), string(body))
	return translate(err)
}

// ReplaceScenario implements store.Scenarios.
func (s *Store) ReplaceScenario(ctx context.Context, scn engine.Scenario, expected int) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		if err := swapScenario(ctx, tx, scn, expected); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM edits WHERE scenario_id = ?`, scn.ID)
		return err
	})
}

// SaveEdit implements store.Scenarios. The edit goes first: when it is booked
// already, that is the answer, and not that the revision moved on because of it.
func (s *Store) SaveEdit(ctx context.Context, scn engine.Scenario, e store.Edit) error {
	e.RevertedBy = "" // worked out when read
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		var booked bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM edits WHERE id = ?)`, e.ID).Scan(&booked)
		if err != nil {
			return err
		}
		if booked {
			return store.ErrExists
		}
		if err := swapScenario(ctx, tx, scn, e.RevisionBefore); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO edits (id, scenario_id, revision_after, body) VALUES (?, ?, ?, ?)`,
			e.ID, e.ScenarioID, e.RevisionAfter, string(body))
		return err
	})
}

// swapScenario is the guard against lost updates: it writes only over the
// revision that the change was made from.
func swapScenario(ctx context.Context, tx *sql.Tx, scn engine.Scenario, expected int) error {
	body, err := json.Marshal(scn)
	if err != nil {
		return err
	}
	var stored int
	err = tx.QueryRowContext(ctx, `SELECT chain_revision FROM scenarios WHERE id = ?`, scn.ID).Scan(&stored)
	if err != nil {
		return err
	}
	if stored != expected {
		return store.ErrStale
	}
	_, err = tx.ExecContext(ctx, `
		UPDATE scenarios SET chain_revision = ?, updated_at = ?, body = ? WHERE id = ?`,
		scn.ChainRevision, nanos(scn.UpdatedAt), string(body), scn.ID)
	return err
}

// ListScenarios implements store.Scenarios.
func (s *Store) ListScenarios(ctx context.Context) ([]engine.Scenario, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT body FROM scenarios ORDER BY updated_at DESC, id DESC`)
	if err != nil {
		return nil, translate(err)
	}
	return collect(rows, scanBody[engine.Scenario])
}

// Scenario implements store.Scenarios.
func (s *Store) Scenario(ctx context.Context, id string) (engine.Scenario, error) {
	scn, err := scanBody[engine.Scenario](s.read.QueryRowContext(ctx,
		`SELECT body FROM scenarios WHERE id = ?`, id))
	return scn, translate(err)
}

// ScenarioOfRun implements store.Scenarios.
func (s *Store) ScenarioOfRun(ctx context.Context, runID string) (engine.Scenario, error) {
	scn, err := scanBody[engine.Scenario](s.read.QueryRowContext(ctx,
		`SELECT body FROM scenarios WHERE run_id = ?`, runID))
	return scn, translate(err)
}

// Edits implements store.Scenarios.
func (s *Store) Edits(ctx context.Context, scenarioID string) ([]store.Edit, error) {
	// One query reads both, so that a history is never of a scenario that is gone:
	// a scenario without edits is one row of null.
	rows, err := s.read.QueryContext(ctx, `
		SELECT e.body FROM scenarios s LEFT JOIN edits e ON e.scenario_id = s.id
		WHERE s.id = ? ORDER BY e.revision_after DESC`, scenarioID)
	if err != nil {
		return nil, translate(err)
	}
	found, err := collect(rows, scanEdit)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, store.ErrNotFound
	}
	if found[0].ID == "" {
		return []store.Edit{}, nil
	}
	store.MarkReverted(found)
	return found, nil
}

func scanEdit(r row) (store.Edit, error) {
	var body sql.NullString
	if err := r.Scan(&body); err != nil || !body.Valid {
		return store.Edit{}, err
	}
	var e store.Edit
	err := json.Unmarshal([]byte(body.String), &e)
	return e, err
}

func scanBody[T any](r row) (T, error) {
	var item T
	var body string
	if err := r.Scan(&body); err != nil {
		return item, err
	}
	if err := json.Unmarshal([]byte(body), &item); err != nil {
		return item, errors.Join(store.ErrDamaged, err)
	}
	return item, nil
}
