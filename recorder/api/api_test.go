package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errGone = errors.New("/secret/file: gone")

var table = Table{
	Kinds:  map[Code]Kind{"gone": {http.StatusGone, "it is gone"}, Internal: {http.StatusInternalServerError, "the test failed"}},
	Causes: []Cause{{errGone, "gone", "look elsewhere"}},
}

func TestACallerIsToldWhatTheTableNamesAndNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want Problem
	}{
		"a refusal": {fmt.Errorf("read: %w", Refuse(NotFound, "no run")),
			Problem{Type: "urn:bir:problem:not_found", Title: "not found", Status: 404, Detail: "no run", Code: NotFound}},
		"a cause": {fmt.Errorf("read: %w", errGone),
			Problem{Type: "urn:bir:problem:gone", Title: "it is gone", Status: 410, Detail: "look elsewhere", Code: "gone"}},
		"too large": {&http.MaxBytesError{Limit: MaxBodyBytes},
			Problem{Type: "urn:bir:problem:payload_too_large", Title: "the body is too large", Status: 413, Detail: "the limit is 16 MiB", Code: PayloadTooLarge}},
		"another fault": {errors.New("password hunter2"),
			Problem{Type: "urn:bir:problem:internal", Title: "the test failed", Status: 500, Code: Internal}},
		"what another server told": {&Problem{Title: "hunter2", Status: 404, Code: NotFound},
			Problem{Type: "urn:bir:problem:internal", Title: "the test failed", Status: 500, Code: Internal}},
	} {
		if diff := cmp.Diff(c.want, table.Problem(table.Refusal(c.err))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestEveryCommonCodeHasAKind(t *testing.T) {
	for _, code := range []Code{BadRequest, MalformedJSON, Unauthorized, HostNotAllowed, OriginNotAllowed, NotFound, MethodNotAllowed, PayloadTooLarge, Internal} {
		if p := (Table{}).Problem(Refusal{Code: code}); p.Status < 400 || p.Title == "" {
			t.Errorf("%s: %+v", code, p)
		}
	}
}

// serve answers one server's requests; the error of handle is told as a problem.
func serve(t *testing.T, handle func(http.ResponseWriter, *http.Request) error) *Server {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Bound(w, r)
		if err := handle(w, r); err != nil {
			p := table.Problem(table.Refusal(err))
			p.Write(w)
		}
	}))
	t.Cleanup(web.Close)
	return &Server{Name: "the test", Base: web.URL, Token: "secret", HTTP: web.Client(), MaxAnswerBytes: 1 << 10}
}

type thing struct {
	Text string `json:"text"`
	N    int    `json:"n"`
}

// stream is a body that counts how often it is opened and closed.
type stream struct {
	text           string
	opened, closed *int
}

func (s stream) Size() int64 { return int64(len(s.text)) }
func (s stream) Open() io.ReadCloser {
	*s.opened++
	return closing{strings.NewReader(s.text), s.closed}
}

type closing struct {
	io.Reader
	closed *int
}

func (c closing) Close() error { *c.closed++; return nil }

func TestWhatIsAskedIsAnswered(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) error {
		var in thing
		if err := ReadJSON(r, &in); err != nil {
			return err
		}
		if r.Header.Get("Authorization") != "Bearer secret" || r.ContentLength < 0 {
			t.Errorf("header %v, length %d", r.Header, r.ContentLength)
		}
		in.N++
		return WriteJSON(w, http.StatusCreated, in)
	})
	opened, closed := 0, 0
	for name, body := range map[string]any{
		"value":   thing{Text: "<a&b>", N: 1},
		"encoded": Encoded(`{"text":"<a&b>","n":1}`),
		"stream":  stream{`{"text":"<a&b>","n":1}`, &opened, &closed},
	} {
		var out thing
		if err := s.Ask(t.Context(), http.MethodPost, "/", body, &out); err != nil || out != (thing{"<a&b>", 2}) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	if opened != 1 || closed == 0 {
		t.Errorf("the stream was opened %d times, and closed %d", opened, closed)
	}
	var out thing
	if err := s.Ask(t.Context(), http.MethodPost, "/", nil, &out); err != nil || out.N != 1 {
		t.Errorf("no body: %+v, %v", out, err)
	}
}

func TestAnAnswerIsTheTextAsItIs(t *testing.T) {
	w := httptest.NewRecorder()
	if err := WriteJSON(w, http.StatusOK, thing{Text: "<a&b>"}); err != nil {
		t.Fatal(err)
	}
	if got := w.Body.String(); got != `{"text":"<a&b>","n":0}` || w.Header().Get("Content-Length") != fmt.Sprint(len(got)) ||
		w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%q, %v", got, w.Header())
	}
	w = httptest.NewRecorder()
	if err := WriteJSON(w, http.StatusOK, json.RawMessage("{")); err == nil || w.Body.Len() > 0 {
		t.Errorf("half an answer: %q, %v", w.Body, err)
	}
}

func TestWhatIsWrongWithABodyIsTold(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) error { return ReadJSON(r, new(thing)) })
	for body, want := range map[string]Problem{
		"{\n\"n\": x}": {Status: 400, Code: MalformedJSON, Detail: "line 2, column 6: invalid character 'x' looking for beginning of value"},
		`{"n":"one"}`:  {Status: 400, Code: MalformedJSON, Detail: `line 1, column 10: "n": got string, want number`},
		`[]`:           {Status: 400, Code: MalformedJSON, Detail: "line 1, column 1: the body: got array, want object"},
		`"` + strings.Repeat("x", MaxBodyBytes) + `"`: {Status: 413, Code: PayloadTooLarge, Detail: "the limit is 16 MiB"},
	} {
		var p *Problem
		err := s.Ask(t.Context(), http.MethodPost, "/", Encoded(body), nil)
		if !errors.As(err, &p) || p.Status != want.Status || p.Code != want.Code || p.Detail != want.Detail || p.Error() != p.Title+": "+p.Detail {
			t.Errorf("%.30s: %v", body, err)
		}
	}
}

func TestEachFailureToAnswerIsToldApart(t *testing.T) {
	write := func(status int, text string) func(http.ResponseWriter, *http.Request) error {
		return func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(status)
			_, err := io.WriteString(w, text)
			return err
		}
	}
	cut := func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Length", "9")
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	var unanswered *NoAnswerError
	var p *Problem
	for name, c := range map[string]struct {
		handle func(http.ResponseWriter, *http.Request) error
		as     any
		want   string
	}{
		"cut":            {cut, &unanswered, "no answer: read the test's answer: unexpected EOF"},
		"no document":    {write(404, "<html>"), &p, "the test answered 404 Not Found"},
		"no title":       {write(404, `{"status":1,"code":"c"}`), &p, "the test answered 404 Not Found"},
		"an empty error": {write(500, ""), &p, "the test answered 500 Internal Server Error"},
		"too large":      {write(200, strings.Repeat(" ", 1<<10+1)), nil, "the test's answer is too large"},
		"no JSON":        {write(200, "<html>"), nil, "read the test's answer: invalid character '<' looking for beginning of value"},
	} {
		err := serve(t, c.handle).Ask(t.Context(), http.MethodGet, "/", nil, new(thing))
		if err == nil || err.Error() != c.want || c.as != nil && !errors.As(err, c.as) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p.Status == 1 {
		t.Error("the status is the document's, not the answer's")
	}
}
