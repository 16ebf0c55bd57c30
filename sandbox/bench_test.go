package sandbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
)

var trivial = sandbox.Body{Kind: sandbox.KindParams, Source: "return {a: params.x}"}

func BenchmarkWarmRoundTrip(b *testing.B) {
	pool := newPool(b, sandbox.Config{})
	args := sandbox.Args{Params: json.RawMessage(`{"x":42}`)}
	for b.Loop() {
		if _, err := pool.Eval(b.Context(), trivial, args); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(pool.Stats().P50.Microseconds()), "p50-us")
}

func BenchmarkSpawnAndFirstEvaluation(b *testing.B) {
	for b.Loop() {
		pool := sandbox.NewPool(sandbox.Config{Command: []string{workerPath}})
		_, err := pool.Eval(b.Context(), trivial, sandbox.Args{})
		b.StopTimer()
		pool.Close()
		b.StartTimer()
		if err != nil {
			b.Fatal(err)
		}
	}
}

// small is a body as steps have them: rows grouped and put into words.
var small = sandbox.Body{Kind: sandbox.KindRaw, Source: `
	const rows = []; for (let i = 0; i < 50; i++) rows.push({group: 'g' + i % 5, value: i});
	const groups = rows.reduce((all, row) => ((all[row.group] ||= []).push(row.value), all), {});
	return Object.entries(groups).map(([group, values]) => group + ': ' + values.reduce((a, b) => a + b)).join('\n')`}

func BenchmarkSmallBody(b *testing.B) {
	for _, level := range []sandbox.Level{sandbox.LevelProcess, sandbox.LevelWasm} {
		b.Run(string(level), func(b *testing.B) {
			pool := atWasm(b, sandbox.Config{Level: level})
			for b.Loop() {
				if _, err := pool.Eval(b.Context(), small, sandbox.Args{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(pool.Stats().P50.Microseconds()), "p50-us")
		})
	}
}

// BenchmarkTenSteps is the sandbox's part of a plan: an input and an output body a step.
func BenchmarkTenSteps(b *testing.B) {
	pool := newPool(b, sandbox.Config{})
	input := sandbox.Body{Kind: sandbox.KindToolInput, Source: "return {path: '/data/' + params.region}"}
	output := sandbox.Body{Kind: sandbox.KindToolOutput, Source: "return {first: JSON.parse(toolOutput).content[0].text}"}
	args := sandbox.Args{Params: json.RawMessage(`{"region":"eu"}`), ToolOutput: `{"content":[{"type":"text","text":"abc"}]}`}
	for b.Loop() {
		for range 10 {
			for _, body := range []sandbox.Body{input, output} {
				if _, err := pool.Eval(b.Context(), body, args); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

func BenchmarkCachedStartAtLevelWasm(b *testing.B) {
	atWasm(b, sandbox.Config{}) // compiles
	for b.Loop() {
		pool := sandbox.NewPool(sandbox.Config{Command: []string{workerPath}, CacheDir: guardtest.CacheDir(), Level: sandbox.LevelWasm})
		_, err := pool.Eval(b.Context(), trivial, sandbox.Args{})
		b.StopTimer()
		pool.Close()
		b.StartTimer()
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFilterMapSort100KB(b *testing.B) {
	pool := newPool(b, sandbox.Config{})
	var rows []string
	for i := range 500 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"title":"%s","state":%q,"score":%d,"body":%q}`,
			i, strings.Repeat("word ", 8), []string{"open", "closed"}[i%2], i*7919%1000, strings.Repeat("text ", 20)))
	}
	args := sandbox.Args{ToolOutput: "[" + strings.Join(rows, ",") + "]"}
	body := sandbox.Body{Kind: sandbox.KindToolOutput, Source: `
		const open = JSON.parse(toolOutput).filter(r => r.state === 'open' && r.score > 10);
		const short = open.map(r => ({id: r.id, title: r.title.slice(0, 20), score: r.score}));
		short.sort((a, b) => b.score - a.score || a.id - b.id);
		return {n: short.length, top: short.slice(0, 5)};`}
	b.SetBytes(int64(len(args.ToolOutput)))
	for b.Loop() {
		if _, err := pool.Eval(b.Context(), body, args); err != nil {
			b.Fatal(err)
		}
	}
}
