package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/relay/headers"
	"github.com/bir-run/bir/relay/jsonrpc"
	"github.com/bir-run/bir/relay/origin"
	"github.com/bir-run/bir/relay/sse"
)

const (
	// maxErrorBytes is the largest body of a refusal that is looked at.
	maxErrorBytes = 1 << 20
	// streamTimeout bounds the wait for the stream of a new session.
	streamTimeout = time.Second
)

var jsonType = []string{"application/json"}

// streamable is the streamable HTTP transport.
type streamable struct {
	u       *Upstream
	origin  *origin.Origin
	session *session
	backoff backoff
}

func newStreamable(u *Upstream, o *origin.Origin, cfg Config) *streamable {
	return &streamable{u: u, origin: o, session: newSession(), backoff: backoff{first: cfg.RetryDelay}}
}

// post sends one message under the terms given.
func (s *streamable) post(ctx context.Context, m message, t terms) (*http.Response, error) {
	h := s.origin.NewHeader(acceptBoth)
	h["Content-Type"] = jsonType
	switch {
	case m.version != "":
		s.u.tools.Set(h, headers.Message{Version: m.version, Method: m.method, Params: m.params})
	case m.method != methodInitialize:
		t.setOn(h)
	}
	return s.origin.Do(ctx, http.MethodPost, s.origin.URL, h, m.raw)
}

// postInSession sends one message, and once more when the session turns out to be
// forgotten: the server has not looked at it (R22).
func (s *streamable) postInSession(ctx context.Context, m message) (*http.Response, terms, error) {
	t, _ := s.session.current()
	res, err := s.post(ctx, m, t)
	if err != nil || !forgotten(res, m, t) {
		return res, t, err
	}
	origin.Discard(res)
	if err := s.session.renew(ctx, t.epoch, s.shake); err != nil {
		return nil, t, err
	}
	t, _ = s.session.current()
	res, err = s.post(ctx, m, t)
	return res, t, err
}

// forgotten says whether the answer means that the session is gone. A server that
// keeps sessions may say 404 to an unknown method too.
func forgotten(res *http.Response, m message, t terms) bool {
	if res.StatusCode != http.StatusNotFound || t.id == "" || m.version != "" || m.method == methodInitialize {
		return false
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBytes)) // cut short it is no JSON
	res.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(body), res.Body}
	return gjson.GetBytes(body, "error.code").Int() != codeMethodNotFound
}

const codeMethodNotFound = -32601

func (s *streamable) send(ctx context.Context, m message) error {
	res, t, err := s.postInSession(ctx, m)
	if err != nil {
		return err
	}
	defer origin.Discard(res)
	if res.StatusCode/100 != 2 {
		return statusFailure(res.StatusCode)
	}
	if m.method == methodInitialized && m.version == "" {
		s.session.opened(m.raw, t.epoch)
		s.awaitStream(ctx)
	}
	return nil
}

