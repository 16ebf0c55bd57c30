package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/bundle"
	"github.com/bir-run/bir/engine/calc"
	"github.com/bir-run/bir/engine/derive"
	"github.com/bir-run/bir/engine/enginetest"
	"github.com/bir-run/bir/engine/outcome"
	"github.com/bir-run/bir/engine/plan"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

var pool *sandbox.Pool

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(p *sandbox.Pool) { pool = p }))
}

// guards answers as its function does, and remembers the questions.
type guards struct {
	deny  func(guardsdk.Request) string
	asked []guardsdk.Request
}

func (g *guards) Check(_ context.Context, req guardsdk.Request) plan.Decision {
	g.asked = append(g.asked, req)
	if g.deny != nil {
		if reason := g.deny(req); reason != "" {
			return plan.Decision{Verdicts: []plan.Verdict{{Module: "test", Reason: reason}}}
		}
	}
	return plan.Decision{Allow: true, Verdicts: []plan.Verdict{{Module: "test", Allow: true}}}
}

// executor answers as its function does, and remembers what was sent.
type executor struct {
	answer func(engine.Step) (json.RawMessage, error)
	sent   []string
}

func (x *executor) Execute(_ context.Context, step engine.Step, input json.RawMessage) (json.RawMessage, error) {
	x.sent = append(x.sent, step.UpstreamTool+" "+string(input))
	return x.answer(step)
}

type notSent struct{ error }

func (notSent) Sent() bool { return false }

const usEastPrompt = "find the riskiest device in region us-east and write its report"

func fleet(t *testing.T) engine.Scenario {
	t.Helper()
	rec, _ := enginetest.Load(t, "../calc/testdata/fleet.txtar")
	s, err := calc.Calculate(t.Context(), pool, rec)
	if err != nil {
		t.Fatal(err)
	}
	s.ID = "scn_test"
	return s
}

func usEast(t *testing.T) engine.Recording {
	t.Helper()
	rec, _ := enginetest.Load(t, filepath.Join("testdata", "us-east.txtar"))
	return rec
}

func params(t *testing.T, s engine.Scenario, prompt string) map[string]json.RawMessage {
	t.Helper()
	derived := derive.Align(s.Intent, s.ParamsObject, prompt)
	if !derived.SameTask {
		t.Fatalf("another task: %+v", derived)
	}
	return derived.Params
}

// run runs a plan over the us-east recording, whose outputs the executor serves.
func run(t *testing.T, cfg plan.Config) plan.Result {
	t.Helper()
	cfg.Evaluator = pool
	if cfg.Params == nil {
		cfg.Params = params(t, cfg.Scenario, usEastPrompt)
	}
	result, err := plan.New(cfg).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestAScenarioGeneralisesToAnotherRun(t *testing.T) {
	recorded := plan.NewRecorded(usEast(t))
	result := run(t, plan.Config{Scenario: fleet(t), Guards: &guards{}, Executor: recorded, Dry: true})
	if !result.Done() {
		t.Fatalf("stopped at %s: %s", result.Stage, result.Error)
	}
	if len(recorded.Comparisons()) != 5 || recorded.Left() != 0 {
		t.Errorf("%d comparisons, %d calls left", len(recorded.Comparisons()), recorded.Left())
	}
	for _, c := range recorded.Comparisons() {
		if c.Difference != "" {
			t.Errorf("step %d: %s", c.StepIndex, c.Difference)
		}
	}
	var model map[string]any
	if err := json.Unmarshal(result.ResponseModel, &model); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"region": "us-east", "deviceId": "us-east-01", "owner": "Alan Turing", "risk": 0.88, "alert": 0.65,
		"lastLogLine": "2026-11-21T10:05:00Z us-east-01 ERROR no answer from controller",
	}
	if diff := cmp.Diff(want, model); diff != "" {
		t.Errorf("response model (-want +got):\n%s", diff)
	}
	if result.Outcome != outcome.NotSteered {
		t.Errorf("a dry run booked %s", result.Outcome)
	}
}

