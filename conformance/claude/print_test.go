//go:build linux

package claude

import (
	"testing"

	. "github.com/bir-run/bir/conformance/fakemodel"
)

const allowed = "mcp__fleet,Bash(echo *)"

// turn is a turn of the client's with every kind of call, one after the other.
func turn() Script {
	return Script{Main: []Reply{
		{Blocks: []Block{Text("I will look."), Tool("toolu_bash", "Bash", `{"command":"echo hi","description":"Say hi"}`)},
			Usage: Usage{Input: 11, CacheCreation: 1000, Output: 120}},
		Calls(Text("Now the van."), Tool("toolu_look", "mcp__fleet__look", `{"what":"van"}`)),
		Calls(Tool("toolu_move", "mcp__fleet__move", `{"vehicle":"van","km":1.50}`), Tool("toolu_shapes", "mcp__fleet__shapes", `{}`)),
		Calls(Tool("toolu_fail", "mcp__fleet__fail", `{}`), Tool("toolu_refuse", "mcp__fleet__refuse", `{}`)),
		Calls(Tool("toolu_ask", "mcp__fleet__ask", `{}`)),
		{Blocks: []Block{Text("All done.")}, Usage: Usage{Input: 15, CacheCreation: 100, CacheRead: 1000, Output: 5}},
	}}
}

func TestTwoSessionsWithoutBirAreAlike(t *testing.T) {
	t.Parallel()
	var labs [2]*lab
	for i := range labs {
		labs[i] = newLab(t, turn())
		labs[i].commit()
		labs[i].prompt("Please look", "All done.", "--allowedTools", allowed)
		labs[i].settled()
	}
	sameModel(t, labs[0], labs[1])
}

func TestTurnWithToolsOfAllKinds(t *testing.T) {
	story{
		script: turn,
		act:    func(l *lab) { l.prompt("Please look", "All done.", "--allowedTools", allowed) },
		calls: []called{
			{"fleet", "look", `{"what":"van"}`, "toolu_look"},
			{"fleet", "move", `{"vehicle":"van","km":1.5}`, "toolu_move"},
			{"fleet", "shapes", `{}`, "toolu_shapes"},
			{"fleet", "fail", `{}`, "toolu_fail"},
			{"fleet", "refuse", `{}`, "toolu_refuse"},
			{"fleet", "ask", `{}`, "toolu_ask"},
		},
	}.test(t)
}

// Only a call that the person was not asked about before is denied here, since there is
// no terminal to ask at.
func TestDeniedAndInvalidCalls(t *testing.T) {
	story{
		script: func() Script {
			return Script{Main: []Reply{
				Calls(Tool("toolu_deny", "mcp__fleet__move", `{"vehicle":"van"}`)),
				Calls(Tool("toolu_bash", "Bash", `{"command":"touch x"}`)),
				Calls(Tool("toolu_bad", "Read", `{"file":"x"}`)),
				Calls(Tool("toolu_none", "mcp__fleet__fly", `{}`)),
				Says("I may not."),
			}}
		},
		act: func(l *lab) {
			l.prompt("Move the van", "I may not.", "--allowedTools", "mcp__fleet__look")
		},
	}.test(t)
}

func TestCallsSideBySide(t *testing.T) {
	story{
		script: func() Script {
			return Script{Main: []Reply{
				Calls(Tool("toolu_a", "mcp__fleet__watch", `{"gate":"a"}`), Tool("toolu_b", "mcp__fleet__watch", `{"gate":"b"}`),
					Tool("toolu_c", "mcp__fleet__watch", `{"gate":"c"}`)),
				Says("Seen."),
			}}
		},
		act: func(l *lab) {
			k := l.begin("Watch the gates", "--allowedTools", allowed)
			l.upstream.await(l, "a call", 3, func(s told) bool { return isCall("toolu_a")(s) || isCall("toolu_b")(s) || isCall("toolu_c")(s) })
			for _, gate := range []string{"c", "a", "b"} {
				l.upstream.open(gate)
				k.await(`"tool_use_id":"toolu_` + gate + `","type":"tool_result"`)
			}
			k.end()
		},
		calls: []called{
			{"fleet", "watch", `{"gate":"a"}`, "toolu_a"},
			{"fleet", "watch", `{"gate":"b"}`, "toolu_b"},
			{"fleet", "watch", `{"gate":"c"}`, "toolu_c"},
		},
	}.test(t)
}