// awaitStream keeps back what follows the handshake until the server knows where to
// say what it says unasked: servers drop what they have no stream for, such as a
// question in the middle of a call, and the call would wait for its answer. Where a
// server does not answer the GET before it has something to say, the wait is bounded.
func (s *streamable) awaitStream(ctx context.Context) {
	timer := time.NewTimer(streamTimeout)
	defer timer.Stop()
	select {
	case <-s.session.listening():
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (s *streamable) request(ctx context.Context, f *flight) error {
	res, _, err := s.postInSession(ctx, f.message)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if f.method == methodInitialize && res.StatusCode/100 == 2 {
		f.session = res.Header.Get(headerSession)
	}
	return s.answer(ctx, f, res)
}

// welcomed begins a session, before the host can go on in it.
func (s *streamable) welcomed(f *flight, answer []byte) {
	if v := agreedVersion(answer); v != "" {
		s.session.begin(f.raw, f.session, v)
	}
}

// answer passes on what the server answers to a flight.
func (s *streamable) answer(ctx context.Context, f *flight, res *http.Response) error {
	switch {
	case res.StatusCode/100 != 2:
		return s.u.refusal(f, res)
	case res.StatusCode == http.StatusAccepted, res.StatusCode == http.StatusNoContent:
		origin.Discard(res)
		return failf(codeNoAnswer, "upstream took the request and gave no answer (HTTP %d)", res.StatusCode)
	case mediaType(res) == "text/event-stream":
		return s.follow(ctx, f, res)
	}
	return s.body(ctx, f, res)
}

// refusal passes on a JSON-RPC error for the request itself. Whatever else the
// server says stays unsaid (R28).
func (u *Upstream) refusal(f *flight, res *http.Response) error {
	why := statusFailure(res.StatusCode)
	if why.Code == codeSignIn || mediaType(res) == "text/event-stream" {
		return why
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBytes+1))
	if err != nil || len(body) > maxErrorBytes {
		return why
	}
	m := jsonrpc.Classify(body)
	key, ok := jsonrpc.Key(m.ID)
	if m.Kind != jsonrpc.Response || !ok || !f.owesTo(key) {
		return why
	}
	u.deliver(f, body)
	return why
}

// body passes on an answer that is one JSON text.
func (s *streamable) body(ctx context.Context, f *flight, res *http.Response) error {
	b := s.u.buffer()
	defer s.u.free(b)
	if err := b.fill(ctx, res); err != nil {
		return err
	}
	kind := mediaType(res)
	if looksJSON(b.data) && s.u.deliver(f, b.data) {
		return failf(codeNoAnswer, "upstream answered something else")
	}
	if kind == "" || kind == "application/json" {
		return failf(codeNoAnswer, "upstream's answer is no JSON-RPC message")
	}
	return failf(codeNoAnswer, "upstream answered %s instead of JSON", kind)
}

func looksJSON(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && (body[0] == '{' || body[0] == '[')
}

// mediaType is a content type without its parameters, and only if it is one.
func mediaType(res *http.Response) string {
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if strings.ContainsFunc(kind, func(c rune) bool { return c != '/' && !origin.IsToken(string(c)) }) {
		return ""
	}
	return kind
}

// shake repeats the host's handshake with the server. The host does not see it, but
// whatever else the server says meanwhile.
func (s *streamable) shake(ctx context.Context, hello, ready []byte) error {
	s.u.log.Info("session forgotten by the server; beginning another")
	res, err := s.post(ctx, parse(hello), terms{})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return statusFailure(res.StatusCode)
	}
	version, err := s.hiddenAnswer(ctx, res)
	if err != nil {
		return err
	}
	s.session.begin(hello, res.Header.Get(headerSession), version)
	if ready == nil {
		return nil
	}
	t, _ := s.session.current()
	told, err := s.post(ctx, parse(ready), t)
	if err != nil {
		return err
	}
	if origin.Discard(told); told.StatusCode/100 != 2 {
		return statusFailure(told.StatusCode)
	}
	s.session.opened(ready, t.epoch)
	return nil
}

// hiddenAnswer reads the answer to a repeated initialize.
func (s *streamable) hiddenAnswer(ctx context.Context, res *http.Response) (version string, err error) {
	if mediaType(res) == "text/event-stream" {
		err = s.u.events(ctx, res.Body, &place{}, func(e sse.Event) bool {
			if e.Type != "" || jsonrpc.Head(e.Data).Kind != jsonrpc.Response {
				s.message(nil, e)
				return false
			}
			version = agreedVersion(e.Data)
			return true
		})
	} else {
		b := s.u.buffer()
		defer s.u.free(b)
		if err = b.fill(ctx, res); err == nil {
			version = agreedVersion(b.data)
		}
	}
	if err == nil && version == "" {
		err = failf(origin.CodeRefused, "upstream refused another session")
	}
	return version, err
}
