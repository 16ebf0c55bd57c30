package runs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bir-run/bir/recorder"
)

// writes adds a line to a session's transcript, stamped now.
func (d *desk) writes(file string, line obj) {
	d.t.Helper()
	line["timestamp"] = d.clock.Now().Format("2006-01-02T15:04:05.000Z")
	text, err := json.Marshal(line)
	if err != nil {
		d.t.Fatal(err)
	}
	path := filepath.Join(d.dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(text, '\n')); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) userSays(text string) {
	d.t.Helper()
	d.clock.add(time.Millisecond)
	d.writes(d.session+".jsonl", obj{"type": "user", "promptId": d.prompt, "promptSource": "typed", "message": obj{"role": "user", "content": text}})
}

var messages int

// modelSays adds a message of ten output tokens.
func (d *desk) modelSays(file string, content ...obj) {
	d.t.Helper()
	d.clock.add(time.Millisecond)
	messages++
	d.writes(file, obj{"type": "assistant", "message": obj{
		"id": fmt.Sprint("m", messages), "model": "big", "content": content, "usage": obj{"input_tokens": 1, "output_tokens": 10},
	}})
}

func (d *desk) toolSays(file, id, result string) {
	d.t.Helper()
	d.clock.add(time.Millisecond)
	d.writes(file, obj{"type": "user", "promptId": d.prompt, "toolUseResult": obj{"stdout": result}, "message": obj{
		"role": "user", "content": []obj{{"type": "tool_result", "tool_use_id": id, "content": result}},
	}})
}

func speech(s string) obj { return obj{"type": "text", "text": s} }
func uses(id, c string) obj {
	return obj{"type": "tool_use", "id": id, "name": "Bash", "input": obj{"command": c}}
}

func TestReasoningComesFromTheTranscript(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.userSays("go")
	d.pre("t1", "Bash", obj{"command": "ls"})
	d.post("t1", "Bash", obj{"command": "ls"}, "x")
	d.modelSays("s1.jsonl", speech("let me look"), uses("t1", "ls")) // written late, as the client does
	d.toolSays("s1.jsonl", "t1", "x")
	d.pre("t2", "Bash", obj{"command": "pwd"})
	if n := d.kept.all(); len(n) != 1 || len(n[0].calls) != 1 {
		t.Error("a call of which all is known waits")
	}
	d.post("t2", "Bash", obj{"command": "pwd"}, "y")
	d.modelSays("s1.jsonl", uses("t2", "pwd"))
	d.modelSays("s1.jsonl", speech("done"))
	d.stop("done")
	d.wait(time.Minute)
	steps := d.one().steps(t)
	if steps[0].Context != "let me look" || steps[1].Context != "" {
		t.Errorf("%q, %q", steps[0].Context, steps[1].Context)
	}
}

func TestEachRunHasItsOwnCost(t *testing.T) {
	d := newDesk(t)
	for n, prompt := range []string{"one", "two", "three"} {
		d.prompt = prompt
		d.ask(prompt)
		d.userSays(prompt)
		for range n + 1 {
			d.modelSays("s1.jsonl", speech("said"))
		}
		d.stop("said")
	}
	d.wait(time.Minute)
	for n, r := range d.kept.all() {
		if got := r.finish.Usage["big"].Output; got != int64(10*(n+1)) {
			t.Errorf("%s cost %d", r.Input, got)
		}
	}
}

func TestCostOfBackgroundWorkIsItsRuns(t *testing.T) {
	const file = "s1/subagents/agent-a1.jsonl"
	d := newDesk(t)
	agent := func(o obj) obj { o["agent_id"], o["agent_type"] = "a1", "Explore"; return o }
	d.ask("go")
	d.userSays("go")
	d.hook("SubagentStart", agent(obj{}))
	d.modelSays("s1.jsonl", speech("main done"))
	d.hook("Stop", obj{"last_assistant_message": "main done", "background_tasks": []obj{{"id": "a1", "type": "subagent", "status": "running"}}})
	d.prompt = "p2"
	d.ask("meanwhile")
	d.userSays("meanwhile")
	d.modelSays(file, speech("working"))
	d.modelSays("s1.jsonl", speech("ok"))
	d.stop("ok")
	d.modelSays(file, speech("found"))
	d.hook("SubagentStop", agent(obj{}))
	d.prompt = "p3"
	d.ask("<task-notification>\n<task-id>a1</task-id>")
	d.userSays("<task-notification>\n<task-id>a1</task-id>")
	d.modelSays("s1.jsonl", speech("all done"))
	d.stop("all done")
	d.wait(time.Minute)
	runs := d.kept.all()
	if a, b := runs[0].finish.Usage["big"].Output, runs[1].finish.Usage["big"].Output; runs[0].Input != "meanwhile" || a != 10 || b != 40 {
		t.Errorf("%q cost %d, %q cost %d", runs[0].Input, a, runs[1].Input, b)
	}
}

func TestWhatCannotBeKnownIsNotMeasured(t *testing.T) {
	for name, spoil := range map[string]func(*desk){
		"the transcript is gone": func(d *desk) {
			if err := os.Remove(filepath.Join(d.dir, "s1.jsonl")); err != nil {
				d.t.Fatal(err)
			}
		},
		"a subagent's file is missing": func(d *desk) { d.hook("SubagentStart", obj{"agent_id": "a1", "agent_type": "x"}) },
		"the session was compacted":    func(d *desk) { d.hook("PreCompact", obj{"trigger": "auto"}) },
	} {
		d := newDesk(t)
		d.userSays("before")
		d.ask("go")
		d.userSays("go")
		d.modelSays("s1.jsonl", speech("done"))
		spoil(d)
		d.stop("done")
		d.wait(time.Minute)
		if r := d.one(); r.finish.Usage != nil {
			t.Errorf("%s: %v", name, r.finish.Usage)
		}
	}
}

