//go:build linux

package claude

import (
	"testing"

	. "github.com/bir-run/bir/conformance/fakemodel"
)

var bothRecorded = record{Prompt: "Look at both", Answer: "Both.", Usage: model + " 9+0+0 12", Calls: []string{
	`toolu_van mcp__fleet__watch ok {"gate":"van"}`,
	`toolu_bus mcp__fleet__look ok {"what":"bus"}`,
}}

// watchAndLook is a turn of two calls. Something happens while the first is under way.
func watchAndLook() story {
	return story{
		script: func() Script {
			return Script{Main: []Reply{
				Calls(Tool("toolu_van", "mcp__fleet__watch", `{"gate":"van"}`)),
				Calls(Tool("toolu_bus", "mcp__fleet__look", `{"what":"bus"}`)),
				Says("Both."),
			}}
		},
		act: func(l *lab, amid func()) {
			k := l.begin("Look at both", "--allowedTools", allowed)
			l.upstream.await(l, "the first call", 1, isCall("toolu_van"))
			amid()
			l.upstream.open("van")
			if s := k.end(); s.Final != "Both." {
				l.Errorf("the client ended with %q", s.Final)
			}
		},
		calls: []called{
			{"fleet", "watch", `{"gate":"van"}`, "toolu_van"},
			{"fleet", "look", `{"what":"bus"}`, "toolu_bus"},
		},
		runs: []record{bothRecorded},
	}
}

// Whatever happens to bir, the client's session goes on as without it.
func TestSessionGoesOnWhateverHappensToBir(t *testing.T) {
	s, whole := watchAndLook(), []record{bothRecorded}
	s.ways = []way{
		{name: "the first hook starts the control server", install: []string{"install"}, runs: whole},
		{name: "hooks over HTTP", install: []string{"setup", "--yes", "--hooks", "http"}, runs: whole},
		{name: "hooks that fail", before: (*lab).breakHooks, runs: []record{{Alone: true, Open: true, Calls: bothRecorded.Calls}}},
		{name: "control server killed before the session", before: (*lab).killServer, late: true, runs: whole},
		{name: "control server killed in the middle of a call", amid: (*lab).killServer, late: true, runs: whole},
		{name: "switched off", before: func(l *lab) { l.bir("off") }},
	}
	s.test(t)
}

// In a project that has no settings yet, git would tell of the new file, and the client
// the model.
func TestFreshProject(t *testing.T) {
	s := watchAndLook()
	s.fresh = true
	s.ways = []way{{name: "with bir", install: []string{"install", "--server", "fleet"}, runs: s.runs}}
	s.test(t)
}
