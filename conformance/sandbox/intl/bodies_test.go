package intl_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/bir-run/bir/sandbox/worker"
)

// now is the clock of the bodies.
var now = time.Date(2024, 3, 10, 5, 6, 7, 89_000_000, time.UTC)

// TestBodiesGiveWhatTheyGiveInNode runs whole bodies, for what lies between a body and
// package intl: conversions, receivers, errors, what is on which prototype.
func TestBodiesGiveWhatTheyGiveInNode(t *testing.T) {
	type body struct {
		Body, Zone, Error string
		Value             json.RawMessage
	}
	// None of them is long; on a loaded machine each may be.
	e := worker.New(worker.Limits{MemoryBytes: 64 << 20, ResultBytes: 1 << 20})
	for _, b := range readCases[body](t, "bodies") {
		resp := e.Eval(&wire.Request{Source: b.Body, Zone: b.Zone, Now: now, Timeout: 2 * time.Minute})
		switch {
		case resp.Failure != nil && (b.Error == "" || !strings.HasPrefix(resp.Failure.Message, b.Error)):
			t.Errorf("%s (%s)\n threw %s\n  want %s%s", b.Body, b.Zone, resp.Failure.Message, b.Value, b.Error)
		case resp.Failure == nil && toJSON(resp.Value) != toJSON(b.Value):
			t.Errorf("%s (%s)\n  got %s\n want %s%s", b.Body, b.Zone, resp.Value, b.Value, b.Error)
		}
	}
}
