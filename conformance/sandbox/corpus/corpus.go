// Package corpus runs the corpora of bodies at one level of the sandbox: attacks, ours
// and public ones, and what ordinary code gives in Node. The tests that use it are a
// package for each level, since each takes minutes.
package corpus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/guard/guardtest"

	// The worker is built and not linked; this keeps the go command from taking an old
	// result for one of a changed worker.
	_ "github.com/bir-run/bir/sandbox/confine"
	_ "github.com/bir-run/bir/sandbox/wasmhost"
	_ "github.com/bir-run/bir/sandbox/worker"
)

// Suite is a level, the worker's program, and where our own corpora are.
type Suite struct {
	Level    sandbox.Level
	Worker   string // as BuildWorker made it
	Testdata string
	// Every is how many of the attacks that are likely to cost a worker are passed over
	// for one that is run, and that one; 0 and 1 run all.
	Every int
}

// passes tells whether the nth attack that may cost a worker is not run.
func (s Suite) passes(n int) bool { return s.Every > 1 && n%s.Every != 0 }

// BuildWorker builds the real worker, as it is shipped.
func BuildWorker(dir string) (string, error) {
	path := filepath.Join(dir, "bir-sandbox.exe") // Windows wants the ending, others do not mind
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "github.com/bir-run/bir/cmd/bir-sandbox")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the worker: %w\n%s", err, out)
	}
	return path, nil
}

// Patience is how long what must come may take: a loaded machine is twenty times slower
// than a quiet one. Bodies that are to end by their time have one of their own, so that
// what comes after them has all of the pool's.
const Patience = 2 * time.Minute

// Pool makes a patient pool of the suite's level. Level wasm is compiled into a folder that all
// tests share, before anything is timed.
func (s Suite) Pool(t testing.TB, config sandbox.Config) *sandbox.Pool {
	t.Helper()
	return s.poolOf(t, []string{s.Worker}, config)
}

// poolOf is one of workers that another command starts.
func (s Suite) poolOf(t testing.TB, command []string, config sandbox.Config) *sandbox.Pool {
	t.Helper()
	config.Level, config.Timeout, config.StartTimeout = s.Level, Patience, Patience
	if s.Level == sandbox.LevelWasm {
		config.Command, config.CacheDir = []string{s.Worker}, guardtest.CacheDir()
		if err := sandbox.Prepare(t.Context(), config, nil); err != nil {
			t.Fatal(err)
		}
	}
	config.Command = command
	pool := sandbox.NewPool(config)
	t.Cleanup(pool.Close)
	return pool
}

// corpora are kept beside the checkout, not in it.
const corporaFolder = "shared/corpora"

// readPublic reads a corpus from the first folder above this one that has corpora
// in or beside it.
func readPublic[T any](t *testing.T, name string) []T {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, corporaFolder, name))
		if err == nil {
			var entries []T
			if err := json.Unmarshal(data, &entries); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return entries
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skipf("no %s/%s in a folder above: this corpus is not checked here", corporaFolder, name)
		}
		dir = parent
	}
}

// orderedArgs reads an object's keys in their order: a corpus names a body's
// parameters that way.
type orderedArgs []sandbox.Arg

func (a *orderedArgs) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		*a = append(*a, sandbox.Arg{Name: fmt.Sprint(name), Value: value})
	}
	return nil
}

// sameJSON compares values, not text: keys in any order, numbers by value.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	xs, _ := json.Marshal(x)
	ys, _ := json.Marshal(y)
	return bytes.Equal(xs, ys)
}

// readIDs reads a list of ids, one a line, with comments.
func readIDs(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for line := range strings.Lines(string(data)) {
		if id := strings.TrimSpace(line); id != "" && !strings.HasPrefix(id, "#") {
			ids = append(ids, id)
		}
	}
	if !slices.IsSorted(ids) {
		t.Errorf("%s is not sorted", path)
	}
	return ids
}