func TestSubagent(t *testing.T) {
	story{
		script: func() Script {
			return Script{
				Main: []Reply{
					Calls(Tool("toolu_agent", "Agent", `{"description":"Count","prompt":"Count the vans","subagent_type":"general-purpose","run_in_background":false}`)),
					Says("Two vans."),
				},
				Agents: map[string][]Reply{"Count the vans": {
					Calls(Tool("toolu_sub", "mcp__fleet__look", `{"what":"vans"}`)),
					Says("There are two."),
				}},
			}
		},
		act:   func(l *lab) { l.prompt("How many vans?", "Two vans.", "--allowedTools", allowed) },
		calls: []called{{"fleet", "look", `{"what":"vans"}`, "toolu_sub"}},
	}.test(t)
}

// A subagent in the background works on after the turn's end, and reports in a turn of
// its own.
func TestSubagentInTheBackground(t *testing.T) {
	story{
		script: func() Script {
			return Script{
				Main: []Reply{
					Calls(Tool("toolu_agent", "Agent", `{"description":"Count","prompt":"Count the vans","subagent_type":"general-purpose"}`)),
					Says("It counts."),
					Says("Two vans."),
				},
				Agents: map[string][]Reply{"Count the vans": {
					Calls(Tool("toolu_sub", "mcp__fleet__watch", `{"gate":"vans"}`)),
					Says("There are two."),
				}},
			}
		},
		act: func(l *lab) {
			k := l.begin("How many vans?", "--allowedTools", allowed)
			k.await("It counts.")
			l.upstream.await(l, "the subagent's call", 1, isCall("toolu_sub"))
			l.upstream.open("vans")
			if s := k.end(); s.Final != "Two vans." {
				l.Errorf("the client ended with %q", s.Final)
			}
		},
		calls: []called{{"fleet", "watch", `{"gate":"vans"}`, "toolu_sub"}},
	}.test(t)
}

func TestServerThatDies(t *testing.T) {
	story{
		script: func() Script {
			return Script{Main: []Reply{
				Calls(Tool("toolu_die", "mcp__fleet__die", `{}`)),
				Calls(Tool("toolu_look", "mcp__fleet__look", `{"what":"van"}`)),
				Says("It is back."),
			}}
		},
		act: func(l *lab) { l.prompt("Try it", "It is back.", "--allowedTools", allowed) },
		calls: []called{
			{"fleet", "die", `{}`, "toolu_die"},
			{"fleet", "look", `{"what":"van"}`, "toolu_look"},
		},
	}.test(t)
}

func TestSessionResumedAndForked(t *testing.T) {
	look := func(id, what string) Reply { return Calls(Tool(id, "mcp__fleet__look", `{"what":"`+what+`"}`)) }
	story{
		script: func() Script {
			return Script{Main: []Reply{
				look("toolu_1", "van"), Says("One."),
				look("toolu_2", "bus"), Says("Two."),
				look("toolu_3", "car"), Says("Three."),
			}}
		},
		act: func(l *lab) {
			first := l.prompt("Look at the van", "One.", "--allowedTools", allowed)
			l.prompt("Look at the bus", "Two.", "--allowedTools", allowed, "--resume", first.ID)
			l.prompt("Look at the car", "Three.", "--allowedTools", allowed, "--resume", first.ID, "--fork-session")
		},
		calls: []called{
			{"fleet", "look", `{"what":"van"}`, "toolu_1"},
			{"fleet", "look", `{"what":"bus"}`, "toolu_2"},
			{"fleet", "look", `{"what":"car"}`, "toolu_3"},
		},
	}.test(t)
}

func TestModelThatFails(t *testing.T) {
	story{
		script: func() Script {
			return Script{Main: []Reply{
				{Status: 429},
				Calls(Tool("toolu_look", "mcp__fleet__look", `{"what":"van"}`)),
				{Status: 500}, {Status: 500},
			}}
		},
		act: func(l *lab) {
			if s := l.begin("Look at the van", "--allowedTools", allowed).end(); !s.Error {
				l.Errorf("the client ended well: %q", s.Final)
			}
		},
		calls: []called{{"fleet", "look", `{"what":"van"}`, "toolu_look"}},
	}.test(t)
}

func TestSlashCommandOfTheProject(t *testing.T) {
	story{
		files: map[string]string{"vans/.claude/commands/find.md": "Look at the $ARGUMENTS and tell.\n"},
		script: func() Script {
			return Script{Main: []Reply{Calls(Tool("toolu_look", "mcp__fleet__look", `{"what":"van"}`)), Says("Told.")}}
		},
		act:   func(l *lab) { l.prompt("/find van", "Told.", "--allowedTools", allowed) },
		calls: []called{{"fleet", "look", `{"what":"van"}`, "toolu_look"}},
	}.test(t)
}
