// Package cli judges the built commands from outside: every command, every bad
// input that has a sentence of its own, and every command of the README.
package cli

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/relay/relaytest"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
	"github.com/bir-run/bir/sandbox/guards/examples"
)

func TestMain(m *testing.M) {
	relaytest.HeedSignals()
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// logicTimeout is the longest that a body may run, for those that are not about it: a
// machine that is busy with much else may take a second to start one.
const logicTimeout = "10000"

// TestScripts runs testdata/*.txtar. Each script has a BIR_HOME of its own, and
// everything that it starts in the background is stopped at its end.
func TestScripts(t *testing.T) {
	bin, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	cache := guardtest.CacheDir() // what guards and level wasm are compiled to, once for all tests
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("BIR_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("BIR_LOGIC_TIMEOUT_MS", logicTimeout)
			env.Defer(func() { stopAll(t, bin, filepath.Join(env.WorkDir, "home")) })
			if err := os.WriteFile(filepath.Join(env.WorkDir, "latin1.bin"), []byte("return {a: '\xe9'}"), 0o600); err != nil {
				return err
			}
			// Hand-written guards, which no compiler has to build first.
			for _, module := range []string{"deny-us-east.wasm", "at-most-ten-calls.wasm"} {
				code, err := fs.ReadFile(examples.Files(), "wat/"+module)
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(env.WorkDir, module), code, 0o600); err != nil {
					return err
				}
			}
			return shareCompiledGuards(cache, filepath.Join(env.WorkDir, "home"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"session": hostSession,
			"setid":   setID,
		},
	})
}

// stopAll stops the control servers before the service: they could start it again.
func stopAll(t *testing.T, bin, home string) {
	built.AwaitNone(t, home, func() {
		for _, what := range []string{"--all", "--service"} {
			cmd := exec.Command(built.Path(bin, "bir"), "down", what)
			cmd.Env = append(os.Environ(), "BIR_HOME="+home)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("bir down %s: %v\n%s", what, err, out)
			}
		}
	})
}

// shareCompiledGuards lets the scripts share what is compiled.
func shareCompiledGuards(cache, home string) error {
	if err := os.MkdirAll(filepath.Join(home, "cache"), 0o700); err != nil {
		return err
	}
	return os.Symlink(cache, filepath.Join(home, "cache", "wazero"))
}

var ids = regexp.MustCompile(`(?:run|scn|sedit)_[0-9a-f-]{36}`)

// setID is the command `setid VAR PREFIX`: it puts the first id with that prefix
// in the last output into a variable.
func setID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: setid VAR PREFIX")
	}
	for _, id := range ids.FindAllString(ts.ReadFile("stdout"), -1) {
		if strings.HasPrefix(id, args[1]+"_") {
			ts.Setenv(args[0], id)
			return
		}
	}
	ts.Fatalf("no %s_ id in the output", args[1])
}
