package origin

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
// net/http said. Its text is used only where it cannot repeat what the server sent.
// When ctx has ended, its error is returned.
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
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		return Errorf(CodeUnreachable, "upstream unreachable: no such host")
	case errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect"):
		return Errorf(CodeUnreachable, "upstream unreachable: %v", op.Err)
	case isTLS(err):
		return Errorf(CodeUnreachable, "upstream unreachable: %v", err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return Errorf(CodeUnreachable, "upstream unreachable: timeout")
	case errors.As(err, &op):
		return Errorf(CodeLost, "upstream connection lost: %v", op.Err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Errorf(CodeLost, "upstream connection lost: it ended early")
	}
	return Errorf(CodeLost, "upstream connection lost: its answer cannot be read")
}

// isTLS says whether the two sides could not agree on TLS.
func isTLS(err error) bool {
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError // the server speaks something else
	return errors.As(err, &certificate) || errors.As(err, &alert) || errors.As(err, &record)
}

// refusedByProxy is called with a proxy's answer to CONNECT.
func refusedByProxy(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return Errorf(CodeUnreachable, "upstream unreachable: refused by the proxy (HTTP %d)", res.StatusCode)
}
