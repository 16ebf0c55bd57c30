package web

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/bir-run/bir/relay/origin"
)

// Transport is one of the HTTP transports.
type Transport string

// The transports. The zero value is HTTP.
const (
	HTTP Transport = "http" // streamable HTTP
	SSE  Transport = "sse"  // the legacy transport of 2024-11-05
)

const (
	defaultConnectTimeout  = 10 * time.Second
	defaultMaxMessageBytes = 128 << 20
	defaultRetryDelay      = time.Second
)

// Config says which server to reach. URL is needed.
type Config struct {
	URL       string
	Transport Transport
	// Header goes with every request to the URL's origin, and nowhere else.
	Header          map[string]string
	ConnectTimeout  time.Duration // 0 means 10 s; nothing after connecting is bounded
	MaxMessageBytes int           // 0 means 128 MiB
	RetryDelay      time.Duration // before a stream is opened again that names no delay; 0 means 1 s
	// Proxy finds the proxy of a request; nil asks the environment.
	Proxy func(*http.Request) (*url.URL, error)
	TLS   *tls.Config  // nil means the system's
	Log   *slog.Logger // nil discards
}

// withDefaults fills in what is not said.
func (c Config) withDefaults() (Config, error) {
	if c.Transport == "" {
		c.Transport = HTTP
	}
	if c.Transport != HTTP && c.Transport != SSE {
		return c, fmt.Errorf("transport %q: want http or sse", c.Transport)
	}
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = defaultConnectTimeout
	}
	if c.MaxMessageBytes <= 0 {
		c.MaxMessageBytes = defaultMaxMessageBytes
	}
	if c.RetryDelay <= 0 {
		c.RetryDelay = defaultRetryDelay
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Origin is the server without a transport of the protocol on top.
func (c Config) Origin() (*origin.Origin, error) {
	return origin.New(origin.Config{URL: c.URL, Header: c.Header, ConnectTimeout: c.ConnectTimeout, Proxy: c.Proxy, TLS: c.TLS})
}

// CheckHeader says what is wrong with a static header. It names the header and
// never its value.
func CheckHeader(name, value string) error { return origin.CheckHeader(name, value) }
