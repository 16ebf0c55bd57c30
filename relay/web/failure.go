package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// Codes of our own errors. They stay outside -32768..-32000 (R6).
const (
	codeUnreachable = -31001 // no connection
	codeSignIn      = -31002 // 401 or 403
	codeRefused     = -31003 // another status than success, or a redirect
	codeNoAnswer    = -31004 // a success that is no JSON-RPC answer
	codeLost        = -31005 // the connection or its stream ended first
	codeTooLarge    = -31006 // a message over the limit
	codeStopped     = -31007 // the proxy ends
)

// failure is why a request ends without the server's answer. Its text goes to the
// host: nothing of what the server said may be in it, nor a header's value.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

func failf(code int, format string, args ...any) *failure {
	return &failure{code, fmt.Sprintf(format, args...)}
}

func tooLarge() *failure { return failf(codeTooLarge, "upstream answer too large") }

// connectionFailure tells a server that was not reached from one that was lost.
func connectionFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var already *failure
	if errors.As(err, &already) {
		return already
	}
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return failf(codeUnreachable, "upstream unreachable: no such host")
	case errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect"):
		return failf(codeUnreachable, "upstream unreachable: %v", op.Err)
	case errors.As(err, &op):
		return failf(codeLost, "upstream connection lost: %v", op.Err)
	case isHandshake(err):
		return failf(codeUnreachable, "upstream unreachable: %v", err)
	}
	return failf(codeLost, "upstream connection lost: %v", err)
}

// isHandshake says whether TLS or a proxy refused the connection.
func isHandshake(err error) bool {
	var timeout net.Error
	text := err.Error() // net/http has no types for these
	return errors.As(err, &timeout) && timeout.Timeout() || hasAnyPrefix(text, "tls: ", "x509: ", "remote error: tls", "Proxy ", "proxyconnect", "socks")
}

func hasAnyPrefix(text string, prefixes ...string) bool {
	for _, p := range prefixes {
		if len(text) >= len(p) && text[:len(p)] == p {
			return true
		}
	}
	return false
}

// statusFailure is what a status other than success says (R28).
func statusFailure(status int) *failure {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return failf(codeSignIn, "upstream requires sign-in (HTTP %d)", status)
	}
	return failf(codeRefused, "upstream refused the request (HTTP %d)", status)
}

// errorLine is the one JSON-RPC error that ends a request.
func errorLine(id []byte, f *failure) []byte {
	text, _ := json.Marshal(f.text) // a string always encodes
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, f.code, text)
}

// ConnectionError is the JSON-RPC error for a request that did not get through to
// the server, or whose connection was lost: err is what net/http said.
func ConnectionError(ctx context.Context, id []byte, err error) []byte {
	f, ok := connectionFailure(ctx, err).(*failure)
	if !ok {
		f = failf(codeStopped, "the request was given up")
	}
	return errorLine(id, f)
}
