package runs

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/control/runs/machine"
	"github.com/bir-run/bir/control/runs/turn"
	"github.com/bir-run/bir/control/transcript"
	"github.com/bir-run/bir/recorder"
)

var nothing = []byte("{}")

// Hook takes in one event of the host and gives what to answer it. Events and fields
// that are not known are passed over: the host never hears of an error.
func (b *Book) Hook(_ context.Context, name string, payload []byte) []byte {
	now := b.cfg.Now()
	b.see(name, now)
	e, ok := b.read(name, payload, now)
	if !ok || !matters(name) {
		return nothing
	}
	if b.cfg.Off() {
		b.turnedOff(e)
		return nothing
	}
	b.prepare(&e)
	answer := b.answer(&e, payload)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.applyLocked(e)
	return answer
}

// see counts an event for those who ask which come.
func (b *Book) see(name string, now time.Time) {
	if _, ok := event.Named(name); !ok {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.seen[name]
	if s == nil {
		s = &client.Seen{Event: name}
		b.seen[name] = s
	}
	s.Last, s.Count = now, s.Count+1
}

// matters says whether an event changes anything.
func matters(name string) bool {
	switch name {
	case "Elicitation", "ElicitationResult", "PostModelSwitch", "CwdChanged", "PostCompact":
		return false
	}
	_, ok := event.Named(name)
	return ok
}

// turnedOff ends what was open of a session when bir was turned off.
func (b *Book) turnedOff(e machine.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.state.Runs {
		if r.Session == e.Session {
			b.applyLocked(machine.Event{Kind: machine.KindOff, At: e.At, Session: e.Session})
			return
		}
	}
}

// opens says whether an event opens a run where its session has none.
func opens(e machine.Event) bool {
	switch e.Kind {
	case "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "SubagentStart",
		"Stop", "StopFailure":
		return true
	}
	return false
}

// prepare adds to an event what only the world around can tell: new ids, live
// proxies, what the transcript says.
func (b *Book) prepare(e *machine.Event) {
	if e.Tool != "" {
		if e.ToolUse == "" && e.Kind == "PreToolUse" {
			e.ToolUse = recorder.NewID("call")
		}
		e.Expect = correlate.IsMCP(e.Tool) && b.serves(e.Tool)
	}
	if opens(*e) {
		e.NewRun = recorder.NewID("run")
	}
	b.mu.Lock()
	subjects := b.subjectsLocked(*e)
	started := len(subjects) > 0 || b.state.Prompts.Has(e.PromptID)
	b.mu.Unlock()
	for _, run := range subjects {
		b.look(e, run)
	}
	switch {
	case e.Transcript == "":
	case e.Kind == "UserPromptSubmit":
		mark := transcript.Take(e.Transcript, e.At.Truncate(time.Millisecond))
		e.Mark = &mark
	case opens(*e) && !started:
		b.missed(e)
	}
}

// look adds to an event what the transcript says of a run.
func (b *Book) look(e *machine.Event, run *turn.Run) {
	if v := b.view(*e, run); v != nil {
		e.Views = append(e.Views, *v)
	}
}

// missed looks for a turn whose prompt nobody was there to hear: the control server
// is started by the session, and the first prompt may be faster.
func (b *Book) missed(e *machine.Event) {
	found, ok := transcript.Find(e.Transcript, e.PromptID)
	if !ok {
		return
	}
	found.Prompt = text(found.Prompt)
	e.Missed = &found
	b.look(e, &turn.Run{
		ID: e.NewRun, Mark: &found.Mark, Prompts: []string{e.PromptID}, Agents: map[string]string{},
		Windows: []turn.Window{{From: found.Mark.At}},
	})
}

// answer is what a hook says to the host: nothing but an id for a call to carry,
// where that is asked for and somebody takes it out again.
func (b *Book) answer(e *machine.Event, payload []byte) []byte {
	if e.Kind != "PreToolUse" || !b.cfg.CallIDs || !e.Expect || e.Mode == "plan" || b.refuses(*e) {
		return nothing
	}
	input := gjson.GetBytes(payload, "tool_input")
	if !input.IsObject() {
		return nothing
	}
	id := recorder.NewID("call")
	// The whole input, since it replaces what was there. No decision goes with it: the
	// host asks whom it would have asked.
	updated, err := sjson.SetBytes([]byte(input.Raw), callIDKey, id)
	if err != nil {
		return nothing
	}
	answer, err := json.Marshal(map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": "PreToolUse", "updatedInput": json.RawMessage(updated),
	}})
	if err != nil {
		return nothing
	}
	e.CallID = id
	return answer
}

// refuses says whether the tool's proxy was seen not to hand an id back.
func (b *Book) refuses(e machine.Event) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state.Sessions[e.Session]
	if s == nil {
		return false
	}
	for _, server := range s.NoIDs {
		if correlate.Serves(server, e.Tool) {
			return true
		}
	}
	return false
}
