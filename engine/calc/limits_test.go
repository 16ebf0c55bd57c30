package calc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/calc"
	"github.com/bir-run/bir/engine/enginetest"
	"github.com/bir-run/bir/sandbox"
)

func read(input, text string) engine.Call {
	return engine.Call{
		ToolName: "mcp__x__read", ServerName: "x", UpstreamTool: "read",
		Input: json.RawMessage(input), Output: enginetest.TextResult(text),
	}
}

// timed adds up what the evaluator takes, which depends on the load of the machine.
type timed struct {
	engine.Evaluator
	took time.Duration
}

func (ev *timed) Eval(ctx context.Context, body sandbox.Body, args sandbox.Args) (sandbox.Result, error) {
	start := time.Now()
	defer func() { ev.took += time.Since(start) }()
	return ev.Evaluator.Eval(ctx, body, args)
}

// A long recording: 200 calls, each with a list of its own.
func TestALongRecordingIsCalculatedInTime(t *testing.T) {
	rec := engine.Recording{Prompt: "walk the chain from node n-0 in region eu-west", RecordedAt: enginetest.RecordedAt}
	for i := range 200 {
		var items []string
		for j := range 50 {
			items = append(items, fmt.Sprintf(`{"id":"n-%d-%d","weight":%d,"owner":"Ada Lovelace","state":"active"}`, i, j, (j*37+i)%101))
		}
		id := "n-0"
		if i > 0 {
			id = fmt.Sprintf("n-%d-0", i-1)
		}
		input := fmt.Sprintf(`{"path":"/eu-west/%s","owner":"Ada Lovelace"}`, id)
		rec.Calls = append(rec.Calls, read(input, `{"items":[`+strings.Join(items, ",")+`]}`))
	}
	ev, start := &timed{Evaluator: pool}, time.Now()
	s, err := calc.Calculate(t.Context(), ev, rec)
	if err != nil {
		t.Fatal(err)
	}
	if s.State != engine.StateReady {
		t.Fatal(s.Problem)
	}
	own := time.Since(start) - ev.took
	t.Logf("explaining took %s, evaluating %s", own, ev.took)
	// What compares each value with each other one takes minutes, on any machine.
	if own > time.Minute {
		t.Errorf("200 calls took %s besides the evaluations", own)
	}
}

func TestARecordingWithoutAResultCannotBeCalculated(t *testing.T) {
	failed := read(`{}`, "x")
	failed.Failed = true
	for name, calls := range map[string][]engine.Call{"no calls": nil, "only failed ones": {failed}} {
		_, err := calc.Calculate(t.Context(), pool, engine.Recording{Prompt: "x", Calls: calls})
		if !errors.Is(err, calc.ErrNoCalls) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAScenarioOfFrozenStepsIsNotReady(t *testing.T) {
	first := read(`{"text":"zz-1.0"}`, "x")
	first.Input = json.RawMessage(`{"id":"m-17","n":1.0}`)
	s, err := calc.Calculate(t.Context(), pool, engine.Recording{Prompt: "store m-17", Calls: []engine.Call{first}})
	if err != nil {
		t.Fatal(err)
	}
	if s.State != engine.StateFailed || !s.Steps[0].Frozen || !strings.Contains(s.Problem, "no step could be explained") {
		t.Errorf("state %s, problem %q", s.State, s.Problem)
	}
}

// unusable is an evaluator that cannot be used.
type unusable struct{}

func (unusable) Eval(context.Context, sandbox.Body, sandbox.Args) (sandbox.Result, error) {
	return sandbox.Result{}, &sandbox.Error{Type: sandbox.TypeSandbox, Message: "no worker"}
}

func TestWithoutAnEvaluatorNothingIsReady(t *testing.T) {
	_, err := calc.Calculate(t.Context(), unusable{}, engine.Recording{Prompt: "x", Calls: []engine.Call{read(`{}`, "x")}})
	if err == nil {
		t.Error("a scenario was calculated without a proof")
	}
}

func TestOddInputsAreReproducedOrFrozen(t *testing.T) {
	prompts := []string{"", "read a-1 now", "\"", "'''", "a=b=c", "été ☃ a-1", strings.Repeat("a-1 ", 500)}
	inputs := []string{
		`{}`, `{"a":null}`, `{"a":[]}`, `{"a":{}}`, `{"":""}`, `{"__proto__":{"x":1}}`, `{"constructor":"a-1"}`,
		`{"a":"${params.x}"}`, "{\"a\":\"`a-1` \\\\ \\u2028 \\u0000\"}", `{"a":"\r\n\r\n"}`, `{"a":"\ud83d"}`, `{"a":1e400}`,
		`{"a":[[["a-1"]]],"b":{"c":{"d":"a-1"}}}`, `{"a":"a-1a-1 a-1"}`, `{"a-1":"a-1"}`,
	}
	outputs := []string{``, `null`, `[]`, `{`, `"a-1"`, `{"a":"a-1","__proto__":{"y":"zz-99"}}`, `[[["zz-99"]]]`, "zz-99\r\nzz-98: zz-97\r\n", `{"x":[{"k":"zz-99"},{"k":"zz-99"}]}`}
	for _, prompt := range prompts {
		for i, output := range outputs {
			rec := engine.Recording{Prompt: prompt, RecordedAt: enginetest.RecordedAt}
			for _, input := range inputs {
				rec.Calls = append(rec.Calls, read(input, output))
			}
			rec.Calls = append(rec.Calls, read(`{"a":"zz-99","b":"zz-97","c":["zz-99"]}`, output))
			if i%2 == 1 {
				rec.Calls[0].Output = output
			}
			s, err := calc.Calculate(t.Context(), pool, rec)
			if err != nil {
				t.Fatalf("%q, %q: %v", prompt, output, err)
			}
			if s.State != engine.StateReady {
				t.Errorf("%q, %q: %s", prompt, output, s.Problem)
			}
		}
	}
}

func TestAnInputThatHeldASecretIsFrozen(t *testing.T) {
	open := read(`{"name":"ada"}`, "ok")
	secret := read(`{"name":"ada","token":"[redacted]"}`, "ok")
	s, err := calc.Calculate(t.Context(), pool, engine.Recording{Prompt: "open ada", Calls: []engine.Call{open, secret}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Steps[0].Frozen || !s.Steps[1].Frozen || !strings.Contains(s.Steps[1].FrozenReason, "secret") {
		t.Errorf("steps %+v", s.Steps)
	}
}

func TestSmallNumbersBesideComputedValuesAreNamed(t *testing.T) {
	told := read(`{"message":"the total for ada-lovelace is 42"}`, "told")
	s, err := calc.Calculate(t.Context(), pool, engine.Recording{Prompt: "tell ada-lovelace her total", Calls: []engine.Call{told}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.Steps[0].Reasoning, `Kept as recorded: "42"`) {
		t.Errorf("reasoning: %s\n%s", s.Steps[0].Reasoning, s.Steps[0].ToolInputLogic)
	}
}
