package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
)

// Code names what is wrong in a way that does not change.
type Code string

// The codes of problem documents.
const (
	CodeBadRequest       Code = "bad_request"
	CodeMalformedJSON    Code = "malformed_json"
	CodeUnauthorized     Code = "unauthorized"
	CodeHostNotAllowed   Code = "host_not_allowed"
	CodeOriginNotAllowed Code = "origin_not_allowed"
	CodeNotFound         Code = "not_found"
	CodeUnknownProxy     Code = "unknown_proxy"
	CodeMethodNotAllowed Code = "method_not_allowed"
	CodePayloadTooLarge  Code = "payload_too_large"
	CodeNoProxy          Code = "no_proxy"
	CodeAmbiguousProxy   Code = "ambiguous_proxy"
	CodeNoAnswer         Code = "no_answer"
	CodeEnding           Code = "ending"
	CodeInternal         Code = "internal"
)

var problems = map[Code]struct {
	status int
	title  string
}{
	CodeBadRequest:       {http.StatusBadRequest, "the request is not valid"},
	CodeMalformedJSON:    {http.StatusBadRequest, "the body is not the JSON that is expected"},
	CodeUnauthorized:     {http.StatusUnauthorized, "the bearer token is missing or wrong"},
	CodeHostNotAllowed:   {http.StatusForbidden, "the Host header does not name this server"},
	CodeOriginNotAllowed: {http.StatusForbidden, "web pages may not call the control server"},
	CodeNotFound:         {http.StatusNotFound, "not found"},
	CodeUnknownProxy:     {http.StatusNotFound, "the proxy has not registered here"},
	CodeMethodNotAllowed: {http.StatusMethodNotAllowed, "the route does not take this method"},
	CodePayloadTooLarge:  {http.StatusRequestEntityTooLarge, "the body is too large"},
	CodeNoProxy:          {http.StatusConflict, "no proxy takes calls for this server; nothing was sent"},
	CodeAmbiguousProxy:   {http.StatusConflict, "several proxies take calls for this server; nothing was sent"},
	CodeNoAnswer:         {http.StatusGatewayTimeout, "the call was handed out and did not answer in time; it may have run"},
	CodeEnding:           {http.StatusServiceUnavailable, "the control server is ending"},
	CodeInternal:         {http.StatusInternalServerError, "the control server failed"},
}

// causes says how errors appear outside.
var causes = []struct {
	err  error
	code Code
}{
	{ErrUnknownProxy, CodeUnknownProxy},
	{ErrNoProxy, CodeNoProxy},
	{ErrAmbiguousProxy, CodeAmbiguousProxy},
	{ErrNoAnswer, CodeNoAnswer},
	{ErrEnding, CodeEnding},
}

// problem is an error that a caller is told.
type problem struct {
	Code   Code
	Detail string
}

func (p *problem) Error() string { return string(p.Code) + ": " + p.Detail }

func refuse(code Code, detail string) error { return &problem{Code: code, Detail: detail} }

// problemDocument is the wire form (RFC 9457).
type problemDocument struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	Code   Code   `json:"code"`
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
		return &problem{Code: CodePayloadTooLarge, Detail: fmt.Sprintf("the limit is %d MiB", maxBodyBytes>>20)}
	}
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return &problem{Code: c.code}
		}
	}
	return &problem{Code: CodeInternal}
}

// writeProblem answers with err and logs what the caller cannot mend.
func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	known := problems[p.Code]
	if p.Code == CodeInternal && !errors.Is(err, context.Canceled) {
		s.log.LogAttrs(r.Context(), slog.LevelError, "control.request_failed", slog.String("path", r.URL.Path), slog.Any("error", err))
	}
	if known.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="bir"`)
	}
	document := problemDocument{"urn:bir:problem:" + string(p.Code), known.title, known.status, p.Detail, p.Code}
	_ = writeJSONAs(w, "application/problem+json", known.status, document)
}

// readJSON reads the whole body into v. Fields that v does not have are ignored: a
// newer client may know more.
func readJSON(r *http.Request, v any) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	err = json.Unmarshal(body, v)
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return refuse(CodeMalformedJSON, strconv.Quote(wrongType.Field)+": got "+wrongType.Value)
	}
	if err != nil {
		return refuse(CodeMalformedJSON, err.Error())
	}
	return nil
}

func readBody(r *http.Request) ([]byte, error) {
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(min(r.ContentLength, maxBodyBytes)) + bytes.MinRead)
	}
	_, err := b.ReadFrom(r.Body)
	var tooLarge *http.MaxBytesError
	if err != nil && !errors.As(err, &tooLarge) {
		return nil, refuse(CodeBadRequest, "the body could not be read to its end")
	}
	return b.Bytes(), err
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	return writeJSONAs(w, "application/json", status, v)
}

func writeJSONAs(w http.ResponseWriter, contentType string, status int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	writeText(w, contentType, status, text)
	return nil
}

// writeText answers with a body of known length, which a client that speaks HTTP by
// hand need not put together from chunks.
func writeText(w http.ResponseWriter, contentType string, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Cache-Control", "no-store") // runs are private
	w.WriteHeader(status)
	_, _ = w.Write(text) // a caller that went away is told nothing
}
