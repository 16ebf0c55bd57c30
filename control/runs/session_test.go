package runs

import (
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

func TestTurnIsOneOrderedRun(t *testing.T) {
	d := newDesk(t)
	d.hook("SessionStart", obj{"source": "startup"})
	d.proxy("fake")
	d.ask("say hi")
	d.pre("t1", "Bash", obj{"command": "ls"})
	d.post("t1", "Bash", obj{"command": "ls -a"}, obj{"stdout": "."})
	d.pre("t2", "mcp__fake__echo", obj{"message": "x"})
	d.wire("fake", "echo", "t2")
	d.post("t2", "mcp__fake__echo", obj{"message": "x"}, []obj{{"type": "text", "text": "from the hook"}})
	d.stop("done")
	d.wait(time.Minute)
	r := d.one()
	if r.Input != "say hi" || r.finish.Output != "done" || r.finish.Lossy || r.Metadata.Tier != recorder.TierBound {
		t.Errorf("run %+v, end %+v", r.Run, r.finish)
	}
	steps := r.steps(t)
	if len(steps) != 2 || steps[0].ToolName != "Bash" || steps[1].ServerName != "fake" || steps[1].ToolName != "echo" {
		t.Fatalf("steps %+v", steps)
	}
	if string(steps[0].Asked) != `{"command":"ls"}` || string(steps[0].Args) != `{"command":"ls -a"}` {
		t.Errorf("asked %s, ran %s", steps[0].Asked, steps[0].Args)
	}
	if string(steps[1].Result) != `{"content":[{"type":"text","text":"from the wire"}]}` {
		t.Errorf("result %s", steps[1].Result)
	}
	if r.finish.Answer.Index != 4 {
		t.Errorf("the answer stands at %d", r.finish.Answer.Index)
	}
}

func TestListingServersMakesNoRun(t *testing.T) {
	d := newDesk(t)
	d.session = "throw-away"
	d.proxy("fake")
	d.wait(time.Hour)
	if runs := d.kept.all(); len(runs) != 0 {
		t.Errorf("%d runs", len(runs))
	}
}

func TestProxyWithoutHooksGetsARunOfItsOwn(t *testing.T) {
	d := newDesk(t)
	d.session = "no hooks"
	d.proxy("fake")
	d.wire("fake", "echo", "t1")
	d.wait(2 * time.Second)
	d.wire("fake", "echo", "t2")
	d.wait(2 * time.Second)
	d.wait(time.Hour)
	r := d.one()
	if steps := r.steps(t); len(steps) != 2 || r.Metadata.Tier != recorder.TierStandalone || r.finish.Lossy {
		t.Errorf("%d steps, run %+v", len(steps), r.Run)
	}
}

func TestTwoSessionsHaveTwoRuns(t *testing.T) {
	d := newDesk(t)
	d.proxy("fake")
	d.ask("one")
	d.session, d.prompt = "s2", "p2"
	d.ask("two")
	d.pre("t2", "mcp__fake__echo", obj{"message": "x"})
	d.wire("fake", "echo", "t2") // by the first session's proxy: the id counts
	d.post("t2", "mcp__fake__echo", obj{"message": "x"}, "shown")
	d.stop("two done")
	d.session, d.prompt = "s1", "p1"
	d.pre("t1", "Bash", obj{})
	d.post("t1", "Bash", obj{}, "x")
	d.stop("one done")
	d.wait(time.Minute)
	for _, r := range d.kept.all() {
		steps := r.steps(t)
		if r.finish == nil || r.finish.Output != r.Input+" done" || len(steps) != 1 {
			t.Errorf("%q: %+v, %d steps", r.Input, r.finish, len(steps))
		}
	}
	if len(d.kept.all()) != 2 {
		t.Errorf("%d runs", len(d.kept.all()))
	}
}

func TestClearKeepsTheProxiesOfTheSessionBefore(t *testing.T) {
	d := newDesk(t)
	d.hook("SessionStart", obj{"source": "startup"})
	d.proxy("fake")
	d.ask("one")
	d.stop("one done")
	d.hook("SessionEnd", obj{"reason": "clear"})
	d.session, d.prompt = "s2", "p2"
	d.hook("SessionStart", obj{"source": "clear"})
	d.ask("two")
	d.wire("fake", "echo", "t9") // whose hooks do not fire
	d.wait(2 * time.Second)
	d.stop("two done")
	d.wait(time.Minute)
	runs := d.kept.all()
	if len(runs) != 2 || len(runs[0].calls) != 0 || len(runs[1].calls) != 1 || runs[1].Metadata.SessionID != "s2" {
		t.Errorf("%d runs", len(runs))
	}
	for _, r := range runs {
		if r.Metadata.WrappedServers[0] != "fake" {
			t.Errorf("wrapped %v", r.Metadata.WrappedServers)
		}
	}
}

func TestHooksBlockOfAStopDoesNotSplitTheRun(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.stop("one")
	d.pre("t1", "Bash", obj{})
	d.wait(time.Minute) // the tool takes its time
	d.post("t1", "Bash", obj{}, "x")
	d.hook("Stop", obj{"last_assistant_message": "two", "stop_hook_active": true})
	d.wait(time.Minute)
	if r := d.one(); r.finish.Output != "two" || len(r.calls) != 1 || r.finish.Lossy {
		t.Errorf("%+v", r.finish)
	}
}

func TestBackgroundWorkHoldsItsRunOpen(t *testing.T) {
	d := newDesk(t)
	sub := func(o obj) obj { o["agent_id"], o["agent_type"] = "a1", "Explore"; return o }
	d.ask("go")
	d.pre("t1", "Agent", obj{})
	d.hook("SubagentStart", sub(obj{}))
	d.post("t1", "Agent", obj{}, obj{"status": "async_launched"})
	d.hook("PreToolUse", sub(obj{"tool_use_id": "t2", "tool_name": "Bash", "tool_input": obj{}}))
	d.hook("Stop", obj{"last_assistant_message": "main done", "background_tasks": []obj{{"id": "a1", "type": "subagent", "status": "running"}}})
	d.wait(time.Minute)
	d.prompt = "p2"
	d.ask("meanwhile")
	d.stop("answer meanwhile")
	d.wait(0)
	d.hook("PostToolUse", sub(obj{"tool_use_id": "t2", "tool_name": "Bash", "tool_response": "x"}))
	d.hook("SubagentStop", sub(obj{}))
	d.prompt = "p3"
	d.ask("<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>t1</tool-use-id>")
	d.stop("all done")
	d.wait(time.Minute)
	runs := d.kept.all()
	if len(runs) != 2 {
		t.Fatalf("%d runs", len(runs))
	}
	steps := runs[0].steps(t)
	if runs[0].Input != "go" || len(steps) != 2 || steps[1].AgentID != "a1" || steps[1].AgentType != "Explore" || runs[0].finish.Output != "all done" {
		t.Errorf("%q: %+v, %+v", runs[0].Input, steps, runs[0].finish)
	}
	if runs[1].finish.Output != "answer meanwhile" || len(runs[1].calls) != 0 {
		t.Errorf("%+v", runs[1].finish)
	}
}

func TestCommandsOfTheHostAreNoPrompts(t *testing.T) {
	d := newDesk(t)
	d.ask("/clear")
	d.ask("/compact be short")
	d.prompt = "p2"
	d.ask("/hello bob")
	d.hook("UserPromptExpansion", obj{"command_name": "hello", "command_args": "bob", "prompt": "say hello to bob"})
	d.stop("hello")
	d.wait(time.Minute)
	if r := d.one(); r.Input != "say hello to bob" {
		t.Errorf("input %q", r.Input)
	}
}

func TestTurnedOffEndsTheRun(t *testing.T) {
	off := false
	d := newDesk(t, func(c *Config) { c.Off = func() bool { return off } })
	d.ask("go")
	d.pre("t1", "Bash", obj{})
	off = true
	if answer := d.pre("t2", "Bash", obj{}); answer != "{}" {
		t.Errorf("answer %s", answer)
	}
	d.stop("done")
	if r := d.one(); !r.finish.Lossy || len(r.calls) != 1 {
		t.Errorf("%+v, %d calls", r.finish, len(r.calls))
	}
}

func TestHostThatWasKilledEndsItsSession(t *testing.T) {
	alive := true
	d := newDesk(t, func(c *Config) { c.Alive = func(int) bool { return alive } })
	d.proxy("fake")
	d.ask("go")
	d.pre("t1", "Bash", obj{})
	d.wait(time.Hour) // a person reads a prompt
	if _, open, _, _ := d.book.Health(); len(open) != 1 {
		t.Fatalf("%d open runs", len(open))
	}
	alive = false
	d.wait(time.Minute)
	d.wait(20 * time.Minute)
	d.wait(time.Minute)
	r := d.one()
	if steps := r.steps(t); steps[0].Status != recorder.StatusInterrupted {
		t.Errorf("%+v", steps)
	}
	if !d.book.Idle(d.clock.Now()) {
		t.Error("not idle")
	}
}

func TestIdleIsWhenNobodyIsThere(t *testing.T) {
	alive := true
	d := newDesk(t, func(c *Config) { c.Alive = func(int) bool { return alive } })
	idle := func() bool { return d.book.Idle(d.clock.Now()) }
	if !idle() {
		t.Error("not idle at first")
	}
	d.hook("SessionStart", obj{"source": "startup"})
	if idle() {
		t.Error("idle with a session")
	}
	d.hook("SessionEnd", obj{"reason": "other"})
	d.proxy("fake")
	if idle() {
		t.Error("idle with a proxy")
	}
	if alive = false; !idle() {
		t.Error("not idle with a proxy that ended")
	}
	d.ask("go")
	if d.book.Idle(d.clock.add(13 * time.Hour)) {
		t.Error("idle with an open run")
	}
}

func TestHealthSaysWhoWasHeard(t *testing.T) {
	d := newDesk(t)
	d.proxy("fake")
	d.ask("go  and\nsee " + strings.Repeat("x", 500))
	d.hook("Elicitation", obj{})
	d.hook("Elicitation", obj{})
	d.hook("NotAnEvent", obj{})
	_, open, proxies, events := d.book.Health()
	if len(open) != 1 || !strings.HasPrefix(open[0].Prompt, "go and see xxx") || len(open[0].Prompt) > 130 {
		t.Errorf("%+v", open)
	}
	if len(proxies) != 1 || !proxies[0].Alive || !d.book.Wrapped("fake") || d.book.Wrapped("other") {
		t.Errorf("%+v", proxies)
	}
	if len(events) != 2 || events[0].Event != "UserPromptSubmit" || events[1].Count != 2 {
		t.Errorf("%+v", events)
	}
}

func TestLostReportsMarkTheRun(t *testing.T) {
	d := newDesk(t)
	d.proxy("fake")
	d.ask("go")
	d.pre("t1", "mcp__fake__echo", obj{})
	d.wire("fake", "echo", "t1", func(r *client.StepReport) { r.Lost = 3 })
	d.post("t1", "mcp__fake__echo", obj{}, "x")
	d.stop("done")
	d.wait(time.Minute)
	if !d.one().finish.Lossy {
		t.Error("the run is not lossy")
	}
}

func TestErrorOfTheAPIIsNoAnswer(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.hook("StopFailure", obj{"error": "rate_limit", "last_assistant_message": "API Error: 429"})
	d.wait(time.Minute)
	if r := d.one(); r.finish.Output != "" || r.finish.Answer.RowIDs[0] != "" {
		t.Errorf("%+v", r.finish)
	}
}

func TestSubagentThatOutlivesItsRunIsStillItsRuns(t *testing.T) {
	d := newDesk(t)
	sub := func(o obj) obj { o["agent_id"], o["agent_type"] = "a1", "Explore"; return o }
	d.ask("go")
	d.hook("SubagentStart", sub(obj{}))
	d.hook("Stop", obj{"last_assistant_message": "main done", "background_tasks": []obj{{"id": "a1", "type": "subagent", "status": "running"}}})
	d.wait(29 * time.Minute) // it is silent, but for a call
	d.hook("PreToolUse", sub(obj{"tool_use_id": "t1", "tool_name": "Bash", "tool_input": obj{}}))
	d.wait(2 * time.Minute)
	d.hook("PostToolUse", sub(obj{"tool_use_id": "t1", "tool_name": "Bash", "tool_response": "x"}))
	d.wait(time.Hour)
	d.wait(time.Hour)
	if r := d.one(); len(r.calls) != 1 || r.finish.Output != "main done" {
		t.Errorf("%+v", r.finish)
	}
}

func TestWorkThatIsNoSubagentEndsWithTheNextPrompt(t *testing.T) {
	d := newDesk(t)
	d.ask("start the server")
	d.hook("Stop", obj{"last_assistant_message": "it runs", "background_tasks": []obj{{"id": "b1", "type": "shell", "status": "running"}}})
	d.wait(time.Minute)
	if d.kept.all() != nil {
		t.Error("the run ended while its work was under way")
	}
	d.prompt = "p2"
	d.ask("next")
	if r := d.kept.all(); len(r) != 1 || r[0].finish == nil || r[0].finish.Output != "it runs" {
		t.Errorf("%d runs", len(r))
	}
}

func TestPromptThatNobodyHeardIsInTheTranscript(t *testing.T) {
	d := newDesk(t)
	d.userSays("start me")
	d.modelSays("s1.jsonl", speech("look"), uses("t1", "ls"))
	d.toolSays("s1.jsonl", "t1", "x")
	d.clock.add(time.Second)
	d.pre("t2", "Bash", obj{}) // the first that is heard
	d.post("t2", "Bash", obj{}, "y")
	d.stop("done")
	d.ask("start me") // and this was on its way all the time
	d.wait(time.Minute)
	r := d.one()
	steps := r.steps(t)
	if r.Input != "start me" || len(steps) != 2 || steps[0].Context != "look" || r.finish.Lossy || r.finish.Usage["big"].Output != 10 {
		t.Errorf("%q: %+v, %+v", r.Input, steps, r.finish)
	}
}

func TestTurnWithoutABeginningAnywhereIsLossy(t *testing.T) {
	d := newDesk(t)
	d.pre("t1", "Bash", obj{})
	d.post("t1", "Bash", obj{}, "x")
	d.stop("done")
	d.wait(time.Minute)
	if r := d.one(); r.Input != "" || !r.finish.Lossy || len(r.calls) != 1 || r.finish.Usage != nil {
		t.Errorf("%+v", r.finish)
	}
}

// A prompt that is typed while a turn is at its end is told of under that turn's id and
// begins one under another, of which no hook tells.
func TestPromptTypedAheadIsItsOwnRun(t *testing.T) {
	d := newDesk(t)
	d.ask("one")
	d.userSays("one")
	d.modelSays("s1.jsonl", speech("one done"))
	d.ask("two") // under the id of the first
	d.stop("one done")
	d.prompt = "p2"
	d.clock.add(time.Millisecond)
	d.modelSays("s1.jsonl", uses("t1", "ls"))
	d.pre("t1", "Bash", obj{})
	d.post("t1", "Bash", obj{}, "x")
	d.stop("two done")
	d.wait(time.Minute)
	runs := d.kept.all()
	if len(runs) != 2 {
		t.Fatalf("%d runs", len(runs))
	}
	for _, r := range runs {
		if r.finish.Output != r.Input+" done" || r.finish.Lossy || r.finish.Usage["big"].Output != 10 {
			t.Errorf("%q: %+v", r.Input, r.finish)
		}
	}
}

func TestPromptThatIsToldTwiceIsOneTurn(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.ask("go") // by hooks of two settings files
	d.stop("done")
	d.stop("done")
	d.wait(time.Minute)
	if r := d.one(); r.Input != "go" {
		t.Errorf("%q", r.Input)
	}
}
