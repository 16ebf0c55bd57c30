package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/proof"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/store"
)

// subject is the step that a request is about, with what it is checked against.
type subject struct {
	scn engine.Scenario
	rec engine.Recording
	at  int // in scn.Steps
}

func (s subject) step() engine.Step { return s.scn.Steps[s.at] }

func (s *server) subject(ctx context.Context, scn engine.Scenario, stepIndex int) (subject, error) {
	at := stepAt(scn, stepIndex)
	if at < 0 {
		return subject{}, api.Refuse(api.NotFound, fmt.Sprintf("the scenario has no step %d", stepIndex))
	}
	run, err := s.store.Run(ctx, scn.RunID)
	if err != nil {
		return subject{}, err
	}
	return subject{scn: scn, rec: Recording(run), at: at}, nil
}

// stepAt is where a step stands, -1 without one.
func stepAt(scn engine.Scenario, stepIndex int) int {
	return slices.IndexFunc(scn.Steps, func(step engine.Step) bool { return step.StepIndex == stepIndex })
}

// readChange reads a change and the step that the path names.
func (s *server) readChange(r *http.Request) (change, subject, error) {
	var c change
	if err := api.ReadJSON(r, &c); err != nil {
		return c, subject{}, err
	}
	if err := c.validate(); err != nil {
		return c, subject{}, err
	}
	n, err := strconv.Atoi(r.PathValue("step"))
	if err != nil {
		return c, subject{}, api.Refuse(api.NotFound, "steps are counted from 1")
	}
	scn, err := s.store.Scenario(r.Context(), r.PathValue("id"))
	if err != nil {
		return c, subject{}, err
	}
	on, err := s.subject(r.Context(), scn, n)
	return c, on, err
}

// tryStep checks a change and writes nothing.
func (s *server) tryStep(w http.ResponseWriter, r *http.Request) error {
	c, on, err := s.readChange(r)
	if err != nil {
		return err
	}
	next := c.apply(on.step())
	report := reportOn(on.scn, next.StepIndex, proof.Report{OK: true, NoChange: true})
	if next != on.step() {
		if report, err = s.check(r.Context(), on, next); err != nil {
			return err
		}
	}
	return api.WriteJSON(w, http.StatusOK, report)
}

// saved answers an edit or an undo.
type saved struct {
	Step          engine.Step  `json:"step"`
	ChainRevision int          `json:"chainRevision"`
	Edit          store.Edit   `json:"edit"`
	Report        *CheckReport `json:"report,omitempty"` // absent where nothing had to be checked
}

func (s *server) editStep(w http.ResponseWriter, r *http.Request) error {
	c, on, err := s.readChange(r)
	if err != nil {
		return err
	}
	answer, err := s.edit(r.Context(), c, on)
	if err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, answer)
}

// edit checks a change and saves it, or refuses it with what was found.
func (s *server) edit(ctx context.Context, c change, on subject) (*saved, error) {
	if before, err := s.booked(ctx, on.scn, c.ID); before != nil || err != nil {
		return before, err
	}
	if err := c.expects(on.scn); err != nil {
		return nil, err
	}
	next := c.apply(on.step())
	if next == on.step() {
		return nil, api.Refuse(CodeNothingToChange, "")
	}
	report, err := s.check(ctx, on, next)
	if err != nil {
		return nil, err
	}
	if !report.OK && !c.Force {
		return nil, refuseWith(CodeCheckFailed, report)
	}
	mark(&next, !report.OK, c.Note)
	return s.save(ctx, on, draft{next, store.Edit{ID: c.ID, Kind: store.EditChange, Note: c.Note}, report})
}

// draft is a checked step on its way into the store.
type draft struct {
	next   engine.Step
	edit   store.Edit   // what only its maker knows; save fills the rest
	report *CheckReport // nil: nothing had to be checked
}

// save books a draft. The store refuses it when the scenario has moved on since
// it was read.
func (s *server) save(ctx context.Context, on subject, d draft) (*saved, error) {
	scn, err := s.settled(ctx, withStep(on.scn, on.at, d.next), on.rec)
	if err != nil {
		return nil, err
	}
	scn.UpdatedAt = time.Now().UTC()
	e := d.edit
	if e.ID == "" {
		e.ID = recorder.NewID("sedit")
	}
	e.ScenarioID, e.StepIndex = scn.ID, d.next.StepIndex
	e.Before, e.After = store.LogicOf(on.step()), store.LogicOf(d.next)
	e.RevisionBefore, e.RevisionAfter = on.scn.ChainRevision, scn.ChainRevision
	e.CreatedAt = scn.UpdatedAt
	if d.report != nil {
		e.Forced, e.Problems = !d.report.OK, d.report.Problems
	}
	err = s.store.SaveEdit(ctx, scn, e)
	if errors.Is(err, store.ErrExists) {
		if before, readErr := s.booked(ctx, scn, e.ID); before != nil || readErr != nil {
			return before, readErr
		}
	}
	if err != nil {
		return nil, err
	}
	return &saved{Step: d.next, ChainRevision: scn.ChainRevision, Edit: e, Report: d.report}, nil
}

// booked is the answer to a request that came before under the same edit id: its
// caller did not get the first one and tries again. Nil where there was none.
func (s *server) booked(ctx context.Context, scn engine.Scenario, editID string) (*saved, error) {
	if editID == "" {
		return nil, nil
	}
	history, err := s.store.Edits(ctx, scn.ID)
	if err != nil {
		return nil, err
	}
	for _, e := range history {
		if at := stepAt(scn, e.StepIndex); e.ID == editID && at >= 0 {
			step := scn.Steps[at]
			e.After.Apply(&step)
			return &saved{Step: step, ChainRevision: e.RevisionAfter, Edit: e}, nil
		}
	}
	return nil, nil
}

func (s *server) listEdits(w http.ResponseWriter, r *http.Request) error {
	history, err := s.store.Edits(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, struct {
		Edits []store.Edit `json:"edits"`
	}{history})
}
