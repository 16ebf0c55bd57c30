package service

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/store"
)

// latest stands for an edit's id: the newest that can be undone.
const latest = "latest"

func (s *server) revertEdit(w http.ResponseWriter, r *http.Request) error {
	var c consent
	if err := api.ReadJSON(r, &c); err != nil {
		return err
	}
	if err := c.validate(); err != nil {
		return err
	}
	stepIndex, err := intParam(r.URL.Query().Get("step"))
	if err != nil {
		return api.Refuse(api.BadRequest, "step must be a number")
	}
	scn, err := s.store.Scenario(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	answer, err := s.undo(r.Context(), c, scn, target{edit: r.PathValue("edit"), stepIndex: stepIndex})
	if err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, answer)
}

// undo puts a step back to where it was before an edit. That is itself an edit,
// so that it can be undone too.
func (s *server) undo(ctx context.Context, c consent, scn engine.Scenario, t target) (*saved, error) {
	if before, err := s.booked(ctx, scn, c.ID); before != nil || err != nil {
		return before, err
	}
	if err := c.expects(scn); err != nil {
		return nil, err
	}
	history, err := s.store.Edits(ctx, scn.ID)
	if err != nil {
		return nil, err
	}
	e, err := t.pick(history)
	if err != nil {
		return nil, err
	}
	on, err := s.subject(ctx, scn, e.StepIndex)
	if err != nil {
		return nil, err
	}
	next, err := undone(on.step(), e)
	if err != nil {
		return nil, err
	}
	report, err := s.checkUndo(ctx, on, next)
	if err != nil {
		return nil, err
	}
	if report != nil && !report.OK {
		if !c.Force {
			return nil, refuseWith(CodeUndoRefused, report)
		}
		mark(&next, true, c.Note)
	}
	return s.save(ctx, on, draft{next, store.Edit{ID: c.ID, Kind: store.EditUndo, Note: c.Note, Reverts: e.ID}, report})
}

// target says which edit to undo.
type target struct {
	edit      string // its id, or latest
	stepIndex int    // with latest: of this step; 0: of any
}

// pick finds the target in a history. Latest walks back: it never takes an undo,
// and no edit that is undone already.
func (t target) pick(history []store.Edit) (store.Edit, error) {
	if t.edit != latest && t.stepIndex != 0 {
		return store.Edit{}, api.Refuse(api.BadRequest, "step goes with latest only")
	}
	i := slices.IndexFunc(history, func(e store.Edit) bool {
		if t.edit != latest {
			return e.ID == t.edit
		}
		return e.Kind == store.EditChange && e.RevertedBy == "" && (t.stepIndex == 0 || e.StepIndex == t.stepIndex)
	})
	switch {
	case i >= 0:
		return history[i], nil
	case t.edit == latest:
		return store.Edit{}, api.Refuse(CodeUndoRefused, "there is no edit left to undo")
	}
	return store.Edit{}, api.Refuse(api.NotFound, "the scenario has no such edit")
}

// undone is the step as it was before e. Force cannot help here: what came after
// e would be lost without a trace of being undone.
func undone(step engine.Step, e store.Edit) (engine.Step, error) {
	if e.RevertedBy != "" {
		return step, api.Refuse(CodeUndoRefused, "the edit is undone already, by "+e.RevertedBy)
	}
	if store.LogicOf(step) != e.After {
		return step, api.Refuse(CodeUndoRefused, fmt.Sprintf("step %d was changed after this edit; undo the later one first", e.StepIndex))
	}
	e.Before.Apply(&step)
	return step, nil
}
