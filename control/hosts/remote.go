package hosts

import (
	"encoding/json"
	"strings"

	"github.com/bir-run/bir/recorder/redact"
)

// SignsIn says why a remote server is left to the client, which signs in to it: a
// proxy in front of it could not. Empty: it sends a credential of its own.
func (s Server) SignsIn() string {
	if !s.Remote() {
		return ""
	}
	if s.Own != "" {
		return "the client signs in to it itself (" + s.Own + ")"
	}
	credential := false
	for name, value := range s.Headers {
		if strings.Contains(value, "${") || strings.Contains(value, "{env:") {
			return "its headers are filled in by the client"
		}
		credential = credential || isCredential(name, value)
	}
	if !credential {
		return "the client may have to sign in to it, since no header does"
	}
	return ""
}

// isCredential asks the redaction, which knows what names a secret.
func isCredential(name, value string) bool {
	raw, err := json.Marshal(map[string]string{name: value})
	return err != nil || string(redact.JSON(raw)) != string(raw)
}
