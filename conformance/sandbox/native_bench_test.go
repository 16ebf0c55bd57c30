package sandbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/bir-run/bir/sandbox"
)

// BenchmarkAgainstNativeGoja runs each body in the pool and, in turn, in goja inside
// this process: a fresh runtime each time, the program kept, the arguments parsed and
// the result written by goja's own JSON. The ratio of the two medians is what
// isolation costs.
func BenchmarkAgainstNativeGoja(b *testing.B) {
	var rows []string
	for i := range 500 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"%s","state":%q,"score":%d,"body":%q}`,
			i, strings.Repeat("word ", 8), []string{"open", "closed"}[i%2], i*7919%1000, strings.Repeat("text ", 20)))
	}
	for name, c := range map[string]struct {
		source, output string
	}{
		"trivial": {"return {a: toolOutput.length}", "abc"},
		"100KB": {`
			const open = JSON.parse(toolOutput).filter(r => r.state === 'open' && r.score > 10);
			const short = open.map(r => ({id: r.id, title: r.title.slice(0, 20), score: r.score}));
			short.sort((a, b) => b.score - a.score || a.id - b.id);
			return {n: short.length, top: short.slice(0, 5)};`, "[" + strings.Join(rows, ",") + "]"},
	} {
		b.Run(name, func(b *testing.B) {
			pool := suite.Pool(b, sandbox.Config{})
			body := sandbox.Body{Kind: sandbox.KindToolOutput, Source: c.source}
			program := goja.MustCompile("body.js", "(function (toolOutput, params, respParams) { return JSON.stringify((() => {"+c.source+"\n})()) })", true)
			var native, ours []time.Duration
			for b.Loop() {
				begun := time.Now()
				want := runNative(b, program, c.output)
				between := time.Now()
				got, err := pool.Eval(b.Context(), body, sandbox.Args{ToolOutput: c.output})
				if err != nil {
					b.Fatal(err)
				}
				native, ours = append(native, between.Sub(begun)), append(ours, time.Since(between))
				if string(got.Value) != want {
					b.Fatalf("%s, and natively %s", got.Value, want)
				}
			}
			mid := func(d []time.Duration) float64 { slices.Sort(d); return float64(d[len(d)/2].Nanoseconds()) }
			b.ReportMetric(mid(native)/1000, "native-us")
			b.ReportMetric(mid(ours)/1000, "pool-us")
			b.ReportMetric(mid(ours)/mid(native), "ratio")
		})
	}
}

func runNative(b *testing.B, program *goja.Program, output string) string {
	b.Helper()
	vm := goja.New()
	body, err := vm.RunProgram(program)
	if err != nil {
		b.Fatal(err)
	}
	call, _ := goja.AssertFunction(body)
	result, err := call(goja.Undefined(), vm.ToValue(output), vm.NewObject(), vm.NewObject())
	if err != nil {
		b.Fatal(err)
	}
	return result.String()
}
