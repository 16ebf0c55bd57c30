package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
	"github.com/bir-run/bir/sandbox/guards/injectionguard"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// builtIns is a loaded host with only the built-in modules.
func builtIns(t *testing.T) *guard.Host {
	t.Helper()
	h := guard.New(guard.Config{BuiltIns: true, CacheDir: guardtest.CacheDir(), CallTimeout: patience})
	t.Cleanup(func() { _ = h.Close(context.WithoutCancel(t.Context())) })
	if err := h.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return h
}

func derived(value, sample string, risk guardsdk.Risk) guardsdk.Request {
	return guardsdk.Request{Kind: guardsdk.KindValue, Parameter: "region", Value: jsonOf(value), Sample: jsonOf(sample),
		Tools: []string{"mcp__fleet__read_text_file", "mcp__fleet__write_file"}, Plan: guardsdk.Plan{Risk: risk}}
}

func jsonOf(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return data
}

func TestHostileParameterIsStoppedInEveryPlan(t *testing.T) {
	h := builtIns(t)
	for _, risk := range []guardsdk.Risk{guardsdk.RiskRuns, guardsdk.RiskWrites, guardsdk.RiskNone} {
		mustAllow(t, h.Check(t.Context(), derived("us-east", "eu-west", risk)))
		for _, value := range []string{"eu-west; rm -rf /", "../../etc", "a\nb", "$(id)"} {
			v, denied := h.Check(t.Context(), derived(value, "eu-west", risk)).Denial()
			if !denied || !v.Builtin || v.Module != "injection-guard" || v.Failure != "" {
				t.Errorf("%q in a plan that %s: %+v", value, risk, v)
			}
		}
	}
}

func TestBuiltInIsAskedOnlyAboutValues(t *testing.T) {
	h := builtIns(t)
	mustAllow(t, h.Check(t.Context(), step("a; b")))
	want := []guardsdk.Kind{guardsdk.KindValue}
	if diff := cmp.Diff(want, module(t, h, "injection-guard").Kinds); diff != "" {
		t.Error(diff)
	}
}

func TestUserModuleCannotTakeABuiltInName(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "Injection-Guard.wasm"), guardtest.Reactor(guardtest.Allow).Bytes())
	h := guard.New(guard.Config{BuiltIns: true, CacheDir: guardtest.CacheDir(), HomeDir: dir, CallTimeout: patience})
	t.Cleanup(func() { _ = h.Close(context.WithoutCancel(t.Context())) })
	if err := h.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	v := mustDeny(t, h.Check(t.Context(), derived("us-east", "eu-west", guardsdk.RiskNone)), guard.CodeRejected)
	if v.Builtin || !strings.Contains(v.Verdict.Reason, "built-in") {
		t.Errorf("got %+v", v)
	}
}

func TestBuiltInDeniesUntilItIsCompiledAndNeedsNoCacheFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles without a cache")
	}
	file := put(t, filepath.Join(t.TempDir(), "file"), nil) // where a folder would have to be
	h := guard.New(guard.Config{BuiltIns: true, CacheDir: filepath.Join(file, "cache"), CallTimeout: patience})
	t.Cleanup(func() { _ = h.Close(context.WithoutCancel(t.Context())) })
	// It takes a second, and until then the answer is no, also to what it would not
	// be asked: nobody knows that yet.
	mustDeny(t, h.Check(t.Context(), derived("us-east", "eu-west", guardsdk.RiskNone)), guard.CodeNotReady)
	mustDeny(t, h.Check(t.Context(), step("x")), guard.CodeNotReady)
	if err := h.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	mustAllow(t, h.Check(t.Context(), derived("us-east", "eu-west", guardsdk.RiskRuns)))
}

// The largest value that can be asked about fits the module's memory, and the
// instance survives it.
func TestBuiltInAnswersAboutLargeValues(t *testing.T) {
	h := builtIns(t)
	for range 5 {
		mustAllow(t, h.Check(t.Context(), derived(strings.Repeat("x", 500<<10), "eu-west", guardsdk.RiskNone)))
		mustDeny(t, h.Check(t.Context(), derived(strings.Repeat("x", 500<<10)+";", "eu-west", guardsdk.RiskNone)),
			injectionguard.CodeIdentifier)
	}
}

// plainWord is what may take the place of a bare identifier in any language.
var plainWord = regexp.MustCompile(`^[\p{L}\p{M}\p{Nd}_.][\p{L}\p{M}\p{Nd}_.-]*$`)

// In the place of an identifier or a number, a line of the public lists passes only
// when it is one.
func TestPublicInjectionListsAreStopped(t *testing.T) {
	lines := corpus(t, "patt-*.txt", "libinjection-sqli-*.txt")
	var words, numbers int
	for _, line := range lines {
		if injectionguard.Check(derived(line, "eu-west", guardsdk.RiskRuns)).Allow {
			words++
			if !plainWord.MatchString(line) {
				t.Errorf("%q passes for an identifier", line)
			}
		}
		if injectionguard.Check(derived(line, "42", guardsdk.RiskRuns)).Allow {
			numbers++
			if strings.Trim(line, "0123456789.eE+") != "" {
				t.Errorf("%q passes for a number", line)
			}
		}
	}
	t.Logf("of %d lines %d pass as a word and %d as a number", len(lines), words, numbers)
	if words > len(lines)/50 {
		t.Errorf("%d of %d lines pass as a word", words, len(lines))
	}
}

// In a sentence, the harmless lines that naive filters flag pass where nothing is
// run.
func TestHarmlessLinesPassWhereNothingIsRun(t *testing.T) {
	lines := corpus(t, "libinjection-false_positives.txt")
	for _, line := range lines {
		v := injectionguard.Check(derived(line, "words, as people write them", guardsdk.RiskWrites))
		if !v.Allow {
			t.Errorf("%q: %s", line, v.Reason)
		}
	}
}

// The module says what the package that it was built from says.
func TestModuleAndPackageAgree(t *testing.T) {
	h := builtIns(t)
	lines := corpus(t, "patt-cmd-*.txt", "libinjection-false_positives.txt")
	for i, line := range lines {
		sample := []string{"eu-west", "two words", "/data/eu-west", "42"}[i%4]
		req := derived(line, sample, []guardsdk.Risk{guardsdk.RiskRuns, guardsdk.RiskNone}[i%2])
		want := injectionguard.Check(req)
		d := h.Check(t.Context(), req)
		if got := d.Verdicts[0].Verdict; got.Allow != want.Allow || got.Code != want.Code {
			t.Errorf("%q for %q: the module says %+v and the package %+v", line, sample, got, want)
		}
	}
}

// corpus reads the public lists where they are; they are no part of the project.
func corpus(t *testing.T, patterns ...string) []string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		folder := filepath.Join(dir, "shared", "corpora", "injection")
		if _, err := os.Stat(folder); err == nil {
			return linesOf(t, folder, patterns)
		}
	}
	t.Skip("the public injection lists are not on this machine")
	return nil
}

func linesOf(t *testing.T, folder string, patterns []string) []string {
	t.Helper()
	var lines []string
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no list fits %s (%v)", pattern, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(data) {
				if text := strings.TrimRight(string(line), "\r\n"); text != "" {
					lines = append(lines, text)
				}
			}
		}
	}
	return lines
}

func TestCommittedModulesAreWhatTheSourceGives(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles Go programs")
	}
	program := filepath.Join(t.TempDir(), "build.exe") // built first: go run hides the exit code
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../sandbox/guards/build").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program, "-check")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		t.Skipf("%s", out)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
