package worker

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox/wire"
)

func BenchmarkTrivialBody(b *testing.B) {
	e := New(Limits{MemoryBytes: 64 << 20, ResultBytes: 1 << 20})
	req := &wire.Request{
		Source:  "return {a: params.x}",
		Args:    []wire.Arg{{Name: "params", JSON: json.RawMessage(`{"x":42}`)}},
		Plain:   true,
		Zone:    "UTC",
		Timeout: time.Second,
	}
	b.ReportAllocs()
	for b.Loop() {
		if resp := e.Eval(req); resp.Failure != nil {
			b.Fatal(resp.Failure)
		}
	}
}