func TestCallsThatNoHookToldOfAreFound(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.userSays("go")
	d.pre("t1", "Bash", obj{"command": "ls"}) // and here the control server was away
	d.modelSays("s1.jsonl", speech("look"), uses("t1", "ls"))
	d.toolSays("s1.jsonl", "t1", "x")
	d.modelSays("s1.jsonl", uses("t2", "pwd"))
	d.toolSays("s1.jsonl", "t2", "y")
	d.kill()
	d.stop("done")
	d.wait(time.Minute)
	r := d.one()
	steps := r.steps(t)
	if len(steps) != 2 || string(steps[0].Result) != `{"stdout":"x"}` || string(steps[1].Result) != `{"stdout":"y"}` || r.finish.Lossy {
		t.Errorf("%+v", steps)
	}
	if string(steps[1].Args) != `{"command":"pwd"}` || steps[1].Status != recorder.StatusOK {
		t.Errorf("%+v", steps[1])
	}
}

func TestCallWithoutAnEndAnywhereIsLost(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.userSays("go")
	d.modelSays("s1.jsonl", uses("t1", "ls"))
	d.stop("done")
	d.wait(time.Minute)
	r := d.one()
	if steps := r.steps(t); len(steps) != 1 || steps[0].Status != recorder.StatusUnreported || !r.finish.Lossy {
		t.Errorf("%+v, lossy %v", steps, r.finish.Lossy)
	}
}

func TestHookThatSendsTheModelBackHoldsTheRunOpen(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.userSays("go")
	d.modelSays("s1.jsonl", speech("one"))
	d.stop("one")
	d.clock.add(time.Millisecond)
	d.writes("s1.jsonl", obj{"type": "user", "isMeta": true, "message": obj{"content": "Stop hook feedback: not yet"}})
	d.wait(time.Minute) // the model thinks
	if d.kept.all() != nil {
		t.Fatal("the run ended")
	}
	d.modelSays("s1.jsonl", speech("two"))
	d.stop("two")
	d.wait(time.Minute)
	if r := d.one(); r.finish.Output != "two" || r.finish.Usage["big"].Output != 20 {
		t.Errorf("%+v", r.finish)
	}
}

func TestTurnInTheBooksIsNotBookedAgain(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.userSays("go")
	d.modelSays("s1.jsonl", uses("t1", "ls"))
	d.toolSays("s1.jsonl", "t1", "x")
	d.stop("done")
	d.wait(time.Minute)
	d.stop("done")
	d.wait(time.Minute)
	d.one()
	d.pre("t2", "Bash", obj{}) // the turn goes on after all, too late for its run
	d.post("t2", "Bash", obj{}, "x")
	d.stop("more")
	d.wait(time.Minute)
	runs := d.kept.all()
	if len(runs) != 2 || len(runs[1].calls) != 1 || !runs[1].finish.Lossy {
		t.Errorf("%d runs, %+v", len(runs), runs[len(runs)-1].finish)
	}
}

func TestTurnOfASessionThatWasResumedIsItsOwn(t *testing.T) {
	d := newDesk(t)
	d.ask("before")
	d.userSays("before")
	d.modelSays("s1.jsonl", speech("a"))
	d.pre("t1", "Bash", obj{}) // and its process is killed
	d.clock.add(time.Hour)
	d.prompt = "p2"
	d.hook("SessionStart", obj{"source": "resume"})
	d.ask("after")
	d.userSays("after")
	d.modelSays("s1.jsonl", speech("b"))
	d.stop("b")
	d.wait(time.Minute)
	runs := d.kept.all()
	if len(runs) != 2 || runs[0].finish.Output != "" && runs[0].finish.Output != "a" || runs[1].finish.Usage["big"].Output != 10 {
		t.Fatalf("%d runs", len(runs))
	}
	if s := runs[0].steps(t); s[0].Status != recorder.StatusInterrupted {
		t.Errorf("%+v", s)
	}
}

// The client has words for a denial that nobody else knows: then its transcript says
// what it was, before the next call is told of.
func TestCallThatIsOverKeepsItsPlace(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.userSays("go")
	d.pre("t1", "Bash", obj{"command": "rm"})
	d.hook("PostToolBatch", obj{"tool_calls": []obj{{"tool_use_id": "t1", "tool_name": "Bash", "tool_input": obj{}, "tool_response": "That needs approval."}}})
	d.modelSays("s1.jsonl", uses("t1", "rm"))
	d.clock.add(time.Millisecond)
	d.writes("s1.jsonl", obj{
		"type": "user", "toolDenialKind": "user-rejected", "permissionDecision": obj{"decision": "reject", "source": "config"},
		"message": obj{"content": []obj{{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "That needs approval."}}},
	})
	d.clock.add(time.Minute)
	d.pre("t2", "Bash", obj{"command": "ls"})
	d.post("t2", "Bash", obj{"command": "ls"}, "x")
	d.wait(time.Minute)
	d.stop("done")
	d.wait(time.Minute)
	steps := d.one().steps(t)
	if len(steps) != 2 || steps[0].ID != "t1" || steps[0].Status != recorder.StatusDenied || steps[0].Error != "That needs approval." {
		t.Errorf("%+v", steps)
	}
}
