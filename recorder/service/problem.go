package service

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/bir-run/bir/engine/calc"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/store"
)

// The codes that only the service has.
const (
	CodeNothingToChange    api.Code = "nothing_to_change"
	CodeNoteRequired       api.Code = "note_required"
	CodeIDTaken            api.Code = "id_taken"
	CodeStaleRevision      api.Code = "stale_revision"
	CodeScenarioHasEdits   api.Code = "scenario_has_edits"
	CodeCheckFailed        api.Code = "check_failed"
	CodeUndoRefused        api.Code = "undo_refused"
	CodeNothingToCalculate api.Code = "nothing_to_calculate"
	CodeStoreDamaged       api.Code = "store_damaged"
	CodeSandboxUnavailable api.Code = "logic_sandbox_unavailable"
	CodeStoreFull          api.Code = "store_full"
)

// problems says how codes, and the errors of the store and the engine, appear outside.
var problems = api.Table{
	Kinds: map[api.Code]api.Kind{
		CodeNothingToChange:    {Status: http.StatusBadRequest, Title: "the step is already as asked for"},
		CodeNoteRequired:       {Status: http.StatusBadRequest, Title: "a forced change needs a note that says why"},
		CodeIDTaken:            {Status: http.StatusConflict, Title: "the id belongs to something else"},
		CodeStaleRevision:      {Status: http.StatusConflict, Title: "the scenario was changed meanwhile"},
		CodeScenarioHasEdits:   {Status: http.StatusConflict, Title: "the scenario has changes made by hand"},
		CodeCheckFailed:        {Status: http.StatusUnprocessableEntity, Title: "the check refused the change"},
		CodeUndoRefused:        {Status: http.StatusUnprocessableEntity, Title: "the edit cannot be undone"},
		CodeNothingToCalculate: {Status: http.StatusUnprocessableEntity, Title: "the recording has nothing to calculate from"},
		api.Internal:           {Status: http.StatusInternalServerError, Title: "the service failed"},
		CodeStoreDamaged:       {Status: http.StatusInternalServerError, Title: "the database is damaged"},
		CodeSandboxUnavailable: {Status: http.StatusServiceUnavailable, Title: "no evaluator can be used; nothing was checked or saved"},
		CodeStoreFull:          {Status: http.StatusInsufficientStorage, Title: "the database has no space left"},
	},
	Causes: []api.Cause{
		{Err: store.ErrNotFound, Code: api.NotFound},
		{Err: store.ErrExists, Code: CodeIDTaken},
		{Err: store.ErrStale, Code: CodeStaleRevision, Detail: "read the scenario again and make the change on its new revision"},
		{Err: store.ErrCursor, Code: api.BadRequest, Detail: "the cursor did not come from this list"},
		{Err: calc.ErrNoCalls, Code: CodeNothingToCalculate, Detail: calc.ErrNoCalls.Error()},
		{Err: store.ErrFull, Code: CodeStoreFull, Detail: "free some disk space; nothing was written"},
		{Err: store.ErrDamaged, Code: CodeStoreDamaged, Detail: "see the service's log"},
	},
}

// refuseWith refuses because of what a check found.
func refuseWith(code api.Code, report *CheckReport) error {
	return &api.Refusal{Code: code, Detail: strings.Join(report.Problems, "; "), Report: report}
}

// refusalOf finds what to tell about err.
func refusalOf(err error) api.Refusal {
	told := problems.Refusal(err)
	if told.Code == api.Internal && sandboxUnavailable(err) {
		return api.Refusal{Code: CodeSandboxUnavailable, Detail: err.Error()}
	}
	return told
}

// writeProblem answers with err and logs what the caller cannot mend.
func (s *server) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	told := refusalOf(err)
	if told.Detail == "" && told.Code == api.NotFound {
		told.Detail = notThere(r)
	}
	p := problems.Problem(told)
	if p.Status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		s.log.LogAttrs(r.Context(), slog.LevelError, "request failed",
			slog.String("method", r.Method), slog.String("route", r.Pattern),
			slog.String("code", string(p.Code)), slog.Any("error", err))
	}
	p.Write(w)
}

// notThere names what a request asked for and the store has not: the id in its
// path, and for a run's scenario that there may be none yet.
func notThere(r *http.Request) string {
	id := r.PathValue("id")
	switch {
	case id == "":
		return r.URL.Path
	case strings.HasSuffix(r.URL.Path, "/scenario"):
		return "no scenario of " + id + " (bir scenario calc makes one of a recorded run)"
	case strings.HasPrefix(r.URL.Path, "/scenarios/"):
		return "no scenario " + id
	}
	return "no run " + id
}
