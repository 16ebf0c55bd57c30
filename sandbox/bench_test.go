package sandbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox"
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
