//go:build linux

package claude

import (
	"testing"

	. "github.com/bir-run/bir/conformance/fakemodel"
)

// The person at the terminal allows one call and refuses another.
func TestPersonIsAsked(t *testing.T) {
	story{
		script: func() Script {
			return Script{Main: []Reply{
				Calls(Tool("toolu_yes", "mcp__fleet__move", `{"vehicle":"van","km":1}`)),
				Says("Moved the van."),
				Calls(Tool("toolu_no", "mcp__fleet__move", `{"vehicle":"bus","km":2}`)),
			}}
		},
		act: func(l *lab, _ func()) {
			tm := l.sit("--permission-mode", "default")
			tm.enter("Move the van please", "Do you want to proceed?")
			tm.press(keyEnter, "Moved the van.")
			tm.await("· done")
			tm.enter("Move the bus please", "Do you want to proceed?")
			tm.press(keyEscape, "Interrupted")
			tm.leave()
		},
		calls: []called{{"fleet", "move", `{"vehicle":"van","km":1}`, "toolu_yes"}},
		runs: []record{
			{Prompt: "Move the van please", Answer: "Moved the van.", Usage: model + " 6+0+0 8", Calls: []string{`toolu_yes mcp__fleet__move ok {"vehicle":"van","km":1}`}},
			{Prompt: "Move the bus please", Usage: model + " 3+0+0 4", Calls: []string{`toolu_no mcp__fleet__move rejected {"vehicle":"bus","km":2} error=…`}},
		},
	}.test(t)
}

// Escape during a call, and then /clear, which makes another session of the same
// client and keeps its servers.
func TestEscapeAndClear(t *testing.T) {
	story{
		script: func() Script {
			return Script{Main: []Reply{
				Calls(Tool("toolu_stuck", "mcp__fleet__watch", `{"gate":"never"}`)),
				Calls(Tool("toolu_look", "mcp__fleet__look", `{"what":"van"}`)),
				Says("Found the van."),
				Calls(Tool("toolu_after", "mcp__fleet__look", `{"what":"bus"}`)),
				Says("Found the bus."),
			}}
		},
		act: func(l *lab, _ func()) {
			tm := l.sit("--permission-mode", "default", "--allowedTools", allowed)
			tm.enter("Watch the gate please", "Calling fleet")
			l.upstream.await(l, "the call", 1, isCall("toolu_stuck"))
			tm.press(keyEscape, "Interrupted")
			tm.turn("Look at the van please", "Found the van.")
			tm.enter("/clear", "for shortcuts")
			tm.turn("Look at the bus please", "Found the bus.")
			tm.leave()
		},
		calls: []called{
			{"fleet", "watch", `{"gate":"never"}`, "toolu_stuck"},
			{"fleet", "look", `{"what":"van"}`, "toolu_look"},
			{"fleet", "look", `{"what":"bus"}`, "toolu_after"},
		},
		runs: []record{
			{Prompt: "Watch the gate please", Usage: model + " 3+0+0 4", Calls: []string{`toolu_stuck mcp__fleet__watch interrupted {"gate":"never"}`}},
			{Prompt: "Look at the van please", Answer: "Found the van.", Usage: model + " 6+0+0 8", Calls: []string{`toolu_look mcp__fleet__look ok {"what":"van"}`}},
			{Prompt: "Look at the bus please", Answer: "Found the bus.", Usage: model + " 6+0+0 8", Calls: []string{`toolu_after mcp__fleet__look ok {"what":"bus"}`}},
		},
	}.test(t)
}

func TestCompaction(t *testing.T) {
	story{
		script: func() Script {
			return Script{Main: []Reply{
				Calls(Tool("toolu_look", "mcp__fleet__look", `{"what":"van"}`)),
				Says("Found the van."),
				Says("<summary>The van was found.</summary>"),
				Says("Found nothing more."),
			}}
		},
		act: func(l *lab, _ func()) {
			tm := l.sit("--permission-mode", "default", "--allowedTools", allowed)
			tm.turn("Look at the van please", "Found the van.")
			tm.enter("/compact", "Compacted")
			tm.turn("Look for more please", "Found nothing more.")
			tm.leave()
		},
		calls: []called{{"fleet", "look", `{"what":"van"}`, "toolu_look"}},
		runs: []record{
			{Prompt: "Look at the van please", Answer: "Found the van.", Usage: model + " 6+0+0 8", Calls: []string{`toolu_look mcp__fleet__look ok {"what":"van"}`}},
			{Prompt: "Look for more please", Answer: "Found nothing more.", Usage: model + " 3+0+0 4"},
		},
	}.test(t)
}

// A prompt that is typed while a turn is under way is told of under that turn's prompt
// id, and begins a turn of its own under another, of which no hook tells.
func TestPromptTypedAhead(t *testing.T) {
	story{
		script: func() Script { return Script{} },
		act: func(l *lab, _ func()) {
			hold := make(chan struct{})
			l.model.Say(
				Reply{Blocks: []Block{Text("Found the van.")}, Hold: hold},
				Calls(Tool("toolu_look", "mcp__fleet__look", `{"what":"bus"}`)),
				Says("Found the bus."),
			)
			tm := l.sit("--permission-mode", "default", "--allowedTools", allowed)
			tm.enter("Look at the van please", "esc to interrupt")
			tm.enter("Look at the bus please", "edit queued messages")
			close(hold)
			tm.await("Found the bus.")
			tm.await("· done")
			tm.leave()
		},
		calls: []called{{"fleet", "look", `{"what":"bus"}`, "toolu_look"}},
		runs: []record{
			{Prompt: "Look at the van please", Answer: "Found the van.", Usage: model + " 3+0+0 4", Unmeasured: true},
			{Prompt: "Look at the bus please", Answer: "Found the bus.", Usage: model + " 6+0+0 8", Calls: []string{`toolu_look mcp__fleet__look ok {"what":"bus"}`}},
		},
	}.test(t)
}
