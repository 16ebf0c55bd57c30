package proof_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/calc"
	"github.com/bir-run/bir/engine/enginetest"
	"github.com/bir-run/bir/engine/proof"
	"github.com/bir-run/bir/sandbox"
)

var pool *sandbox.Pool

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(p *sandbox.Pool) { pool = p }))
}

func fleet(t *testing.T) (engine.Scenario, engine.Recording) {
	t.Helper()
	rec, _ := enginetest.Load(t, "../calc/testdata/fleet.txtar")
	s, err := calc.Calculate(t.Context(), pool, rec)
	if err != nil {
		t.Fatal(err)
	}
	return s, rec
}

// edited is the scenario with other bodies in one step; empty keeps the old one.
func edited(s engine.Scenario, step int, input, output string) engine.Scenario {
	s.Steps = slices.Clone(s.Steps)
	if input != "" {
		s.Steps[step-1].ToolInputLogic = input
	}
	if output != "" {
		s.Steps[step-1].ToolOutputLogic = output
	}
	return s
}

const (
	activeOnly = `const devices = JSON.parse(JSON.parse(toolOutput).content[0].text).devices.filter((d) => d.status === "active");
const device = devices.reduce((a, b) => (b.risk > a.risk ? b : a));
return { deviceId: device.id, owner: device.owner, risk: device.risk };`
	lowest = `const devices = JSON.parse(JSON.parse(toolOutput).content[0].text).devices;
const device = devices.reduce((a, b) => (b.risk < a.risk ? b : a));
return { deviceId: device.id, owner: device.owner, risk: device.risk };`
	constantOutput = `return { deviceId: "eu-west-07", owner: "Ada Lovelace", risk: 0.93 };`
)

func TestEditsAreHeldAgainstTheRecording(t *testing.T) {
	tests := map[string]struct {
		step          int
		input, output string
		ok, copied    bool
		problem       string
	}{
		"another way to the same": {2, "return { path: [\"/data/fleet\", params.region, \"devices.json\"].join(\"/\") };", "", true, false, ""},
		"a filter that keeps it":  {2, "", activeOnly, true, false, ""},
		"another device":          {2, "", lowest, false, false, "step 3 (mcp__fleet__read_text_file): path: want"},
		"a recorded input":        {2, `return { path: "/data/fleet/eu-west/devices.json" };`, "", false, true, "repeats the recorded input"},
		"a recorded input, made up of pieces": {2, `return { path: "/data/fleet/" + ["eu", "west"].join("-") + "/devices.json" };`, "", false, true,
			"repeats the recorded input"},
		"a constant output": {2, "", constantOutput, false, true, "returns constants"},
		"a syntax error":    {3, "return {", "", false, false, "input body"},
		"a body that throws": {3, "", `throw new Error("no")`, false, false,
			"step 3 (mcp__fleet__read_text_file): output body: "},
		"an array": {3, "return [1];", "", false, false, "step 3"},
	}
	s, rec := fleet(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			report, err := proof.CheckEdit(t.Context(), pool, s, edited(s, test.step, test.input, test.output), rec, test.step)
			if err != nil {
				t.Fatal(err)
			}
			if report.OK != test.ok || report.Copy != test.copied || report.NoChange {
				t.Errorf("ok %v, copy %v, no change %v: %v", report.OK, report.Copy, report.NoChange, report.Problems)
			}
			if !strings.Contains(strings.Join(report.Problems, "\n"), test.problem) {
				t.Errorf("problems %v lack %q", report.Problems, test.problem)
			}
			if first := report.Steps[0]; first.StepIndex != test.step {
				t.Errorf("the report starts at step %d", first.StepIndex)
			}
		})
	}
}

func TestExpectedAndComputedStandSideBySide(t *testing.T) {
	s, rec := fleet(t)
	report, err := proof.Check(t.Context(), pool, edited(s, 4, "return { path: `/data/${params.region}` };", ""), rec)
	if err != nil {
		t.Fatal(err)
	}
	step := report.Steps[3]
	if string(step.Expected) != `{"path": "/data/fleet/eu-west/thresholds.json"}` || string(step.Computed) != `{"path":"/data/eu-west"}` {
		t.Errorf("expected %s, computed %s", step.Expected, step.Computed)
	}
	if step.Difference != `path: want "/data/fleet/eu-west/thresholds.json", got "/data/eu-west"` {
		t.Errorf("difference %s", step.Difference)
	}
}

func TestAnEditWithoutAChangeSaysSo(t *testing.T) {
	s, rec := fleet(t)
	report, err := proof.CheckEdit(t.Context(), pool, s, s, rec, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !report.NoChange || !report.OK {
		t.Errorf("%+v", report)
	}
}

// A step whose input was constant before is no copy when it stays so.
func TestAConstantStepMayStayConstant(t *testing.T) {
	rec := engine.Recording{Prompt: "show the weather", RecordedAt: enginetest.RecordedAt, Calls: []engine.Call{
		{ToolName: "mcp__w__get", ServerName: "w", UpstreamTool: "get", Input: json.RawMessage(`{"days":3}`), Output: enginetest.TextResult("sunny")},
	}}
	s, err := calc.Calculate(t.Context(), pool, rec)
	if err != nil {
		t.Fatal(err)
	}
	report, err := proof.CheckEdit(t.Context(), pool, s, edited(s, 1, "const days = 3;\nreturn { days };", ""), rec, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK || report.Copy {
		t.Errorf("%+v", report)
	}
}

func TestAFaultBeforeTheEditIsNotHeldAgainstIt(t *testing.T) {
	s, rec := fleet(t)
	s = edited(s, 1, `return { path: "elsewhere" };`, "")
	report, err := proof.CheckEdit(t.Context(), pool, s, edited(s, 2, "", activeOnly), rec, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK {
		t.Errorf("%v", report.Problems)
	}
}

// broken is an evaluator that cannot be used.
type broken struct{}

func (broken) Eval(context.Context, sandbox.Body, sandbox.Args) (sandbox.Result, error) {
	return sandbox.Result{}, &sandbox.Error{Type: sandbox.TypeSandbox, Message: "no worker"}
}

func TestAnUnusableEvaluatorIsNoVerdict(t *testing.T) {
	s, rec := fleet(t)
	if _, err := proof.Check(t.Context(), broken{}, s, rec); err == nil {
		t.Error("a check without an evaluator gave a report")
	}
	if _, err := proof.CheckEdit(t.Context(), broken{}, s, edited(s, 2, "", activeOnly), rec, 2); err == nil {
		t.Error("an edit check without an evaluator gave a report")
	}
}
