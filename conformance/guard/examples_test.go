package guard_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardcases"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
	"github.com/bir-run/bir/sandbox/guards/examples"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

const exampleDir = "../../sandbox/guards/examples"

// Each way to build a folder of `bir guard new` gives a guard that passes the cases
// in it, and each hand-written module does, too.
func TestExamplesPassTheirCases(t *testing.T) {
	for name, build := range map[string]func(testing.TB) string{
		"go as a reactor": func(t testing.TB) string { return buildGo(t, "-buildmode=c-shared") },
		"go as a command": func(t testing.TB) string { return buildGo(t) },
		"c":               buildC,
		"assemblyscript":  buildAssemblyScript,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			module := build(t)
			passes(t, module, filepath.Join(filepath.Dir(module), "cases"))
		})
	}
	t.Run("wat", func(t *testing.T) {
		passes(t, filepath.Join(exampleDir, "wat", "at-most-ten-calls.wasm"), filepath.Join(exampleDir, "wat", "cases"))
	})
}

func passes(t *testing.T, module, dir string) {
	t.Helper()
	trial, err := guard.OpenTrial(t.Context(), guard.Config{CacheDir: guardtest.CacheDir(), CallTimeout: patience}, module)
	if err != nil {
		t.Fatal(err)
	}
	defer trial.Close(t.Context())
	all, err := guardcases.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		v, err := trial.Ask(t.Context(), c.Request)
		if err != nil {
			t.Fatal(err)
		}
		if diff := c.Expect.Difference(v.Verdict); diff != "" {
			t.Errorf("%s: %s %s", c.ID, diff, v.Failure)
		}
	}
}

func TestNativeTestsOfTheGoFolderPass(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a Go program")
	}
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = newFolder(t, "go")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

func TestExamplesAreShort(t *testing.T) {
	for _, file := range []string{"go/main.go", "c/guard.c", "assemblyscript/guard.ts", "wat/at-most-ten-calls.wat", "command/main.go"} {
		text, err := fs.ReadFile(examples.Files(), file)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n >= 60 {
			t.Errorf("%s has %d lines", file, n)
		}
	}
}

func TestHandWrittenModulesAreWhatTheirSourceSays(t *testing.T) {
	wat2wasm := npmTool(t, "wat2wasm")
	sources, err := filepath.Glob(filepath.Join(exampleDir, "wat", "*.wat"))
	if err != nil || len(sources) < 2 {
		t.Fatalf("%v, %v", sources, err)
	}
	for _, source := range sources {
		out := filepath.Join(t.TempDir(), "out.wasm")
		if text, err := exec.Command(wat2wasm, source, "-o", out).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		want, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadFile(strings.TrimSuffix(source, ".wat") + ".wasm")
		if err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s: the committed module is not what its source gives (%v)", source, err)
		}
	}
}

func TestTemplateOfABadNameIsRefused(t *testing.T) {
	for _, name := range []string{"", "..", "a/b", "Rule", "-x", "injection-guard", strings.Repeat("x", 51)} {
		if _, err := examples.New("go", name); err == nil {
			t.Errorf("%q passed for a name", name)
		}
	}
	if _, err := examples.New("cobol", "rule"); err == nil || !strings.Contains(err.Error(), "assemblyscript") {
		t.Errorf("an unknown language: %v", err)
	}
}

func TestHandWrittenExampleForbidsARegion(t *testing.T) {
	r := newRig(t)
	code, err := fs.ReadFile(examples.Files(), examples.Module)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(r.project, "region.wasm"), code)
	forbidsUsEast(t, r)
}

func TestCommandExampleForbidsARegion(t *testing.T) {
	r := newRig(t)
	goBuild(t, exampleDir, "./command", filepath.Join(r.project, "region.wasm"))
	forbidsUsEast(t, r)
}

func forbidsUsEast(t *testing.T, r *rig) {
	t.Helper()
	if err := r.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	value := func(v string) guardsdk.Request {
		return guardsdk.Request{Kind: guardsdk.KindValue, Parameter: "region",
			Value: []byte(`"` + v + `"`), Sample: []byte(`"eu-west"`), Plan: guardsdk.Plan{Risk: guardsdk.RiskNone}}
	}
	mustAllow(t, r.Check(t.Context(), step("/data/eu-west/devices.json")))
	mustAllow(t, r.Check(t.Context(), step("us-eas")))
	mustAllow(t, r.Check(t.Context(), value("eu-north")))
	mustDeny(t, r.Check(t.Context(), step("/data/us-east/devices.json")), "region_denied")
	mustDeny(t, r.Check(t.Context(), value("us-east")), "region_denied")
	escaped := step("")
	escaped.Args = []byte(`{"path":"/data/\u0075s-east"}`)
	mustDeny(t, r.Check(t.Context(), escaped), "region_denied")
}

// newFolder is what `bir guard new --lang LANG rule` makes.
func newFolder(t testing.TB, lang string) string {
	t.Helper()
	tree, err := examples.New(lang, "rule")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for file, data := range tree {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func buildGo(t testing.TB, flags ...string) string {
	t.Helper()
	dir := newFolder(t, "go")
	out := filepath.Join(dir, "rule.wasm")
	goBuild(t, dir, ".", out, flags...)
	return out
}

func goBuild(t testing.TB, dir, pkg, out string, flags ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a Go program")
	}
	cmd := exec.Command("go", append(append([]string{"build", "-o", out}, flags...), pkg)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func buildC(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("clang"); err != nil {
		t.Skip("no clang on this machine, so the C example is not built")
	}
	text, err := exec.Command("clang", "--target=wasm32", "-nostdlib", "-Wl,--no-entry", "-x", "c", "-o", filepath.Join(t.TempDir(), "none.wasm"), os.DevNull).CombinedOutput()
	if err != nil {
		t.Skipf("clang cannot link for wasm32 here, so the C example is not built: %s", text)
	}
	return run(t, newFolder(t, "c"), "clang", "--target=wasm32", "-O2", "-nostdlib", "-Wl,--no-entry", "-o", "rule.wasm", "guard.c")
}

func buildAssemblyScript(t testing.TB) string {
	t.Helper()
	return run(t, newFolder(t, "assemblyscript"), npmTool(t, "asc"), "guard.ts", "--outFile", "rule.wasm", "--optimize", "--use", "abort=")
}

// run runs a compiler in a folder, and gives the module that it wrote.
func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, text)
	}
	return filepath.Join(dir, "rule.wasm")
}

// npmTool finds a program of conformance/npm, or skips.
func npmTool(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "npm", "node_modules", ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s on this machine: run make npm", name)
	}
	return path
}
