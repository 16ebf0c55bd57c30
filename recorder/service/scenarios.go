package service

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/calc"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/store"
)

// calculate answers with the scenario of a run, and makes it where there is none
// or force asks for a new one.
func (s *server) calculate(w http.ResponseWriter, r *http.Request) error {
	ctx, id := r.Context(), r.PathValue("id")
	query := r.URL.Query()
	old, err := s.store.ScenarioOfRun(ctx, id)
	exists := err == nil
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	case exists && !flag(query.Get("force")):
		return api.WriteJSON(w, http.StatusOK, old)
	case exists && !flag(query.Get("discardEdits")):
		if err := s.refuseWithEdits(ctx, old.ID); err != nil {
			return err
		}
	}
	run, err := s.store.Run(ctx, id)
	if err != nil {
		return err
	}
	fresh, err := calc.Calculate(ctx, s.evaluator, Recording(run))
	if err != nil {
		return err
	}
	scn, err := s.keep(ctx, fresh, id, old)
	if err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, scn)
}

// refuseWithEdits keeps a new calculation from wiping out what a person did.
func (s *server) refuseWithEdits(ctx context.Context, scenarioID string) error {
	history, err := s.store.Edits(ctx, scenarioID)
	if err != nil {
		return err
	}
	byHand := func(e store.Edit) bool { return e.Kind == store.EditChange && e.RevertedBy == "" }
	if slices.ContainsFunc(history, byHand) {
		return api.Refuse(CodeScenarioHasEdits, "ask to discard the edits, or undo them first")
	}
	return nil
}

// keep stores a calculated scenario. A new calculation keeps the id, so that what
// names the scenario still finds it.
func (s *server) keep(ctx context.Context, fresh engine.Scenario, runID string, old engine.Scenario) (engine.Scenario, error) {
	fresh.Version = engine.FormatVersion
	fresh.RunID = runID
	fresh.UpdatedAt = time.Now().UTC()
	fresh.ChainRevision = old.ChainRevision + 1
	if old.ID != "" {
		fresh.ID, fresh.CreatedAt = old.ID, old.CreatedAt
		return fresh, s.store.ReplaceScenario(ctx, fresh, old.ChainRevision)
	}
	fresh.ID, fresh.CreatedAt = recorder.NewID("scn"), fresh.UpdatedAt
	err := s.store.CreateScenario(ctx, fresh)
	if errors.Is(err, store.ErrExists) {
		return s.store.ScenarioOfRun(ctx, runID) // another request was quicker
	}
	return fresh, err
}

func (s *server) scenarioOfRun(w http.ResponseWriter, r *http.Request) error {
	scn, err := s.store.ScenarioOfRun(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, scn)
}

func (s *server) showScenario(w http.ResponseWriter, r *http.Request) error {
	scn, err := s.store.Scenario(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, scn)
}

// Summary is one line of the list of scenarios.
type Summary struct {
	ID            string            `json:"id"`
	RunID         string            `json:"runId"`
	Intent        string            `json:"intent"`
	State         engine.State      `json:"state"`
	Problem       string            `json:"problem,omitempty"`
	Provenance    engine.Provenance `json:"provenance"`
	StepCount     int               `json:"stepCount"`
	FrozenCount   int               `json:"frozenCount"`
	ChainRevision int               `json:"chainRevision"`
	CreatedAt     time.Time         `json:"createdAt"`
	UpdatedAt     time.Time         `json:"updatedAt"`
}

func (s *server) listScenarios(w http.ResponseWriter, r *http.Request) error {
	all, err := s.store.ListScenarios(r.Context())
	if err != nil {
		return err
	}
	list := make([]Summary, len(all))
	for i, scn := range all {
		list[i] = summarize(scn)
	}
	return api.WriteJSON(w, http.StatusOK, struct {
		Scenarios []Summary `json:"scenarios"`
	}{list})
}

func summarize(scn engine.Scenario) Summary {
	frozen := 0
	for _, step := range scn.Steps {
		if step.Frozen {
			frozen++
		}
	}
	return Summary{
		ID: scn.ID, RunID: scn.RunID, Intent: scn.Intent,
		State: scn.State, Problem: scn.Problem, Provenance: scn.Provenance,
		StepCount: len(scn.Steps), FrozenCount: frozen, ChainRevision: scn.ChainRevision,
		CreatedAt: scn.CreatedAt, UpdatedAt: scn.UpdatedAt,
	}
}

// flag reads a yes of a query.
func flag(text string) bool { return text == "1" || text == "true" }
