// Package clean makes what was seen fit to be kept: without secrets, then within
// bounds. In this order, always: half a secret has no shape. Everything that leaves a
// process of bir for a record goes through it, and nothing that is relayed does.
package clean

import (
	"encoding/json"

	"github.com/bir-run/bir/recorder/redact"
	"github.com/bir-run/bir/recorder/truncate"
)

// JSON returns raw free of secrets and in at most limit bytes (0 for
// truncate.MaxBytes). Text that is no JSON becomes a JSON string.
func JSON(raw json.RawMessage, limit int) json.RawMessage {
	payload := truncate.Scan(raw, limit)
	// Of a large payload most is dropped: there is no secret in the rest if nothing in
	// the rest gives one away.
	if payload.Reaches(redact.MarginBytes, redact.MayHold) {
		payload = payload.Redacted(redact.JSON(raw))
	}
	cut, _ := payload.JSON()
	return cut
}

// Text returns s free of secrets and in at most limit bytes (0 for
// truncate.MaxBytes).
func Text(s string, limit int) string {
	cut, _ := truncate.Text(redact.Text(s), limit)
	return cut
}
