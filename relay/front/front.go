// Package front stands as an HTTP server in front of a streamable HTTP server. It
// passes status, headers and streams on as they are, and hands a decoded copy of the
// tool calls to a relay, which records them. It must never change a message, wait for
// the record, or answer a browser that a page of another site has sent here.
//
// Why not httputil.ReverseProxy? With a request body that is streamed it cuts answers
// short that begin before the body's end (golang/go#40747). A body is read whole
// here; the record wants it whole anyway.
//
// Why a relay that relays nothing? What is a call, what ends it and what goes into
// the record is decided there, once.
package front

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bir-run/bir/relay"
	"github.com/bir-run/bir/relay/budget"
	"github.com/bir-run/bir/relay/jsonrpc"
	"github.com/bir-run/bir/relay/origin"
	"github.com/bir-run/bir/relay/web"
)

const (
	defaultMaxMessageBytes = 128 << 20
	headerTimeout          = 10 * time.Second
	// drainTimeout bounds the wait for open requests at the end.
	drainTimeout = 5 * time.Second
	chunkBytes   = 32 << 10
)

// Config says what to stand in front of.
type Config struct {
	Server web.Config // its Transport does not matter
	Name   string     // the server's name in the record
	Record relay.Record
	Log    *slog.Logger // nil discards
}

// Front is the HTTP server.
type Front struct {
	cfg    Config
	log    *slog.Logger
	origin *origin.Origin
	limit  int // of a request's body
	memory *budget.Budget
	tap    *tap          // nil records nothing
	ending chan struct{} // closed when the end begins
}

// New makes a front; Serve starts it.
func New(cfg Config) (*Front, error) {
	o, err := cfg.Server.Origin()
	if err != nil {
		return nil, err
	}
	f := &Front{cfg: cfg, log: cfg.Log, origin: o, limit: cfg.Server.MaxMessageBytes, memory: budget.New(budget.DefaultBytes), ending: make(chan struct{})}
	if f.log == nil {
		f.log = slog.New(slog.DiscardHandler)
	}
	if f.limit <= 0 {
		f.limit = defaultMaxMessageBytes
	}
	if cfg.Record.Recorder != nil {
		f.tap = newTap(cfg.Name, cfg.Record, f.log)
	}
	return f, nil
}

// Serve answers what comes to l, which should listen on loopback, until ctx ends. It
// is called once.
func (f *Front) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           f,
		ReadHeaderTimeout: headerTimeout, // and no bound on what follows: streams are long
		ErrorLog:          slog.NewLogLogger(f.log.Handler(), slog.LevelDebug),
	}
	tapped := f.tap.start(ctx)
	ctx, cancel := context.WithCancel(ctx)
	closed := make(chan struct{})
	// Ends with ctx.
	go func() {
		defer close(closed)
		<-ctx.Done()
		close(f.ending)
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		if server.Shutdown(late) != nil {
			server.Close()
		}
	}()
	err := server.Serve(l)
	cancel()
	<-closed
	f.origin.Close()
	f.tap.stop()
	<-tapped
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ServeHTTP passes one request on, and its answer back.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !fromHere(r) {
		http.Error(w, "forbidden: this server answers programs on this machine only", http.StatusForbidden)
		return
	}
	if r.Method == http.MethodGet {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		// Ends with ctx. A stream that was asked for by GET has no end of its own.
		go func() {
			select {
			case <-f.ending:
				cancel()
			case <-ctx.Done():
			}
		}()
		r = r.WithContext(ctx)
	}
	lease := budget.Lease{Of: f.memory}
	defer lease.End()
	body, status := f.body(r, &lease)
	if status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	seen := f.tap.begin(r, body)
	defer seen.end()
	res, err := f.origin.Pass(f.request(r, body, seen != nil))
	if err != nil {
		seen.fail()
		f.unreachable(w, r, body, err)
		return
	}
	defer res.Body.Close()
	f.answer(w, res, seen)
}

