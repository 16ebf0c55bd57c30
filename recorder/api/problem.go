package api

import (
	"errors"
	"fmt"
	"net/http"
)

// Code names what went wrong for a program. It never changes; the words may.
type Code string

// The codes that every server has.
const (
	BadRequest       Code = "bad_request"
	MalformedJSON    Code = "malformed_json"
	Unauthorized     Code = "unauthorized"
	HostNotAllowed   Code = "host_not_allowed"
	OriginNotAllowed Code = "origin_not_allowed"
	NotFound         Code = "not_found"
	MethodNotAllowed Code = "method_not_allowed"
	PayloadTooLarge  Code = "payload_too_large"
	Internal         Code = "internal"
)

// Kind is how a code appears in HTTP.
type Kind struct {
	Status int
	Title  string
}

var common = map[Code]Kind{
	BadRequest:       {http.StatusBadRequest, "the request is not valid"},
	MalformedJSON:    {http.StatusBadRequest, "the body is not the JSON that is expected"},
	Unauthorized:     {http.StatusUnauthorized, "the bearer token is missing or wrong"},
	HostNotAllowed:   {http.StatusForbidden, "the Host header does not name this server"},
	OriginNotAllowed: {http.StatusForbidden, "web pages may not call this server"},
	NotFound:         {http.StatusNotFound, "not found"},
	MethodNotAllowed: {http.StatusMethodNotAllowed, "the route does not take this method"},
	PayloadTooLarge:  {http.StatusRequestEntityTooLarge, "the body is too large"},
	Internal:         {http.StatusInternalServerError, "the server failed"},
}

// Cause says how an error appears outside.
type Cause struct {
	Err    error
	Code   Code
	Detail string // in place of the error's own words, which may name files
}

// Table is what one server adds to the common codes, or says in words of its own.
type Table struct {
	Kinds  map[Code]Kind
	Causes []Cause
}

// Refusal is an error that a caller is told.
type Refusal struct {
	Code   Code
	Detail string
	Report any // what was checked, where that is the reason
}

func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Detail }

// Refuse makes a Refusal.
func Refuse(code Code, detail string) error { return &Refusal{Code: code, Detail: detail} }

// Refusal finds what to tell about err. What is none of the caller's business becomes
// Internal, without a detail.
func (t Table) Refusal(err error) Refusal {
	var known *Refusal
	if errors.As(err, &known) {
		return *known
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return Refusal{Code: PayloadTooLarge, Detail: fmt.Sprintf("the limit is %d MiB", tooLarge.Limit>>20)}
	}
	for _, c := range t.Causes {
		if errors.Is(err, c.Err) {
			return Refusal{Code: c.Code, Detail: c.Detail}
		}
	}
	return Refusal{Code: Internal}
}

// Problem is a problem document.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Code   Code   `json:"code"`
	Report any    `json:"report,omitempty"`
	Body   []byte `json:"-"` // as it came, for who was told it
}

func (p *Problem) Error() string {
	if p.Detail == "" {
		return p.Title
	}
	return p.Title + ": " + p.Detail
}

// Problem is the document of a refusal.
func (t Table) Problem(r Refusal) Problem {
	kind, own := t.Kinds[r.Code]
	if !own {
		kind = common[r.Code]
	}
	return Problem{
		Type: "urn:bir:problem:" + string(r.Code), Title: kind.Title, Status: kind.Status,
		Detail: r.Detail, Code: r.Code, Report: r.Report,
	}
}

// Write answers with the document.
func (p *Problem) Write(w http.ResponseWriter) {
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="bir"`)
	}
	_ = write(w, "application/problem+json", p.Status, p) // it is strings, and a report that was read as JSON before
}