// The guards keep no state and have no clock: the plan tells them both.
func TestAGuardIsToldTheTimeAndTheCallsSoFar(t *testing.T) {
	asked := &guards{}
	world := sandbox.World{Now: time.Date(2026, 5, 4, 7, 0, 0, 0, time.UTC), Zone: "Europe/Berlin"}
	run(t, plan.Config{Scenario: fleet(t), Guards: asked, Executor: plan.NewRecorded(usEast(t)), World: world})
	before := map[string]int{}
	for _, req := range asked.asked {
		if req.Plan.Now != "2026-05-04T09:00:00+02:00" || req.Plan.ToolCalls != before[req.Tool] {
			t.Errorf("%s %s after %d calls: %+v", req.Kind, req.Tool, before[req.Tool], req.Plan)
		}
		if req.Kind == guardsdk.KindStep {
			before[req.Tool]++
		}
	}
	if len(before) == len(asked.asked)-1 {
		t.Error("no tool is called twice, so the count is not tested")
	}

	timeless := &guards{}
	run(t, plan.Config{Scenario: fleet(t), Guards: timeless, Executor: plan.NewRecorded(usEast(t))})
	if now := timeless.asked[0].Plan.Now; now != "" {
		t.Errorf("a plan without a clock said %s", now)
	}
}

