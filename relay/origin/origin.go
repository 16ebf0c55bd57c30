// Package origin reaches one HTTP server: connections, static headers, proxies,
// redirects, packing, and what to say when it cannot be reached. It knows nothing of
// the protocol on top. It must never send a static header to another origin, follow a
// redirect that loses a request's body, or name a header's value in an error.
package origin

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// bufferBytes of each connection, both ways.
	bufferBytes = 16 << 10
	// idleConns are kept open: as many as requests are usually open at once.
	idleConns = 128
	// Node closes an idle connection after 5 s. A POST that it crosses is lost, and must
	// not be sent twice, so we are the first to close. A connection that is costly to
	// make is kept for as long as others do.
	plainIdleTimeout = 4 * time.Second
	tlsIdleTimeout   = 90 * time.Second
	// Over HTTP/2 one connection carries everything, so that its death is noticed by a
	// ping.
	pingAfter   = 30 * time.Second
	pingTimeout = 15 * time.Second
)

const (
	defaultConnectTimeout = 10 * time.Second
	userAgent             = "bir"
)

// Config says which server. URL is needed.
type Config struct {
	URL            string
	Header         map[string]string // goes with every request
	ConnectTimeout time.Duration     // 0 means 10 s; nothing after connecting is bounded
	// Proxy finds the proxy of a request; nil asks the environment.
	Proxy func(*http.Request) (*url.URL, error)
	TLS   *tls.Config // nil means the system's
}

// Origin is the server's scheme, host and port, and a URL there.
type Origin struct {
	URL       *url.URL    // without the user's name and password
	header    http.Header // static
	own       http.Header // and what our own requests say besides
	host      string      // the Host header, where a static one is set
	transport *http.Transport
}

// New checks the configuration. Nothing is connected before the first request.
func New(cfg Config) (*Origin, error) {
	u, err := parseURL(cfg.URL)
	if err != nil {
		return nil, err
	}
	for name, value := range cfg.Header {
		if err := CheckHeader(name, value); err != nil {
			return nil, err
		}
	}
	bare := *u
	bare.User = nil
	o := &Origin{URL: &bare, header: http.Header{}, transport: newTransport(cfg, u.Scheme)}
	if u.User != nil {
		password, _ := u.User.Password()
		o.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	for name, value := range cfg.Header {
		if strings.EqualFold(name, "Host") {
			o.host = value
		} else {
			o.header.Set(name, value)
		}
	}
	o.own = o.header.Clone()
	if o.own.Get("User-Agent") == "" {
		o.own.Set("User-Agent", userAgent)
	}
	o.own.Set("Accept-Encoding", encoding(u.Hostname()))
	return o, nil
}

func newTransport(cfg Config, scheme string) *http.Transport {
	timeout := cfg.ConnectTimeout
	if timeout <= 0 {
		timeout = defaultConnectTimeout
	}
	dialer := net.Dialer{Timeout: timeout}
	t := &http.Transport{
		Proxy:                  cfg.Proxy,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        cfg.TLS.Clone(),
		TLSHandshakeTimeout:    timeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // whoever reads the answer says what it may be packed with
		MaxIdleConnsPerHost:    idleConns,
		IdleConnTimeout:        plainIdleTimeout,
		ReadBufferSize:         bufferBytes,
		WriteBufferSize:        bufferBytes,
		OnProxyConnectResponse: refusedByProxy,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
	if cfg.Proxy == nil {
		t.Proxy = http.ProxyFromEnvironment
	}
	if scheme == "https" {
		t.IdleConnTimeout = tlsIdleTimeout
	}
	return t
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

// Close gives back idle connections.
func (o *Origin) Close() { o.transport.CloseIdleConnections() }
