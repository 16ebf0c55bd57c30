// Package enginetest gives the engine's tests real evaluators and recordings. It
// is imported by tests only.
package enginetest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/sandbox"
)

// RecordedAt is the clock of every recording here.
var RecordedAt = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

// patience is how long a body may take that must end: a machine may be loaded.
const patience = 2 * time.Minute

// Run builds the evaluator once, runs a package's tests with a pool of it, and
// gives the exit code for TestMain.
func Run(m *testing.M, use func(*sandbox.Pool)) int {
	dir, err := os.MkdirTemp("", "bir-engine-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "bir-sandbox")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-o", program, "github.com/bir-run/bir/cmd/bir-sandbox")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build bir-sandbox: %v\n%s", err, out))
	}
	pool := sandbox.NewPool(sandbox.Config{Command: []string{program}, Timeout: patience, StartTimeout: patience})
	defer pool.Close()
	use(pool)
	return m.Run()
}

// call is a recorded call as the test files write it. Text stands for a result
// of one text block; Result is the whole result.
type call struct {
	Tool      string          `json:"tool"` // "server.tool", or a built-in tool's name
	Input     json.RawMessage `json:"input"`
	Text      *string         `json:"text,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Failed    bool            `json:"failed,omitempty"`
	Ended     string          `json:"ended,omitempty"`
	Delegates bool            `json:"delegates,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
}

// Load reads the recording in an archive: the files prompt, answer and calls.
// A call's text may name another file of the archive: "@devices.json".
func Load(t testing.TB, path string) (engine.Recording, *txtar.Archive) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	rec := engine.Recording{
		RunID:      "run_test",
		Prompt:     strings.TrimSuffix(files["prompt"], "\n"),
		Answer:     strings.TrimSuffix(files["answer"], "\n"),
		RecordedAt: RecordedAt,
	}
	var calls []call
	if err := json.Unmarshal([]byte(files["calls"]), &calls); err != nil {
		t.Fatalf("%s: calls: %v", path, err)
	}
	for _, c := range calls {
		rec.Calls = append(rec.Calls, c.recorded(files))
	}
	return rec, archive
}

func (c call) recorded(files map[string]string) engine.Call {
	recorded := engine.Call{
		ToolName: c.Tool, Input: c.Input, Output: string(c.Result),
		Failed: c.Failed, Ended: c.Ended, Delegates: c.Delegates, Truncated: c.Truncated,
	}
	if server, tool, ok := strings.Cut(c.Tool, "."); ok {
		recorded.ToolName, recorded.ServerName, recorded.UpstreamTool = "mcp__"+server+"__"+tool, server, tool
	}
	if c.Text != nil {
		text := *c.Text
		if name, ok := strings.CutPrefix(text, "@"); ok {
			text = files[name]
		}
		recorded.Output = TextResult(text)
	}
	return recorded
}

// TextResult is the result of a tool that answers with a text, as the npm
// filesystem server writes it.
func TextResult(text string) string {
	block, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string marshals
	}
	return fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"structuredContent":{"content":%s}}`, block, block)
}
