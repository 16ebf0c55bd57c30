package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox"
)

// command builds the real worker: a test binary starts more slowly.
func command(b *testing.B) []string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bir-sandbox")
	if out, err := exec.Command("go", "build", "-o", path, "../cmd/bir-sandbox").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return []string{path}
}

var trivial = sandbox.Body{Kind: sandbox.KindParams, Source: "return {a: params.x}"}

func BenchmarkWarmRoundTrip(b *testing.B) {
	pool := newPool(b, sandbox.Config{Command: command(b)})
	args := sandbox.Args{Params: json.RawMessage(`{"x":42}`)}
	for b.Loop() {
		if _, err := pool.Eval(b.Context(), trivial, args); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSpawnAndFirstEvaluation(b *testing.B) {
	cmd := command(b)
	for b.Loop() {
		pool := sandbox.NewPool(sandbox.Config{Command: cmd})
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
	pool := newPool(b, sandbox.Config{Command: command(b)})
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
