package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

func TestHalvesComeInAnyOrder(t *testing.T) {
	for name, order := range map[string]string{"wire first": "wpb", "hook first": "pwb"} {
		d := newDesk(t)
		d.proxy("fake")
		d.ask("go")
		d.pre("t1", "mcp__fake__echo", obj{"message": "x"})
		for _, half := range order {
			switch half {
			case 'w':
				d.wire("fake", "echo", "t1")
			case 'p':
				d.post("t1", "mcp__fake__echo", obj{"message": "x"}, []obj{{"type": "text", "text": "shown"}})
			}
		}
		d.stop("done")
		d.wait(time.Minute)
		steps := d.one().steps(t)
		if len(steps) != 1 || string(steps[0].Result) != `{"content":[{"type":"text","text":"from the wire"}]}` {
			t.Errorf("%s: %+v", name, steps)
		}
	}
}

func TestHookAloneCountsWhereTheProxyIsSilent(t *testing.T) {
	d := newDesk(t)
	d.proxy("fake")
	d.ask("go")
	d.pre("t1", "mcp__fake__echo", obj{"message": "x"})
	d.post("t1", "mcp__fake__echo", obj{"message": "x"}, "shown")
	_, open, _, _ := d.book.Health()
	if open[0].Pending != 1 || open[0].Steps != 0 {
		t.Errorf("before the grace: %+v", open[0])
	}
	d.wait(2 * time.Second)
	_, open, _, _ = d.book.Health()
	if open[0].Pending != 0 || open[0].Steps != 1 {
		t.Errorf("after the grace: %+v", open[0])
	}
	d.wire("fake", "echo", "t1") // not reported yet, so it still counts
	d.stop("done")
	d.wait(time.Minute)
	d.wire("fake", "echo", "t1") // and this is nothing any more
	d.wait(time.Minute)
	if steps := d.one().steps(t); string(steps[0].Result) == `"shown"` || steps[0].Attempts != 0 {
		t.Errorf("%+v", steps)
	}
}

