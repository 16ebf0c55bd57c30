package guard_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
	"github.com/bir-run/bir/sandbox/guards"
	"github.com/bir-run/bir/sandbox/guards/examples"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// subject is a module to measure: a built-in one by its name, or a file.
type subject struct {
	name string
	path func(testing.TB) string
	ask  guardsdk.Request
}

func subjects() []subject {
	var all []subject
	for _, b := range guards.BuiltIns() {
		all = append(all, subject{b.Name, func(testing.TB) string { return b.Name }, ordinary(b.Kinds[0])})
	}
	call := ordinary(guardsdk.KindStep)
	return append(all,
		subject{"go reactor", func(b testing.TB) string { return buildGo(b, "-buildmode=c-shared") }, call},
		subject{"go command", func(b testing.TB) string { return buildGo(b) }, call},
		subject{"assemblyscript", buildAssemblyScript, call},
		subject{"c", buildC, call},
		subject{"wat", func(b testing.TB) string { return filepath.Join(exampleDir, "wat", "at-most-ten-calls.wasm") }, call},
	)
}

// ordinary is a question of everyday size, which every guard here allows.
func ordinary(kind guardsdk.Kind) guardsdk.Request {
	args := []byte(`{"path":"/data/reports/us-east.md","content":"# us-east\n\nThe riskiest device is us-east-01 (0.88).","mode":"create"}`)
	req := guardsdk.Request{Kind: kind, Plan: guardsdk.Plan{ScenarioID: "scn_0190b5c3-0000-7000-8000-000000000000",
		Risk: guardsdk.RiskWrites, StepIndex: 4, StepCount: 5, ToolCalls: 1, Now: "2026-05-04T09:00:00+02:00"}}
	switch kind {
	case guardsdk.KindValue:
		req.Parameter, req.Value, req.Sample = "region", jsonOf("us-east"), jsonOf("eu-west")
		req.Tools = []string{"mcp__fleet__read_text_file", "mcp__fleet__write_file"}
	case guardsdk.KindPin:
		req.Server, req.Tool, req.Args, req.ModelArgs = "fleet", "write_file", args, args
	case guardsdk.KindStep:
		req.Server, req.Tool, req.Args = "fleet", "write_file", args
	}
	return req
}

// BenchmarkWarmCall is one call of one module, and what its instance holds then.
func BenchmarkWarmCall(b *testing.B) {
	for _, s := range subjects() {
		b.Run(s.name, func(b *testing.B) {
			trial, err := guard.OpenTrial(b.Context(), guard.Config{CacheDir: guardtest.CacheDir(), CallTimeout: patience}, s.path(b))
			if err != nil {
				b.Fatal(err)
			}
			defer trial.Close(b.Context())
			var took []time.Duration
			var memory uint64
			for b.Loop() {
				v, err := trial.Ask(b.Context(), s.ask)
				if err != nil || !v.Verdict.Allow {
					b.Fatalf("%+v, %v", v, err)
				}
				took, memory = append(took, v.Duration), v.Memory
			}
			report(b, took)
			b.ReportMetric(float64(memory>>10), "KiB-of-memory")
		})
	}
}

// BenchmarkColdCompile is the first sight of a module, with an empty cache.
func BenchmarkColdCompile(b *testing.B) {
	for _, s := range subjects() {
		b.Run(s.name, func(b *testing.B) {
			path := s.path(b)
			for b.Loop() {
				trial, err := guard.OpenTrial(b.Context(), guard.Config{CacheDir: b.TempDir()}, path)
				if err != nil {
					b.Fatal(err)
				}
				if err := trial.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReadyWithAWarmCache is what a start waits until it may pin: every built-in
// module and two of the user's.
func BenchmarkReadyWithAWarmCache(b *testing.B) {
	cfg := guard.Config{HomeDir: b.TempDir(), CacheDir: guardtest.CacheDir(), BuiltIns: true, CallTimeout: patience}
	fill(b, cfg.HomeDir, 2)
	open(b, cfg, func(*guard.Host) {})
	for b.Loop() {
		open(b, cfg, func(*guard.Host) {})
	}
}

// BenchmarkTenGuards is one call put to ten guards, with the look at the folder and
// the list of strings: ten by hand, then ten in Go.
func BenchmarkTenGuards(b *testing.B) {
	b.Run("wat", func(b *testing.B) {
		dir := b.TempDir()
		fill(b, dir, 10)
		askTen(b, dir)
	})
	b.Run("go", func(b *testing.B) {
		dir := b.TempDir()
		code, err := os.ReadFile(buildGo(b, "-buildmode=c-shared"))
		if err != nil {
			b.Fatal(err)
		}
		for i := range 10 {
			write(b, filepath.Join(dir, fmt.Sprintf("g%d.wasm", i)), code)
			write(b, filepath.Join(dir, fmt.Sprintf("g%d.json", i)), []byte(`{"config":{"folder":"/data/reports"}}`))
		}
		askTen(b, dir)
	})
}

func askTen(b *testing.B, dir string) {
	cfg := guard.Config{HomeDir: dir, CacheDir: guardtest.CacheDir(), CallTimeout: patience}
	open(b, cfg, func(h *guard.Host) {
		var took []time.Duration
		for b.Loop() {
			started := time.Now()
			if d := h.Check(b.Context(), ordinary(guardsdk.KindStep)); !d.Allow || len(d.Verdicts) != 10 {
				b.Fatalf("%+v", d)
			}
			took = append(took, time.Since(started))
		}
		report(b, took)
	})
}

// report gives the middle, which a busy machine changes less than the mean.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "p50-us")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1000, "p99-us")
}

// fill puts copies of the hand-written module into a folder.
func fill(b *testing.B, dir string, n int) {
	b.Helper()
	data, err := fs.ReadFile(examples.Files(), "wat/at-most-ten-calls.wasm")
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		write(b, filepath.Join(dir, fmt.Sprintf("g%d.wasm", i)), data)
	}
}

func write(b *testing.B, path string, data []byte) {
	b.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
}

// open runs do with a host that is ready.
func open(b *testing.B, cfg guard.Config, do func(*guard.Host)) {
	b.Helper()
	h := guard.New(cfg)
	if err := h.Load(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	do(h)
	if err := h.Close(context.WithoutCancel(b.Context())); err != nil {
		b.Fatal(err)
	}
}
