package web

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
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
	userAgent              = "bir"
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

// withDefaults checks the configuration and fills in what is not said.
func (c Config) withDefaults() (Config, *url.URL, error) {
	if c.Transport == "" {
		c.Transport = HTTP
	}
	if c.Transport != HTTP && c.Transport != SSE {
		return c, nil, fmt.Errorf("transport %q: want http or sse", c.Transport)
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
	if c.Proxy == nil {
		c.Proxy = http.ProxyFromEnvironment
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	for name, value := range c.Header {
		if err := CheckHeader(name, value); err != nil {
			return c, nil, err
		}
	}
	u, err := parseURL(c.URL)
	return c, u, err
}

// parseURL does not repeat the URL in its error: it may hold a password.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the server's URL: want http:// or https:// and a host")
	}
	u.Fragment = ""
	return u, nil
}

// connectionHeaders belong to the connection, or say how long a body is.
var connectionHeaders = []string{"Connection", "Content-Length", "Transfer-Encoding", "Upgrade", "Trailer", "Te", "Keep-Alive", "Expect"}

// CheckHeader says what is wrong with a static header. It names the header and
// never its value.
func CheckHeader(name, value string) error {
	if name == "" || strings.ContainsFunc(name, func(c rune) bool { return !isTokenChar(c) }) {
		return fmt.Errorf("header %q: not a header's name", name)
	}
	for _, own := range connectionHeaders {
		if strings.EqualFold(name, own) {
			return fmt.Errorf("header %q: it cannot be set", name)
		}
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return fmt.Errorf("header %q: its value has a control character", name)
		}
	}
	return nil
}

func isTokenChar(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c < 0x80 && strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}