func TestCallsOnlyTheHostKnowsTheEndOf(t *testing.T) {
	for want, tell := range map[recorder.Status]func(*desk){
		recorder.StatusDenied: func(d *desk) {
			d.hook("PostToolBatch", obj{"tool_calls": []obj{{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": obj{}, "tool_response": "PreToolUse:Bash hook error: because"}}})
			d.stop("")
		},
		recorder.StatusInvalid: func(d *desk) {
			d.hook("PostToolBatch", obj{"tool_calls": []obj{{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": obj{}, "tool_response": "<tool_use_error>InputValidationError: no"}}})
			d.stop("")
		},
		recorder.StatusRejected: func(d *desk) {
			d.hook("PermissionRequest", obj{"tool_name": "Bash"})
			d.prompt = "p2"
			d.ask("next")
			d.stop("")
		},
		recorder.StatusInterrupted: func(d *desk) { d.prompt = "p2"; d.ask("next"); d.stop("") },
		recorder.StatusUnreported:  func(d *desk) { d.stop("") },
		recorder.StatusToolError: func(d *desk) {
			d.hook("PostToolUseFailure", obj{"tool_name": "Bash", "tool_use_id": "t1", "error": "Exit code 1"})
			d.stop("")
		},
	} {
		d := newDesk(t)
		d.ask("go")
		d.pre("t1", "Bash", obj{"command": "x"})
		tell(d)
		d.wait(time.Minute)
		r := d.kept.all()[0]
		steps := r.steps(t)
		if len(steps) != 1 || steps[0].Status != want || r.finish == nil {
			t.Errorf("%s: %+v", want, steps)
		}
		if r.finish.Lossy != (want == recorder.StatusUnreported) {
			t.Errorf("%s: lossy is %v", want, r.finish.Lossy)
		}
	}
}

func TestCallSentTwiceIsOneStepWithTwoAttempts(t *testing.T) {
	d := newDesk(t)
	d.proxy("fake")
	d.ask("go")
	d.pre("t1", "mcp__fake__echo", obj{"message": "x"})
	d.wire("fake", "echo", "t1", func(r *client.StepReport) {
		r.Status, r.Result, r.Error = recorder.StatusRPCError, nil, "session not found"
	})
	d.clock.add(time.Second)
	d.wire("fake", "echo", "t1")
	d.post("t1", "mcp__fake__echo", obj{"message": "x"}, "shown")
	d.stop("done")
	d.wait(time.Minute)
	steps := d.one().steps(t)
	if len(steps) != 1 || steps[0].Attempts != 2 || steps[0].Status != recorder.StatusOK || steps[0].Error != "" {
		t.Errorf("%+v", steps)
	}
}

func TestReportSentTwiceCountsOnce(t *testing.T) {
	d := newDesk(t)
	d.proxy("fake")
	d.ask("go")
	d.pre("t1", "mcp__fake__echo", obj{"message": "x"})
	d.wire("fake", "echo", "t1")
	d.reports--
	d.wire("fake", "echo", "t1")
	d.post("t1", "mcp__fake__echo", obj{"message": "x"}, "shown")
	d.stop("done")
	d.wait(time.Minute)
	if steps := d.one().steps(t); len(steps) != 1 || steps[0].Attempts != 0 {
		t.Errorf("%+v", steps)
	}
}

func TestCallsWithoutAnIDAreJoinedByFingerprint(t *testing.T) {
	d := newDesk(t)
	d.proxy("fake")
	d.ask("go")
	args := json.RawMessage(`{"b":1.0,"a":"x"}`)
	print := client.Fingerprint("00ff", "fake", "echo", args)
	d.pre("t1", "mcp__fake__echo", obj{"a": "other"})
	d.pre("t2", "mcp__fake__echo", obj{"a": "x", "b": json.RawMessage("1.0")})
	byPrint := func(r *client.StepReport) { r.Fingerprint, r.Args = print, args }
	d.wire("fake", "echo", "", byPrint)
	d.post("t2", "mcp__fake__echo", obj{"a": "x", "b": json.RawMessage("1.0")}, "shown")
	d.post("t1", "mcp__fake__echo", obj{"a": "other"}, "shown 1")
	d.stop("done")
	d.wait(time.Minute)
	for _, s := range d.one().steps(t) {
		if wire := string(s.Result) != `"shown 1"`; wire != (s.ID == "t2") {
			t.Errorf("%s has %s", s.ID, s.Result)
		}
	}
}

func TestFingerprintHoldsForTenMinutes(t *testing.T) {
	for wait, joined := range map[time.Duration]bool{9 * time.Minute: true, 11 * time.Minute: false} {
		d := newDesk(t)
		d.proxy("fake")
		d.ask("go")
		d.pre("t1", "mcp__fake__echo", obj{"message": "x"})
		d.clock.add(wait)
		d.wire("fake", "echo", "", func(r *client.StepReport) {
			r.Fingerprint = client.Fingerprint("00ff", "fake", "echo", json.RawMessage(`{"message":"x"}`))
		})
		d.post("t1", "mcp__fake__echo", obj{"message": "x"}, "shown")
		d.stop("done")
		d.wait(time.Minute)
		if n := len(d.one().steps(t)); (n == 1) != joined {
			t.Errorf("after %v: %d steps", wait, n)
		}
	}
}

func TestInjectedIDRidesOnlyWhereSomebodyTakesItOut(t *testing.T) {
	on := func(c *Config) { c.CallIDs = true }
	d := newDesk(t, on)
	d.proxy("fake")
	d.ask("go")
	answer := d.pre("t1", "mcp__fake__echo", obj{"message": "x"})
	if !strings.Contains(answer, callIDKey) || strings.Contains(answer, "permissionDecision") || !strings.Contains(answer, `"message":"x"`) {
		t.Errorf("answer %s", answer)
	}
	id := gjson.Get(answer, "hookSpecificOutput.updatedInput."+callIDKey).String()
	d.wire("fake", "echo", "", func(r *client.StepReport) { r.CallID = id })
	d.post("t1", "mcp__fake__echo", obj{"message": "x", callIDKey: id}, "shown")
	for name, answer := range map[string]string{
		"a built-in tool": d.pre("t2", "Bash", obj{}),
		"no proxy":        d.pre("t3", "mcp__other__echo", obj{}),
		"plan mode":       d.hook("PreToolUse", obj{"tool_use_id": "t4", "tool_name": "mcp__fake__echo", "tool_input": obj{}, "permission_mode": "plan"}),
	} {
		if answer != "{}" {
			t.Errorf("%s: %s", name, answer)
		}
	}
	d.pre("t5", "mcp__fake__echo", obj{"message": "x"})
	d.wire("fake", "echo", "t5") // hands no id back
	if answer := d.pre("t6", "mcp__fake__echo", obj{}); answer != "{}" {
		t.Errorf("an id for a proxy that hands none back: %s", answer)
	}
	d.stop("done")
	d.wait(time.Minute)
	if first := d.one().steps(t)[0]; string(first.Result) == `"shown"` || strings.Contains(string(first.Args)+string(first.Asked), callIDKey) {
		t.Errorf("%+v", first)
	}
}

func TestCallThatNoHookTellsOfGoesToItsSession(t *testing.T) {
	d := newDesk(t)
	d.proxy("fake")
	d.ask("go")
	d.wire("fake", "echo", "") // of a hook of type mcp_tool, say
	d.hook("SessionEnd", obj{"reason": "other"})
	d.wait(time.Minute)
	if steps := d.one().steps(t); len(steps) != 1 || steps[0].Status != recorder.StatusOK {
		t.Errorf("%+v", steps)
	}
}

func TestReportThatOvertakesItsHookIsJoined(t *testing.T) {
	d := newDesk(t)
	d.proxy("fake")
	d.ask("go")
	d.wire("fake", "echo", "t1")
	d.pre("t1", "mcp__fake__echo", obj{"message": "x"})
	d.post("t1", "mcp__fake__echo", obj{"message": "x"}, "shown")
	d.stop("done")
	d.wait(time.Minute)
	if steps := d.one().steps(t); len(steps) != 1 || string(steps[0].Result) == `"shown"` || steps[0].Attempts != 0 {
		t.Errorf("%+v", steps)
	}
}

func TestEndWithoutABeginningIsACall(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.post("t1", "Bash", obj{"command": "ls"}, "x")
	d.hook("PostToolUseFailure", obj{"tool_use_id": "t2", "tool_name": "Bash", "tool_input": obj{}, "error": "stopped", "is_interrupt": true})
	d.hook("PostToolBatch", obj{"tool_calls": []obj{
		{"tool_use_id": "t1", "tool_name": "Bash", "tool_input": obj{}, "tool_response": "x"},
		{"tool_use_id": "t3", "tool_name": "Bash", "tool_input": obj{"a": 1}, "tool_response": "<tool_use_error>no"},
	}})
	d.post("t1", "Bash", obj{"command": "ls"}, "told twice")
	d.pre("t1", "Bash", obj{"command": "ls"})
	d.stop("done")
	d.wait(time.Minute)
	var got []string
	for _, s := range d.one().steps(t) {
		got = append(got, fmt.Sprint(s.ID, " ", s.Status, " ", string(s.Args), " ", s.Duration))
	}
	want := []string{`t1 ok {"command":"ls"} 5ms`, `t2 interrupted {} 0s`, `t3 invalid {"a":1} 0s`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDeniedByTheClassifier(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.userSays("go")
	d.pre("t1", "Bash", obj{})
	d.hook("PermissionDenied", obj{"tool_use_id": "t1", "tool_name": "Bash", "reason": "Classifier unavailable"})
	d.modelSays("s1.jsonl", uses("t1", "x"))
	d.writes("s1.jsonl", obj{"type": "user", "message": obj{"content": []obj{{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": []obj{{"type": "text", "text": "a text of its own"}}}}}})
	d.stop("done")
	d.wait(time.Minute)
	if s := d.one().steps(t); s[0].Status != recorder.StatusDenied || s[0].Error != "a text of its own" {
		t.Errorf("%+v", s)
	}
}

func TestEqualCallsAtOnceAreJoinedOldestFirst(t *testing.T) {
	d := newDesk(t)
	d.proxy("fake")
	d.ask("go")
	print := client.Fingerprint("00ff", "fake", "echo", json.RawMessage(`{"message":"x"}`))
	d.pre("t1", "mcp__fake__echo", obj{"message": "x"})
	d.pre("t2", "mcp__fake__echo", obj{"message": "x"})
	for n := range 2 {
		d.wire("fake", "echo", "", func(r *client.StepReport) {
			r.Fingerprint, r.Result = print, json.RawMessage(fmt.Sprint(`{"n":`, n+1, `}`))
		})
		d.clock.add(time.Millisecond)
	}
	d.post("t1", "mcp__fake__echo", obj{"message": "x"}, "shown")
	d.post("t2", "mcp__fake__echo", obj{"message": "x"}, "shown")
	d.stop("done")
	d.wait(time.Minute)
	for n, s := range d.one().steps(t) {
		if s.ID != fmt.Sprint("t", n+1) || string(s.Result) != fmt.Sprint(`{"n":`, n+1, `}`) {
			t.Errorf("%+v", s)
		}
	}
}

// An mcp_tool hook's call carries no id where the model's do: it is none of those.
func TestCallOfAHookIsNotTheModels(t *testing.T) {
	d := newDesk(t)
	d.proxy("fake")
	d.ask("go")
	print := client.Fingerprint("00ff", "fake", "echo", json.RawMessage(`{"message":"x"}`))
	mark := func(r *client.StepReport) { r.Fingerprint = print }
	d.pre("t1", "mcp__fake__echo", obj{"message": "x"})
	d.wire("fake", "echo", "t1", mark)
	d.post("t1", "mcp__fake__echo", obj{"message": "x"}, "shown")
	d.pre("t2", "mcp__fake__echo", obj{"message": "x"})
	d.wire("fake", "echo", "", mark)
	d.wire("fake", "echo", "t2", mark)
	d.post("t2", "mcp__fake__echo", obj{"message": "x"}, "shown")
	d.stop("done")
	d.wait(time.Minute)
	steps := d.one().steps(t)
	if len(steps) != 3 {
		t.Fatalf("%d steps", len(steps))
	}
	for _, s := range steps {
		if s.Attempts != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestStepsWithoutAnIDOrAToolAreRefused(t *testing.T) {
	d := newDesk(t)
	for _, r := range []client.StepReport{{ToolName: "x"}, {ID: "rep_1"}} {
		if err := d.book.Step(r); !errors.Is(err, ErrReport) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