// fromHere keeps out what a browser sends on behalf of a page elsewhere: such a
// request has another Origin, or, where the page's name was bound to this address,
// another Host.
func fromHere(r *http.Request) bool {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if !isLoopback(strings.Trim(host, "[]")) {
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || !isLoopback(u.Hostname()) {
			return false
		}
	}
	return true
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// body reads the request's body whole. The status is what to answer instead, or 0.
func (f *Front) body(r *http.Request, lease *budget.Lease) (body []byte, status int) {
	if r.ContentLength > int64(f.limit) {
		return nil, http.StatusRequestEntityTooLarge
	}
	size := chunkBytes
	if r.ContentLength >= 0 {
		size = int(r.ContentLength) + 1 // with room to see the end
	}
	for {
		if lease.Grow(r.Context(), size) != nil {
			return nil, http.StatusServiceUnavailable // nobody reads it
		}
		grown := make([]byte, len(body), size)
		copy(grown, body)
		n, err := io.ReadFull(r.Body, grown[len(body):size])
		body = grown[:len(body)+n]
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return body, 0
		case err != nil:
			return nil, http.StatusBadRequest
		case len(body) > f.limit:
			return nil, http.StatusRequestEntityTooLarge
		}
		size = min(2*size, f.limit+1)
	}
}

// hopHeaders are about one connection and end with it.
var hopHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

func endToEnd(h http.Header) http.Header {
	h = h.Clone()
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopHeaders {
		h.Del(name)
	}
	return h
}

// request is what goes to the server: the same, to its address.
func (f *Front) request(r *http.Request, body []byte, recorded bool) *http.Request {
	to := *f.origin.URL
	if r.URL.Path != "/" {
		to.Path, to.RawPath = r.URL.Path, r.URL.RawPath
	}
	if to.RawQuery == "" || r.URL.RawQuery != "" {
		to.RawQuery = r.URL.RawQuery
	}
	out := (&http.Request{Method: r.Method, URL: &to}).WithContext(r.Context())
	out.Header = endToEnd(r.Header)
	if _, said := out.Header["User-Agent"]; !said {
		out.Header.Set("User-Agent", "") // net/http would name itself
	}
	if recorded {
		onlyReadable(out.Header)
	}
	if len(body) > 0 {
		origin.SetBody(out, body)
	}
	return out
}

// unreachable answers for a server that did not.
func (f *Front) unreachable(w http.ResponseWriter, r *http.Request, body []byte, err error) {
	f.log.Warn("server not reached", "error", err)
	m := jsonrpc.Head(body)
	if m.Kind != jsonrpc.Request {
		http.Error(w, http.StatusText(http.StatusBadGateway), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = w.Write(errorBody(m.ID, err)) // the client may be gone
}

func errorBody(id []byte, err error) []byte {
	why := &origin.Error{Code: origin.CodeLost, Text: "upstream connection lost"}
	errors.As(err, &why)
	text, _ := json.Marshal(why.Text) // a string always encodes
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, why.Code, text)
}

// answer passes on the server's answer, piece by piece as it comes.
func (f *Front) answer(w http.ResponseWriter, res *http.Response, seen *exchange) {
	h := w.Header()
	for name, values := range endToEnd(res.Header) {
		h[name] = values
	}
	if _, said := h["Content-Type"]; !said {
		h["Content-Type"] = nil // net/http would guess one
	}
	w.WriteHeader(res.StatusCode)
	seen.headers(res)
	flusher := http.NewResponseController(w)
	streamed := res.ContentLength < 0
	if streamed {
		_ = flusher.Flush() // a client that is gone is noticed by the writes
	}
	buf := make([]byte, chunkBytes)
	for {
		n, err := res.Body.Read(buf)
		if n > 0 {
			if _, broken := w.Write(buf[:n]); broken != nil {
				return
			}
			if streamed {
				_ = flusher.Flush()
			}
			seen.take(buf[:n])
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			f.log.Debug("answer cut short", "error", err)
			panic(http.ErrAbortHandler) // so that the client sees the cut too
		}
	}
	for name, values := range res.Trailer {
		h[http.TrailerPrefix+name] = values
	}
	_ = flusher.Flush() // the client is not to wait for the record
}
