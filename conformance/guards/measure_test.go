package guards_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
	"github.com/bir-run/bir/sandbox/guards"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// patience keeps a busy machine from changing a verdict.
const patience = 2 * time.Minute

// openHost gives a loaded host with only the built-in modules.
func openHost(t *testing.T, cacheDir string) *guard.Host {
	t.Helper()
	h := guard.New(guard.Config{BuiltIns: true, CacheDir: cacheDir, CallTimeout: patience})
	t.Cleanup(func() { _ = h.Close(context.WithoutCancel(t.Context())) })
	if err := h.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return h
}

// typical are requests as a plan makes them.
var typical = []struct {
	name string
	req  guardsdk.Request
}{
	{"pin, a command", pin("Bash", `{"command":"cd /repo && npm run lint 2>&1 | tail -20"}`, `{"command":"cd /repo && npm run lint -- --fix 2>&1 | tail -20"}`)},
	{"pin, a statement", pin("run_query", `{"sql":"select id, name from users where id = 1"}`, `{"sql":"select id, name from users where id = 2 order by name"}`)},
	{"pin, another tool", pin("navigate_page", `{"url":"https://fleet.internal/eu","timeout":5}`, `{"url":"HTTPS://Fleet.internal/eu","timeout":5,"wait":true}`)},
	{"value, a name", value(`"us-east"`, `"eu-west"`, "runs")},
	{"value, a path", value(`"/data/us-east/devices 2.json"`, `"/data/eu-west/devices 1.json"`, "runs")},
	{"value, a sentence", value(`"add the new export page"`, `"fix the failing test, again"`, "runs")},
	{"value, a list", value(`["us-east","us-west","eu-north"]`, `["eu-west","eu-south"]`, "runs")},
}

func pin(tool, model, step string) guardsdk.Request {
	return guardsdk.Request{ABI: guardsdk.ABI, Kind: guardsdk.KindPin, Tool: tool, ModelArgs: json.RawMessage(model), Args: json.RawMessage(step)}
}

func value(value, sample, risk string) guardsdk.Request {
	return guardsdk.Request{ABI: guardsdk.ABI, Kind: guardsdk.KindValue, Parameter: "region", Value: json.RawMessage(value),
		Sample: json.RawMessage(sample), Plan: guardsdk.Plan{Risk: guardsdk.Risk(risk)}}
}

// The figures go into the log. The bound is of the fastest tenth: what else the machine
// does is in the others.
func TestWarmCallsAreFast(t *testing.T) {
	h := openHost(t, guardtest.CacheDir())
	const calls = 200
	for _, c := range typical {
		var took []time.Duration
		for range calls {
			started := time.Now()
			d := h.Check(t.Context(), c.req)
			took = append(took, time.Since(started))
			if v, denied := d.Denial(); denied {
				t.Fatalf("%s: %+v", c.name, v)
			}
		}
		slices.Sort(took)
		t.Logf("%-20s warm call p10 %v, p50 %v, p99 %v", c.name, took[calls/10], took[calls/2], took[calls*99/100])
		if fast := took[calls/10]; fast > 10*time.Millisecond {
			t.Errorf("%s: nine of ten calls take longer than %v", c.name, fast)
		}
	}
}

func TestModulesCompileInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles both modules with an empty cache")
	}
	for _, b := range guards.BuiltIns() {
		module, err := b.Module()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d KiB", b.Name, len(module)>>10)
		if len(module) > 6<<20 {
			t.Errorf("%s has %d bytes: what does it link?", b.Name, len(module))
		}
	}
	cache := t.TempDir()
	for _, what := range []string{"an empty cache", "a warm cache"} {
		started := time.Now()
		openHost(t, cache)
		t.Logf("both modules are ready after %v with %s", time.Since(started), what)
	}
}
