package service

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/store"
)

// maxIDRest bounds what follows the prefix of an id.
const maxIDRest = 64

// checkID wants an id with its prefix, as "run_0192...". Clients make UUIDs; an import
// may bring others, but nothing that could be mistaken for a path.
func checkID(id, prefix string) error {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok || len(rest) < 2 || len(rest) > 1+maxIDRest || rest[0] != '_' || !consistsOf(rest[1:], isIDByte) {
		return api.Refuse(api.BadRequest, "id must be "+prefix+"_ and up to 64 letters, digits or dashes")
	}
	return nil
}

func isIDByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-'
}

// consistsOf looks at each byte: an expression would cost more than to store what it
// is about.
func consistsOf(s string, may func(byte) bool) bool {
	for i := range len(s) {
		if !may(s[i]) {
			return false
		}
	}
	return true
}

// started answers POST /recordings/runs. Matched is for a run that a scenario can
// replay; nothing matches yet.
type started struct {
	ID      string `json:"id"`
	Matched any    `json:"matched"`
}

func (s *server) startRun(w http.ResponseWriter, r *http.Request) error {
	var run recorder.Run
	if err := api.ReadJSON(r, &run); err != nil {
		return err
	}
	if err := checkID(run.ID, "run"); err != nil {
		return err
	}
	if run.StartedAt.IsZero() {
		run.StartedAt = time.Now()
	}
	created, err := s.store.CreateRun(r.Context(), run)
	if err != nil {
		return err
	}
	status := http.StatusCreated
	if !created {
		status = http.StatusOK // it goes on, or a retry comes late
	}
	return api.WriteJSON(w, status, started{ID: run.ID})
}

type runList struct {
	Runs       []recorder.Run `json:"runs"`
	NextCursor string         `json:"nextCursor,omitempty"`
}

func (s *server) listRuns(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	limit, err := intParam(query.Get("limit"))
	if err != nil {
		return api.Refuse(api.BadRequest, "limit must be a number")
	}
	page, err := s.store.ListRuns(r.Context(), store.RunQuery{
		Text: query.Get("q"), Cursor: query.Get("cursor"), Limit: limit,
	})
	if err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, runList(page))
}

func (s *server) showRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, run)
}

func (s *server) changeRun(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Input *string `json:"input"`
	}
	if err := api.ReadJSON(r, &body); err != nil {
		return err
	}
	if body.Input == nil {
		return api.Refuse(api.BadRequest, "input is missing")
	}
	id := r.PathValue("id")
	if err := s.store.SetInput(r.Context(), id, *body.Input); err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, named{ID: id})
}

func (s *server) deleteRun(w http.ResponseWriter, r *http.Request) error {
	if err := s.store.DeleteRun(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// named answers a write with the id of what was written.
type named struct {
	ID string `json:"id"`
}

// changeStep puts the fields that the body has over the stored ones.
func (s *server) changeStep(w http.ResponseWriter, r *http.Request) error {
	var patch json.RawMessage
	if err := api.ReadJSON(r, &patch); err != nil {
		return err
	}
	stepID := r.PathValue("stepID")
	err := s.store.UpdateStep(r.Context(), r.PathValue("id"), stepID, func(step *recorder.Step) error {
		if err := api.Unmarshal(patch, step); err != nil {
			return err
		}
		return checkStep(*step)
	})
	if err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, named{ID: stepID})
}

const maxStatusBytes = 32

// isStatusByte admits statuses that this version does not know: only StatusOK has a
// meaning of its own here, and a newer recorder may tell more of them apart.
func isStatusByte(b byte) bool { return b >= 'a' && b <= 'z' || b == '_' }

func checkStep(step recorder.Step) error {
	switch step.Type {
	case recorder.StepSelected, recorder.StepResponse, recorder.StepAnswer:
	default:
		return api.Refuse(api.BadRequest, "type must be tool_selected, tool_response or final_answer")
	}
	if step.StepIndex < 0 || step.Attempts < 0 {
		return api.Refuse(api.BadRequest, "stepIndex and attempts must not be negative")
	}
	if len(step.Status) > maxStatusBytes || !consistsOf(string(step.Status), isStatusByte) {
		return api.Refuse(api.BadRequest, "status must be a word of lower-case letters")
	}
	return nil
}

func (s *server) finishRun(w http.ResponseWriter, r *http.Request) error {
	var end recorder.Finish
	if err := api.ReadJSON(r, &end); err != nil {
		return err
	}
	for _, used := range end.Usage {
		if min(used.Input, used.Output, used.CacheCreation, used.CacheRead) < 0 {
			return api.Refuse(api.BadRequest, "usage must not be negative")
		}
	}
	if end.FinishedAt.IsZero() {
		end.FinishedAt = time.Now()
	}
	id := r.PathValue("id")
	if err := s.store.FinishRun(r.Context(), id, end); err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, named{ID: id})
}

// intParam reads an optional number of a query.
func intParam(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	return strconv.Atoi(text)
}
