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
		act: func(l *lab) {
			tm := l.sit("--permission-mode", "default")
			tm.enter("Move the van please", "Do you want to proceed?")
			tm.press(keyEnter, "Moved the van.")
			tm.enter("Move the bus please", "Do you want to proceed?")
			tm.press(keyEscape, "Interrupted")
			tm.leave()
		},
		calls: []called{{"fleet", "move", `{"vehicle":"van","km":1}`, "toolu_yes"}},
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
		act: func(l *lab) {
			tm := l.sit("--permission-mode", "default", "--allowedTools", allowed)
			tm.enter("Watch the gate please", "Calling fleet")
			l.upstream.await(l, "the call", 1, isCall("toolu_stuck"))
			tm.press(keyEscape, "Interrupted")
			tm.enter("Look at the van please", "Found the van.")
			tm.enter("/clear", "for shortcuts")
			tm.enter("Look at the bus please", "Found the bus.")
			tm.leave()
		},
		calls: []called{
			{"fleet", "watch", `{"gate":"never"}`, "toolu_stuck"},
			{"fleet", "look", `{"what":"van"}`, "toolu_look"},
			{"fleet", "look", `{"what":"bus"}`, "toolu_after"},
		},
	}.test(t)
}
