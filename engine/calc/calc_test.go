package calc_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/calc"
	"github.com/bir-run/bir/engine/enginetest"
	"github.com/bir-run/bir/engine/proof"
	"github.com/bir-run/bir/sandbox"
)

var (
	update = flag.Bool("update", false, "rewrite the expected scenarios")
	pool   *sandbox.Pool
)

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(p *sandbox.Pool) { pool = p }))
}

// TestRecordingsBecomeTheExpectedScenarios calculates every recording in
// testdata. The expected side is rewritten with -update and read in review.
func TestRecordingsBecomeTheExpectedScenarios(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			rec, archive := enginetest.Load(t, path)
			scenario, err := calc.Calculate(t.Context(), pool, rec)
			if err != nil {
				t.Fatal(err)
			}
			got := render(scenario)
			if *update {
				setFile(archive, "want", got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(file(archive, "want"), got); diff != "" {
				t.Errorf("the scenario differs (-want +got):\n%s", diff)
			}
			if scenario.State == engine.StateReady {
				requireProof(t, scenario, rec)
			}
		})
	}
}

func requireProof(t *testing.T, s engine.Scenario, rec engine.Recording) {
	t.Helper()
	report, err := proof.Check(t.Context(), pool, s, rec)
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK {
		t.Errorf("a ready scenario is not proved: %v", report.Problems)
	}
}

// render lays a scenario out for reading.
func render(s engine.Scenario) string {
	var out strings.Builder
	fmt.Fprintf(&out, "state: %s\n", s.State)
	if s.Problem != "" {
		fmt.Fprintf(&out, "problem: %s\n", s.Problem)
	}
	var names []string
	for name := range s.ParamsObject {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		p := s.ParamsObject[name]
		fmt.Fprintf(&out, "param %s: %s %s %s (%s)\n", name, p.Kind, p.Type, p.SampleValue, p.Description)
	}
	for _, step := range s.Steps {
		fmt.Fprintf(&out, "\n## step %d: %s\n", step.StepIndex, step.ToolName)
		if step.Frozen {
			fmt.Fprintf(&out, "frozen: %s\n", step.FrozenReason)
		}
		fmt.Fprintf(&out, "%s\n# input\n%s\n# output\n%s\n", step.Reasoning, step.ToolInputLogic, step.ToolOutputLogic)
	}
	fmt.Fprintf(&out, "\n## response\n%s\n", s.ResponseParamsLogic)
	return out.String()
}

func file(archive *txtar.Archive, name string) string {
	for _, f := range archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func setFile(archive *txtar.Archive, name, text string) {
	for i, f := range archive.Files {
		if f.Name == name {
			archive.Files[i].Data = []byte(text)
			return
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(text)})
}

func TestTheSameRecordingGivesTheSameScenario(t *testing.T) {
	rec, _ := enginetest.Load(t, "testdata/fleet.txtar")
	var first []byte
	for range 5 {
		scenario, err := calc.Calculate(t.Context(), pool, rec)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(scenario)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		}
		if string(first) != string(text) {
			t.Fatalf("two calculations differ:\n%s", cmp.Diff(string(first), string(text)))
		}
	}
}
