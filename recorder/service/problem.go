package service

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/bir-run/bir/engine/calc"
	"github.com/bir-run/bir/recorder/store"
)

// Code names what went wrong for a program. It never changes; the words may.
type Code string

// The codes of the API.
const (
	CodeBadRequest         Code = "bad_request"
	CodeMalformedJSON      Code = "malformed_json"
	CodeNothingToChange    Code = "nothing_to_change"
	CodeNoteRequired       Code = "note_required"
	CodeUnauthorized       Code = "unauthorized"
	CodeHostNotAllowed     Code = "host_not_allowed"
	CodeOriginNotAllowed   Code = "origin_not_allowed"
	CodeNotFound           Code = "not_found"
	CodeMethodNotAllowed   Code = "method_not_allowed"
	CodeIDTaken            Code = "id_taken"
	CodeStaleRevision      Code = "stale_revision"
	CodeScenarioHasEdits   Code = "scenario_has_edits"
	CodePayloadTooLarge    Code = "payload_too_large"
	CodeCheckFailed        Code = "check_failed"
	CodeUndoRefused        Code = "undo_refused"
	CodeNothingToCalculate Code = "nothing_to_calculate"
	CodeInternal           Code = "internal"
	CodeStoreDamaged       Code = "store_damaged"
	CodeSandboxUnavailable Code = "logic_sandbox_unavailable"
	CodeStoreFull          Code = "store_full"
)

// problems is the one table from codes to HTTP.
var problems = map[Code]struct {
	status int
	title  string
}{
	CodeBadRequest:         {http.StatusBadRequest, "the request is not valid"},
	CodeMalformedJSON:      {http.StatusBadRequest, "the body is not the JSON that is expected"},
	CodeNothingToChange:    {http.StatusBadRequest, "the step is already as asked for"},
	CodeNoteRequired:       {http.StatusBadRequest, "a forced change needs a note that says why"},
	CodeUnauthorized:       {http.StatusUnauthorized, "the bearer token is missing or wrong"},
	CodeHostNotAllowed:     {http.StatusForbidden, "the Host header does not name this machine"},
	CodeOriginNotAllowed:   {http.StatusForbidden, "web pages may not call this service"},
	CodeNotFound:           {http.StatusNotFound, "not found"},
	CodeMethodNotAllowed:   {http.StatusMethodNotAllowed, "the route does not take this method"},
	CodeIDTaken:            {http.StatusConflict, "the id belongs to something else"},
	CodeStaleRevision:      {http.StatusConflict, "the scenario was changed meanwhile"},
	CodeScenarioHasEdits:   {http.StatusConflict, "the scenario has changes made by hand"},
	CodePayloadTooLarge:    {http.StatusRequestEntityTooLarge, "the body is too large"},
	CodeCheckFailed:        {http.StatusUnprocessableEntity, "the check refused the change"},
	CodeUndoRefused:        {http.StatusUnprocessableEntity, "the edit cannot be undone"},
	CodeNothingToCalculate: {http.StatusUnprocessableEntity, "the recording has nothing to calculate from"},
	CodeInternal:           {http.StatusInternalServerError, "the service failed"},
	CodeStoreDamaged:       {http.StatusInternalServerError, "the database is damaged"},
	CodeSandboxUnavailable: {http.StatusServiceUnavailable, "no evaluator can be used; nothing was checked or saved"},
	CodeStoreFull:          {http.StatusInsufficientStorage, "the database has no space left"},
}

// causes says how the errors of the store and the engine appear outside.
var causes = []struct {
	err    error
	code   Code
	detail string // in place of the error's own words, which may name files
}{
	{store.ErrNotFound, CodeNotFound, ""},
	{store.ErrExists, CodeIDTaken, ""},
	{store.ErrStale, CodeStaleRevision, "read the scenario again and make the change on its new revision"},
	{store.ErrCursor, CodeBadRequest, "the cursor did not come from this list"},
	{calc.ErrNoCalls, CodeNothingToCalculate, calc.ErrNoCalls.Error()},
	{store.ErrFull, CodeStoreFull, "free some disk space; nothing was written"},
	{store.ErrDamaged, CodeStoreDamaged, "see the service's log"},
}

// problem is an error that a caller is told, as an RFC 9457 document.
type problem struct {
	Code   Code
	Detail string
	Report *CheckReport // what was checked, where that is the reason
}

func (p *problem) Error() string { return string(p.Code) + ": " + p.Detail }

func refuse(code Code, detail string) error { return &problem{Code: code, Detail: detail} }

// refuseWith refuses because of what a check found.
func refuseWith(code Code, report *CheckReport) error {
	return &problem{Code: code, Detail: strings.Join(report.Problems, "; "), Report: report}
}

// problemDocument is the wire form.
type problemDocument struct {
	Type   string       `json:"type"`
	Title  string       `json:"title"`
	Status int          `json:"status"`
	Detail string       `json:"detail,omitempty"`
	Code   Code         `json:"code"`
	Report *CheckReport `json:"report,omitempty"`
}

// problemOf finds what to tell about err. What is none of the caller's business
// becomes CodeInternal, without a detail.
func problemOf(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &problem{Code: CodePayloadTooLarge, Detail: "the limit is 16 MiB"}
	}
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return &problem{Code: c.code, Detail: c.detail}
		}
	}
	if sandboxUnavailable(err) {
		return &problem{Code: CodeSandboxUnavailable, Detail: err.Error()}
	}
	return &problem{Code: CodeInternal}
}

// writeProblem answers with err and logs what the caller cannot mend.
func (s *server) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	known := problems[p.Code]
	detail := p.Detail
	if detail == "" && p.Code == CodeNotFound {
		detail = notThere(r)
	}
	if known.status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		s.log.LogAttrs(r.Context(), slog.LevelError, "request failed",
			slog.String("method", r.Method), slog.String("route", r.Pattern),
			slog.String("code", string(p.Code)), slog.Any("error", err))
	}
	if known.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="bir"`)
	}
	writeJSONAs(w, "application/problem+json", known.status, problemDocument{
		Type:   "urn:bir:problem:" + string(p.Code),
		Title:  known.title,
		Status: known.status,
		Detail: detail,
		Code:   p.Code,
		Report: p.Report,
	})
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
