package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	maxRedirects = 5
	// discardTimeout bounds the wait for a body that nobody needs.
	discardTimeout = time.Second
)

// wire sends requests to one origin.
type wire struct{ *Origin }

func newWire(cfg Config, u *url.URL) *wire {
	o := newOrigin(cfg, u)
	if o.Header.Get("User-Agent") == "" {
		o.Header.Set("User-Agent", userAgent)
	}
	o.Header.Set("Accept-Encoding", encoding(u.Hostname()))
	return &wire{o}
}

// encoding is what an answer may be packed with. On this machine packing costs more
// than it saves.
func encoding(host string) string {
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return "identity"
	}
	return "gzip"
}

func (w *wire) close() { w.Transport.CloseIdleConnections() }

// newHeader is a copy of the static headers.
func (w *wire) newHeader(accept string) http.Header {
	h := w.Header.Clone()
	h.Set("Accept", accept)
	return h
}

const (
	acceptBoth   = "application/json, text/event-stream"
	acceptStream = "text/event-stream"
)

// do sends one request, and follows redirects that keep it whole and within the
// origin (R19, R28). The answer's body is unpacked.
func (w *wire) do(ctx context.Context, method string, to *url.URL, h http.Header, body []byte) (*http.Response, error) {
	for range maxRedirects {
		req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
		if err != nil {
			return nil, failf(codeUnreachable, "upstream unreachable: %v", err)
		}
		if req.Header = h; body == nil {
			req.Body, req.GetBody = nil, nil
		}
		if w.Host != "" {
			req.Host = w.Host
		}
		res, err := w.Transport.RoundTrip(req)
		if err != nil {
			return nil, connectionFailure(ctx, err)
		}
		if !isRedirect(res.StatusCode) {
			unpack(res)
			return res, nil
		}
		discard(res)
		if to, err = w.redirected(method, to, res); err != nil {
			return nil, err
		}
	}
	return nil, failf(codeRefused, "upstream redirects too often")
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirected is where to go. 301 to 303 turn a POST into a GET, which loses the
// message. Another origin gets neither it nor the headers; that covers https to http.
func (w *wire) redirected(method string, from *url.URL, res *http.Response) (*url.URL, error) {
	keeps := res.StatusCode == http.StatusTemporaryRedirect || res.StatusCode == http.StatusPermanentRedirect
	if method != http.MethodGet && !keeps {
		return nil, failf(codeRefused, "upstream redirects without the request (HTTP %d)", res.StatusCode)
	}
	to, err := from.Parse(res.Header.Get("Location"))
	if err != nil || res.Header.Get("Location") == "" {
		return nil, failf(codeRefused, "upstream redirects to nowhere (HTTP %d)", res.StatusCode)
	}
	if !sameOrigin(to, w.URL) {
		return nil, failf(codeRefused, "upstream redirects to another origin (HTTP %d)", res.StatusCode)
	}
	to.User = nil
	return to, nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// unpack undoes gzip, from the first read on.
func unpack(res *http.Response) {
	if strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip") {
		res.Body = &gzipBody{packed: res.Body}
		res.ContentLength = -1
	}
}

// gzipBody begins to read when it is read, since a stream may be silent at first.
type gzipBody struct {
	packed io.ReadCloser
	plain  *gzip.Reader
	err    error
}

func (g *gzipBody) Read(b []byte) (int, error) {
	if g.plain == nil && g.err == nil {
		g.plain, g.err = gzip.NewReader(g.packed)
	}
	if g.err != nil {
		return 0, g.err
	}
	return g.plain.Read(b)
}

func (g *gzipBody) Close() error { return g.packed.Close() }

// discard reads the rest of a short body, so that the connection can be used again.
func discard(res *http.Response) {
	late := time.AfterFunc(discardTimeout, func() { res.Body.Close() })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, res.Body, bufferBytes) // a longer one ends the connection
	res.Body.Close()
}