func TestARunOnLiveOutputsIsSteeredFull(t *testing.T) {
	served := plan.NewRecorded(usEast(t))
	asked := &guards{}
	var seen []plan.StepResult
	result := run(t, plan.Config{Scenario: fleet(t), Guards: asked, Executor: served, OnStep: func(r plan.StepResult) { seen = append(seen, r) }})
	if result.Outcome != outcome.SteeredFull || result.HandOver != "" || len(seen) != 5 {
		t.Errorf("outcome %s, %d steps, note %q", result.Outcome, len(seen), result.HandOver)
	}
	var kinds []guardsdk.Kind
	for _, req := range asked.asked {
		kinds = append(kinds, req.Kind)
	}
	want := []guardsdk.Kind{"value", "step", "step", "step", "step", "step"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	value := asked.asked[0]
	if value.Parameter != "region" || string(value.Sample) != `"eu-west"` || value.Plan.Risk != guardsdk.RiskWrites {
		t.Errorf("the value question: %+v", value)
	}
	if diff := cmp.Diff([]guardsdk.String{{Path: "value", Value: "us-east"}, {Path: "sample", Value: "eu-west"}}, value.Strings); diff != "" {
		t.Errorf("strings (-want +got):\n%s", diff)
	}
}

func TestARecordedValueIsNotAskedAbout(t *testing.T) {
	rec, _ := enginetest.Load(t, "../calc/testdata/fleet.txtar")
	asked := &guards{deny: func(req guardsdk.Request) string {
		if req.Kind == guardsdk.KindValue {
			return "asked about a sample"
		}
		return ""
	}}
	s := fleet(t)
	result := run(t, plan.Config{Scenario: s, Params: params(t, s, s.Intent), Guards: asked, Executor: plan.NewRecorded(rec), Dry: true})
	if !result.Done() || !result.Unchanged {
		t.Errorf("stopped: %s", result.Error)
	}
}

// serve makes an executor that serves the us-east recording, but for one step.
func serve(at int, answer func() (json.RawMessage, error)) func(*testing.T) plan.Executor {
	return func(t *testing.T) plan.Executor {
		served := plan.NewRecorded(usEast(t))
		return &executor{answer: func(step engine.Step) (json.RawMessage, error) {
			if step.StepIndex == at {
				return answer()
			}
			return served.Execute(t.Context(), step, nil)
		}}
	}
}

func TestPlansStopAndSayWhatMayBeAssumed(t *testing.T) {
	tests := map[string]struct {
		executor func(*testing.T) plan.Executor
		steps    int
		stage    plan.Stage
		status   plan.Status
		outcome  outcome.Outcome
		note     []string
	}{
		"not sent": {
			serve(1, func() (json.RawMessage, error) { return nil, notSent{errors.New("no proxy for fleet")} }),
			1, plan.StageExecute, plan.StatusSkipped, outcome.Failed,
			[]string{"Nothing was done", "Step 1 of 5", "had no effect: no proxy for fleet"},
		},
		"sent, and no answer": {
			serve(5, func() (json.RawMessage, error) { return nil, errors.New("connection reset") }),
			5, plan.StageExecute, plan.StatusSkipped, outcome.FellBack,
			[]string{"steps 1 to 4 of 5", "no answer came (connection reset)", "effect is unknown", `region = "us-east"`},
		},
		"a tool error": {
			serve(2, func() (json.RawMessage, error) {
				return json.RawMessage(`{"isError":true,"content":[{"type":"text","text":"ENOENT"}]}`), nil
			}),
			2, plan.StageTool, plan.StatusSkipped, outcome.FellBack,
			[]string{"step 1 of 5", "reported an error (ENOENT)", "3. mcp__fleet__read_text_file"},
		},
		"an unreadable output": {
			serve(2, func() (json.RawMessage, error) { return json.RawMessage(enginetest.TextResult("[]")), nil }),
			2, plan.StageOutput, plan.StatusFailed, outcome.FellBack,
			[]string{"was carried out", "no devices in the output", "must not be sent again"},
		},
		"an empty list": {
			serve(2, func() (json.RawMessage, error) {
				return json.RawMessage(enginetest.TextResult(`{"devices":[]}`)), nil
			}),
			2, plan.StageOutput, plan.StatusFailed, outcome.FellBack,
			[]string{"no device with a risk in the output"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			result := run(t, plan.Config{Scenario: fleet(t), Guards: &guards{}, Executor: test.executor(t)})
			if len(result.Steps) != test.steps {
				t.Fatalf("%d steps: %+v", len(result.Steps), result)
			}
			last := result.Steps[len(result.Steps)-1]
			if result.Stage != test.stage || last.Status != test.status || result.Outcome != test.outcome {
				t.Errorf("stage %s, status %s, outcome %s: %s", result.Stage, last.Status, result.Outcome, result.Error)
			}
			if !strings.HasPrefix(result.HandOver, bundle.Opening) {
				t.Errorf("the note opens otherwise: %q", result.HandOver)
			}
			for _, want := range test.note {
				if !strings.Contains(result.HandOver, want) {
					t.Errorf("the note lacks %q:\n%s", want, result.HandOver)
				}
			}
		})
	}
}

func TestDeniedStepNeverReachesTheExecutor(t *testing.T) {
	sent := &executor{}
	denied := &guards{deny: func(req guardsdk.Request) string {
		if req.Kind == guardsdk.KindStep {
			return "not today"
		}
		return ""
	}}
	result := run(t, plan.Config{Scenario: fleet(t), Guards: denied, Executor: sent})
	if len(sent.sent) != 0 || result.Stage != plan.StageGuard || !strings.Contains(result.HandOver, "not today") {
		t.Errorf("sent %v, stopped at %s: %s", sent.sent, result.Stage, result.HandOver)
	}
}

func TestDeniedValueDeclinesBeforeAnyStep(t *testing.T) {
	sent := &executor{}
	denied := &guards{deny: func(req guardsdk.Request) string {
		if strings.Contains(string(req.Value), ";") {
			return "shell metacharacters"
		}
		return ""
	}}
	s := fleet(t)
	hostile := params(t, s, "find the riskiest device in region eu-west; rm -rf / and write its report")
	result := run(t, plan.Config{Scenario: s, Params: hostile, Guards: denied, Executor: sent, Dry: true})
	if len(sent.sent) != 0 || result.Outcome != outcome.NotSteered || len(result.Steps) != 0 {
		t.Errorf("sent %v, outcome %s", sent.sent, result.Outcome)
	}
	if !strings.Contains(result.Error, "a guard refused region: shell metacharacters") {
		t.Errorf("the reason: %s", result.Error)
	}
}

func TestWithoutGuardsNothingIsAllowed(t *testing.T) {
	sent := &executor{}
	result := run(t, plan.Config{Scenario: fleet(t), Executor: sent, Dry: true})
	if len(sent.sent) != 0 || result.Done() {
		t.Errorf("sent %v: %+v", sent.sent, result)
	}
}

func TestAMissingTargetDeclines(t *testing.T) {
	result := run(t, plan.Config{Scenario: fleet(t), Params: map[string]json.RawMessage{}, Guards: &guards{}, Executor: &executor{}})
	if result.Outcome != outcome.NotSteered || !strings.Contains(result.Error, "does not say region") {
		t.Errorf("%s: %s", result.Outcome, result.Error)
	}
}

func TestAFrozenStepStopsOtherParameters(t *testing.T) {
	s := fleet(t)
	s.Steps[1].Frozen, s.Steps[1].FrozenReason = true, "nothing explains it"
	result := run(t, plan.Config{Scenario: s, Guards: &guards{}, Executor: plan.NewRecorded(usEast(t)), Dry: true})
	if result.Stage != plan.StageFrozen || len(result.Steps) != 2 {
		t.Errorf("stopped at %s after %d steps", result.Stage, len(result.Steps))
	}
}

// TestAGuardIsToldTheNameOfABuiltInTool: it has no server, and no name there.
func TestAGuardIsToldTheNameOfABuiltInTool(t *testing.T) {
	s := fleet(t)
	s.Steps[0].ToolName, s.Steps[0].ServerName, s.Steps[0].UpstreamTool = "Bash", "", ""
	g := &guards{}
	result := run(t, plan.Config{Scenario: s, Guards: g, Executor: &executor{answer: func(engine.Step) (json.RawMessage, error) {
		return nil, notSent{errors.New("the host calls it")}
	}}})
	asked := g.asked[len(g.asked)-1]
	if asked.Tool != "Bash" || asked.Server != "" || asked.Plan.Risk != guardsdk.RiskRuns {
		t.Errorf("a guard was asked about %q of %q, risk %s", asked.Tool, asked.Server, asked.Plan.Risk)
	}
	if !strings.Contains(result.HandOver, "(Bash) was not sent and had no effect") {
		t.Errorf("%s", result.HandOver)
	}
}

func TestACancelledPlanStartsNoFurtherStep(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	served := plan.NewRecorded(usEast(t))
	s := fleet(t)
	p := plan.New(plan.Config{
		Scenario: s, Params: params(t, s, usEastPrompt), Evaluator: pool, Guards: &guards{}, Executor: served,
		OnStep: func(r plan.StepResult) {
			if r.StepIndex == 2 {
				cancel()
			}
		},
	})
	result, err := p.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(served.Comparisons()) != 2 || result.Outcome != outcome.FellBack || !strings.Contains(result.HandOver, "cancelled") {
		t.Errorf("%d sent, outcome %s: %s", len(served.Comparisons()), result.Outcome, result.HandOver)
	}
}

func TestAStepIsBoundedInTime(t *testing.T) {
	waits := &waiting{}
	result := run(t, plan.Config{Scenario: fleet(t), Guards: &guards{}, Executor: waits, StepTimeout: time.Millisecond})
	if !result.Steps[0].MayHaveRun || !strings.Contains(result.HandOver, "no answer came") {
		t.Errorf("%+v\n%s", result.Steps, result.HandOver)
	}
}

// waiting answers nothing until its context ends.
type waiting struct{}

func (*waiting) Execute(ctx context.Context, _ engine.Step, _ json.RawMessage) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestARunThatDiffersIsShownSideBySide(t *testing.T) {
	other := usEast(t)
	other.Calls[1].Input = json.RawMessage(`{"path":"/data/fleet/us-east/machines.json"}`)
	recorded := plan.NewRecorded(other)
	run(t, plan.Config{Scenario: fleet(t), Guards: &guards{}, Executor: recorded, Dry: true})
	want := plan.Comparison{
		StepIndex: 2, ToolName: "mcp__fleet__read_text_file",
		Difference: `path: want "/data/fleet/us-east/machines.json", got "/data/fleet/us-east/devices.json"`,
	}
	if diff := cmp.Diff(want, recorded.Comparisons()[1], cmpopts.IgnoreFields(plan.Comparison{}, "Sent", "Computed")); diff != "" {
		t.Error(diff)
	}
}

func TestRisksAreReadFromNamesInAnyConvention(t *testing.T) {
	tests := map[guardsdk.Risk][]string{
		guardsdk.RiskRuns:   {"Bash", "PowerShell", "run_sql", "runSql", "RunSQL", "execute-query", "pg_query", "shellExec", "run_command", "terminal_run"},
		guardsdk.RiskWrites: {"Write", "Edit", "MultiEdit", "NotebookEdit", "write_file", "editFile", "create_directory", "move_file"},
		guardsdk.RiskNone:   {"read_text_file", "list_directory", "search_issues", "Read", "get_weather"},
	}
	for want, tools := range tests {
		for _, tool := range tools {
			s := engine.Scenario{Steps: []engine.Step{{ToolName: "mcp__x__" + tool, ServerName: "x", UpstreamTool: tool}}}
			if got := plan.RiskOf(s); got != want {
				t.Errorf("%s: %s, want %s", tool, got, want)
			}
		}
	}
	server := engine.Scenario{Steps: []engine.Step{{ToolName: "mcp__postgres__read", ServerName: "postgres", UpstreamTool: "read"}}}
	if got := plan.RiskOf(server); got != guardsdk.RiskRuns {
		t.Errorf("a tool of a database server: %s", got)
	}
}

func TestARedactedSecretIsNeverSent(t *testing.T) {
	sent := &executor{}
	s := fleet(t)
	s.Steps[0].ToolInputLogic = `return { path: "/data", token: "[redacted:jwt]" };`
	result := run(t, plan.Config{Scenario: s, Guards: &guards{}, Executor: sent})
	if len(sent.sent) != 0 || result.Stage != plan.StageRedacted {
		t.Errorf("sent %v, stopped at %q: %s", sent.sent, result.Stage, result.Error)
	}
}
