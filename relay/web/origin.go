package web

import (
	"encoding/base64"
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

// Origin is how a server is reached, without a transport of the protocol on top.
type Origin struct {
	Transport *http.Transport
	URL       *url.URL    // without the user's name and password
	Header    http.Header // what goes with every request
	Host      string      // a Host header, where a static one is set
}

// Origin checks the configuration and makes what is needed to connect.
func (c Config) Origin() (*Origin, error) {
	c, u, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return newOrigin(c, u), nil
}

func newOrigin(cfg Config, u *url.URL) *Origin {
	dialer := net.Dialer{Timeout: cfg.ConnectTimeout}
	o := &Origin{Header: http.Header{}, Transport: &http.Transport{
		Proxy:               cfg.Proxy,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     cfg.TLS.Clone(),
		TLSHandshakeTimeout: cfg.ConnectTimeout,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true, // whoever reads the answer says what it may be packed with
		MaxIdleConnsPerHost: idleConns,
		IdleConnTimeout:     plainIdleTimeout,
		ReadBufferSize:      bufferBytes,
		WriteBufferSize:     bufferBytes,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}}
	if u.Scheme == "https" {
		o.Transport.IdleConnTimeout = tlsIdleTimeout
	}
	bare := *u
	bare.User = nil
	o.URL = &bare
	if u.User != nil {
		password, _ := u.User.Password()
		o.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	for name, value := range cfg.Header {
		if strings.EqualFold(name, "Host") {
			o.Host = value
		} else {
			o.Header.Set(name, value)
		}
	}
	return o
}
