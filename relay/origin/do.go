package origin

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"maps"
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

// NewHeader is what goes with every request of a client here, and what it accepts.
// Its values are shared: they can be replaced, not changed.
func (o *Origin) NewHeader(accept string) http.Header {
	h := maps.Clone(o.own)
	h["Accept"] = []string{accept}
	return h
}

// encoding is what an answer may be packed with. On this machine packing costs more
// than it saves.
func encoding(host string) string {
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return "identity"
	}
	return "gzip"
}

// Pass sends a request that someone else made, with the static headers over its own.
// Its answer is as the server gave it, a redirect too.
func (o *Origin) Pass(req *http.Request) (*http.Response, error) {
	for name, values := range o.header {
		req.Header[name] = values
	}
	if o.host != "" {
		req.Host = o.host
	}
	res, err := o.transport.RoundTrip(req)
	if err != nil {
		return nil, Failure(req.Context(), err)
	}
	return res, nil
}

// Do sends one request, and follows redirects that keep it whole and within the
// origin. The answer's body is unpacked.
func (o *Origin) Do(ctx context.Context, method string, to *url.URL, h http.Header, body []byte) (*http.Response, error) {
	for range maxRedirects {
		res, err := o.transport.RoundTrip(o.request(ctx, method, to, h, body))
		if err != nil {
			return nil, Failure(ctx, err)
		}
		if !isRedirect(res.StatusCode) {
			unpack(res)
			return res, nil
		}
		Discard(res)
		if to, err = o.redirected(method, to, res); err != nil {
			return nil, err
		}
	}
	return nil, Errorf(CodeRefused, "upstream redirects too often")
}

// request is made here: http.NewRequest would write the URL down and read it again.
func (o *Origin) request(ctx context.Context, method string, to *url.URL, h http.Header, body []byte) *http.Request {
	req := (&http.Request{Method: method, URL: to, Host: o.host, Header: h}).WithContext(ctx)
	if len(body) > 0 {
		SetBody(req, body)
	}
	return req
}

// SetBody gives a request a body that can be sent again, which net/http does where a
// connection turns out to be closed before anything was read from it.
func SetBody(req *http.Request, body []byte) {
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody() // which cannot fail
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
func (o *Origin) redirected(method string, from *url.URL, res *http.Response) (*url.URL, error) {
	keeps := res.StatusCode == http.StatusTemporaryRedirect || res.StatusCode == http.StatusPermanentRedirect
	if method != http.MethodGet && !keeps {
		return nil, Errorf(CodeRefused, "upstream redirects without the request (HTTP %d)", res.StatusCode)
	}
	to, err := from.Parse(res.Header.Get("Location"))
	if err != nil || res.Header.Get("Location") == "" {
		return nil, Errorf(CodeRefused, "upstream redirects to nowhere (HTTP %d)", res.StatusCode)
	}
	if !o.Same(to) {
		return nil, Errorf(CodeRefused, "upstream redirects to another origin (HTTP %d)", res.StatusCode)
	}
	to.User = nil
	return to, nil
}

// Same says whether a URL is of this origin.
func (o *Origin) Same(u *url.URL) bool {
	return u.Scheme == o.URL.Scheme && strings.EqualFold(u.Hostname(), o.URL.Hostname()) && port(u) == port(o.URL)
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

// Discard reads the rest of a short body, so that the connection can be used again.
func Discard(res *http.Response) {
	late := time.AfterFunc(discardTimeout, func() { res.Body.Close() })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, res.Body, bufferBytes) // a longer one ends the connection
	res.Body.Close()
}
