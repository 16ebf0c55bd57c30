package origin

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// Codes for a JSON-RPC error about the connection. They stay outside -32768..-32000
// (R6).
const (
	CodeUnreachable = -31001 // no connection
	CodeRefused     = -31003 // an answer that is no success, or leads elsewhere
	CodeLost        = -31005 // the connection ended first
)

// Error is why a request has no answer of the server. Its text may be shown: nothing
// of what the server said is in it, nor a header's value.
type Error struct {
	Code int
	Text string
}

func (e *Error) Error() string { return e.Text }

// Errorf makes an Error.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Failure tells a server that was not reached from one that was lost: err is what
// net/http said. When ctx has ended, its error is returned.
func Failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var already *Error
	if errors.As(err, &already) {
		return already
	}
	var op *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return Errorf(CodeUnreachable, "upstream unreachable: no such host")
	case errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect"):
		return Errorf(CodeUnreachable, "upstream unreachable: %v", op.Err)
	case errors.As(err, &op):
		return Errorf(CodeLost, "upstream connection lost: %v", op.Err)
	case isHandshake(err):
		return Errorf(CodeUnreachable, "upstream unreachable: %v", err)
	}
	return Errorf(CodeLost, "upstream connection lost: %v", err)
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
