package web

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/bir-run/bir/relay/origin"
)

// Codes of our own errors, beside those of package origin. They stay outside
// -32768..-32000 (R6).
const (
	codeSignIn   = -31002 // 401 or 403
	codeNoAnswer = -31004 // a success that is no JSON-RPC answer
	codeTooLarge = -31006 // a message over the limit
	codeStopped  = -31007 // the proxy ends
)

// failure is why a request ends without the server's answer.
type failure = origin.Error

func failf(code int, format string, args ...any) *failure {
	return origin.Errorf(code, format, args...)
}

func tooLarge() *failure { return failf(codeTooLarge, "upstream answer too large") }

// statusFailure is what a status other than success says (R28).
func statusFailure(status int) *failure {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return failf(codeSignIn, "upstream requires sign-in (HTTP %d)", status)
	}
	return failf(origin.CodeRefused, "upstream refused the request (HTTP %d)", status)
}

// errorLine is the one JSON-RPC error that ends a request.
func errorLine(id []byte, f *failure) []byte {
	text, _ := json.Marshal(f.Text) // a string always encodes
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, f.Code, text)
}
