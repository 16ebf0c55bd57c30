package guard_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// patience keeps a busy machine from changing a verdict.
const patience = 2 * time.Minute

// TestWarmCallOfTheBuiltInIsFast prints what a guard costs, and holds the fastest tenth
// of the warm calls to a bound: what else the machine does is in the others.
func TestWarmCallOfTheBuiltInIsFast(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module with an empty cache")
	}
	cache := t.TempDir()
	cold := timeLoad(t, cache)
	cached := timeLoad(t, cache)

	h := openHost(t, guard.Config{CacheDir: cache, BuiltIns: true, CallTimeout: patience})
	const calls = 300
	var took []time.Duration
	for range calls {
		started := time.Now()
		if d := h.Check(t.Context(), valueRequest("us-east", "eu-west")); !d.Allow {
			t.Fatalf("denied: %+v", d)
		}
		took = append(took, time.Since(started))
	}
	slices.Sort(took)
	p10, p50, p99 := took[calls/10], took[calls/2], took[calls*99/100]
	t.Logf("cold compile %v, load from cache %v, warm call p10 %v, p50 %v, p99 %v", cold, cached, p10, p50, p99)
	if p10 > 5*time.Millisecond {
		t.Errorf("nine of ten warm calls take longer than %v", p10)
	}
}

func timeLoad(t *testing.T, cache string) time.Duration {
	t.Helper()
	h := guard.New(guard.Config{CacheDir: cache, BuiltIns: true, CallTimeout: patience})
	started := time.Now()
	if err := h.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	took := time.Since(started)
	if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	return took
}

func openHost(t *testing.T, cfg guard.Config) *guard.Host {
	t.Helper()
	h := guard.New(cfg)
	t.Cleanup(func() {
		if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := h.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return h
}

func valueRequest(value, sample string) guardsdk.Request {
	return guardsdk.Request{
		Kind: guardsdk.KindValue, Parameter: "region", Value: quote(value), Sample: quote(sample),
		Tools: []string{"mcp__fleet__read_text_file"}, Plan: guardsdk.Plan{Risk: guardsdk.RiskRuns},
	}
}

func quote(s string) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return data
}
