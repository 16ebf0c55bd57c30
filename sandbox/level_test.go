package sandbox_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
)

// atWasm is a pool with level wasm compiled, into a folder that all tests share.
func atWasm(t testing.TB, config sandbox.Config) *sandbox.Pool {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles for ten seconds")
	}
	config.Command, config.CacheDir = []string{workerPath}, guardtest.CacheDir()
	if err := sandbox.Prepare(t.Context(), config, nil); err != nil {
		t.Fatal(err)
	}
	return newPool(t, config)
}

var unproved = sandbox.Body{Kind: sandbox.KindRaw, Source: "return 6 * 7", Unproved: true}

func levelOf(t *testing.T, pool *sandbox.Pool, body sandbox.Body) sandbox.Level {
	t.Helper()
	result, err := pool.Eval(t.Context(), body, sandbox.Args{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Level
}

func TestLevelAutoTellsBodiesApart(t *testing.T) {
	pool := atWasm(t, sandbox.Config{})
	proved := unproved
	proved.Unproved = false
	if level := levelOf(t, pool, proved); level != sandbox.LevelProcess {
		t.Errorf("a proved body ran at level %s", level)
	}
	if level := levelOf(t, pool, unproved); level != sandbox.LevelWasm {
		t.Errorf("an unproved body ran at level %s", level)
	}
	stats := pool.Stats()
	for _, level := range []sandbox.Level{sandbox.LevelProcess, sandbox.LevelWasm} {
		if of := stats.Levels[level]; of.Started != 1 || of.Evaluations != 1 {
			t.Errorf("level %s: %+v", level, of)
		}
	}
	if held := stats.Levels[sandbox.LevelWasm].Confinement; len(held) == 0 || held[0] != "WebAssembly memory" {
		t.Errorf("level wasm is held by %q", held)
	}
}

func TestOneLevelTakesEverything(t *testing.T) {
	if level := levelOf(t, atWasm(t, sandbox.Config{Level: sandbox.LevelWasm}), raw("return 1")); level != sandbox.LevelWasm {
		t.Errorf("a proved body ran at level %s", level)
	}
	if level := levelOf(t, newPool(t, sandbox.Config{Level: sandbox.LevelProcess, CacheDir: guardtest.CacheDir()}), unproved); level != sandbox.LevelProcess {
		t.Errorf("an unproved body ran at level %s", level)
	}
}

// A hook must not wait for a compiler.
func TestLevelAutoDoesWithoutWhatIsNotCompiled(t *testing.T) {
	var log bytes.Buffer
	pool := newPool(t, sandbox.Config{CacheDir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if level := levelOf(t, pool, unproved); level != sandbox.LevelProcess {
		t.Errorf("ran at level %s", level)
	}
	if !strings.Contains(log.String(), "level=process instead_of=wasm") {
		t.Errorf("the log does not say so: %s", &log)
	}
	if level := levelOf(t, newPool(t, sandbox.Config{}), unproved); level != sandbox.LevelProcess {
		t.Errorf("without a folder it ran at level %s", level)
	}
}

func TestLevelWasmKillsWhatDoesNotEnd(t *testing.T) {
	pool := atWasm(t, sandbox.Config{Level: sandbox.LevelWasm, Size: 1})
	result, err := pool.Eval(t.Context(), endless("for (;;);"), sandbox.Args{})
	if f := fault(t, err); f.Type != sandbox.TypeTimeout || !strings.Contains(f.Message, "at level wasm") || result.Level != sandbox.LevelWasm {
		t.Errorf("ended as %s at level %q: %v", f.Type, result.Level, f)
	}
	if kills := pool.Stats().Kills; kills[sandbox.KillTime] != 1 {
		t.Errorf("kills: %v", kills)
	}
}

func TestPrepareNeedsAFolderAndAWorker(t *testing.T) {
	if err := sandbox.Prepare(t.Context(), sandbox.Config{Command: []string{workerPath}}, nil); err == nil {
		t.Error("no folder is no error")
	}
	config := sandbox.Config{Command: []string{"/nowhere/bir-sandbox"}, CacheDir: t.TempDir()}
	if err := sandbox.Prepare(t.Context(), config, nil); err == nil {
		t.Error("no worker is no error")
	}
}
