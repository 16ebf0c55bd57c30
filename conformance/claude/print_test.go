//go:build linux

package claude

import (
	"regexp"
	"strings"
	"testing"

	. "github.com/bir-run/bir/conformance/fakemodel"
)

const (
	allowed = "mcp__fleet,Bash(echo *)"
	model   = "claude-opus-5-5" // the client's own choice
)

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
		labs[i].approve()
		labs[i].prompt("Please look", "All done.", "--allowedTools", allowed)
		labs[i].settled()
	}
	sameModel(t, labs[0], labs[1], nil)
}

func TestTurnWithToolsOfAllKinds(t *testing.T) {
	story{
		script: turn,
		act:    func(l *lab, _ func()) { l.prompt("Please look", "All done.", "--allowedTools", allowed) },
		calls: []called{
			{"fleet", "look", `{"what":"van"}`, "toolu_look"},
			{"fleet", "move", `{"vehicle":"van","km":1.5}`, "toolu_move"},
			{"fleet", "shapes", `{}`, "toolu_shapes"},
			{"fleet", "fail", `{}`, "toolu_fail"},
			{"fleet", "refuse", `{}`, "toolu_refuse"},
			{"fleet", "ask", `{}`, "toolu_ask"},
		},
		runs: []record{{Prompt: "Please look", Answer: "All done.", Usage: model + " 38+1100+1000 141", Calls: []string{
			`toolu_bash Bash ok {"command":"echo hi","description":"Say hi"} after=I will look.`,
			`toolu_look mcp__fleet__look ok {"what":"van"} after=Now the van.`,
			`toolu_move mcp__fleet__move ok {"vehicle":"van","km":1.5}`,
			`toolu_shapes mcp__fleet__shapes ok {}`,
			`toolu_fail mcp__fleet__fail tool_error {}`,
			`toolu_refuse mcp__fleet__refuse rpc_error {} error=bad vehicle`,
			`toolu_ask mcp__fleet__ask ok {}`,
		}}},
	}.test(t)
}

// Only a call that the person was not asked about before is denied here, since there is
// no terminal to ask at.
func TestDeniedAndInvalidCalls(t *testing.T) {
	story{
		script: func() Script {
			return Script{Main: []Reply{
				Calls(Tool("toolu_deny", "mcp__fleet__move", `{"vehicle":"van"}`)),
				Calls(Tool("toolu_bad", "Read", `{"file":"x"}`)),
				Calls(Tool("toolu_none", "mcp__fleet__fly", `{}`)),
				Says("I may not."),
			}}
		},
		act: func(l *lab, _ func()) {
			l.prompt("Move the van", "I may not.", "--allowedTools", "mcp__fleet__look")
		},
		runs: []record{{Prompt: "Move the van", Answer: "I may not.", Usage: model + " 12+0+0 16", Calls: []string{
			`toolu_deny mcp__fleet__move denied {"vehicle":"van"} error=…`,
			`toolu_bad Read invalid {"file":"x"} error=…`,
			`toolu_none mcp__fleet__fly invalid {} error=…`,
		}}},
	}.test(t)
}

// The client denies a command in words that begin as those of no other denial. The
// transcript says toolDenialKind "user-rejected", as of a call that a person rejected,
// and permissionDecision.source "config".
func TestDeniedCommand(t *testing.T) {
	story{
		script: func() Script {
			return Script{Main: []Reply{
				Calls(Tool("toolu_bash", "Bash", `{"command":"touch x"}`)),
				Calls(Tool("toolu_look", "mcp__fleet__look", `{"what":"van"}`)),
				Says("I may not."),
			}}
		},
		act:   func(l *lab, _ func()) { l.prompt("Touch x", "I may not.", "--allowedTools", "mcp__fleet__look") },
		calls: []called{{"fleet", "look", `{"what":"van"}`, "toolu_look"}},
		runs: []record{{Prompt: "Touch x", Answer: "I may not.", Usage: model + " 9+0+0 12", Calls: []string{
			`toolu_bash Bash denied {"command":"touch x"} error=…`,
			`toolu_look mcp__fleet__look ok {"what":"van"}`,
		}}},
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
		act: func(l *lab, _ func()) {
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
		abreast: true,
		runs: []record{{Prompt: "Watch the gates", Answer: "Seen.", Usage: model + " 6+0+0 8", Calls: []string{
			`toolu_c mcp__fleet__watch ok {"gate":"c"}`,
			`toolu_a mcp__fleet__watch ok {"gate":"a"}`,
			`toolu_b mcp__fleet__watch ok {"gate":"b"}`,
		}}},
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
		act:   func(l *lab, _ func()) { l.prompt("How many vans?", "Two vans.", "--allowedTools", allowed) },
		calls: []called{{"fleet", "look", `{"what":"vans"}`, "toolu_sub"}},
		runs: []record{{Prompt: "How many vans?", Answer: "Two vans.", Usage: model + " 12+0+0 16", Calls: []string{
			`toolu_sub mcp__fleet__look ok {"what":"vans"} agent=general-purpose`,
			`toolu_agent Agent ok {"description":"Count","prompt":"Count the vans","subagent_type":"general-purpose","run_in_background":false}`,
		}}},
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
		act: func(l *lab, _ func()) {
			k := l.begin("How many vans?", "--allowedTools", allowed)
			k.await("It counts.")
			l.upstream.await(l, "the subagent's call", 1, isCall("toolu_sub"))
			l.upstream.open("vans")
			if s := k.end(); s.Final != "Two vans." {
				l.Errorf("the client ended with %q", s.Final)
			}
		},
		calls: []called{{"fleet", "watch", `{"gate":"vans"}`, "toolu_sub"}},
		runs: []record{{Prompt: "How many vans?", Answer: "Two vans.", Usage: model + " 15+0+0 20", Calls: []string{
			`toolu_agent Agent ok {"description":"Count","prompt":"Count the vans","subagent_type":"general-purpose"}`,
			`toolu_sub mcp__fleet__watch ok {"gate":"vans"} agent=general-purpose`,
		}}},
	}.test(t)
}

// The proxy answers for a server that ends in the middle of a call, in words of its
// own; the client would find others.
func TestServerThatDies(t *testing.T) {
	story{
		script: func() Script {
			return Script{Main: []Reply{
				Calls(Tool("toolu_die", "mcp__fleet__die", `{}`)),
				Calls(Tool("toolu_look", "mcp__fleet__look", `{"what":"van"}`)),
				Says("It is back."),
			}}
		},
		act:  func(l *lab, _ func()) { l.prompt("Try it", "It is back.", "--allowedTools", allowed) },
		mask: regexp.MustCompile(`\{"type":"tool_result","content":"(Connection closed|MCP server [^{}]*\{[^{}]*\}[^{}]*)","is_error":true,"tool_use_id":"toolu_die"`),
		calls: []called{
			{"fleet", "die", `{}`, "toolu_die"},
			{"fleet", "look", `{"what":"van"}`, "toolu_look"},
		},
		runs: []record{{Prompt: "Try it", Answer: "It is back.", Usage: model + " 9+0+0 12", Calls: []string{
			`toolu_die mcp__fleet__die no_answer {} error=…`,
			`toolu_look mcp__fleet__look ok {"what":"van"}`,
		}}},
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
		act: func(l *lab, _ func()) {
			first := l.prompt("Look at the van", "One.", "--allowedTools", allowed)
			l.prompt("Look at the bus", "Two.", "--allowedTools", allowed, "--resume", first.ID)
			l.prompt("Look at the car", "Three.", "--allowedTools", allowed, "--resume", first.ID, "--fork-session")
		},
		calls: []called{
			{"fleet", "look", `{"what":"van"}`, "toolu_1"},
			{"fleet", "look", `{"what":"bus"}`, "toolu_2"},
			{"fleet", "look", `{"what":"car"}`, "toolu_3"},
		},
		runs: []record{
			{Prompt: "Look at the van", Answer: "One.", Usage: model + " 6+0+0 8", Calls: []string{`toolu_1 mcp__fleet__look ok {"what":"van"}`}},
			{Prompt: "Look at the bus", Answer: "Two.", Usage: model + " 6+0+0 8", Calls: []string{`toolu_2 mcp__fleet__look ok {"what":"bus"}`}},
			{Prompt: "Look at the car", Answer: "Three.", Usage: model + " 6+0+0 8", Calls: []string{`toolu_3 mcp__fleet__look ok {"what":"car"}`}},
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
		act: func(l *lab, _ func()) {
			if s := l.begin("Look at the van", "--allowedTools", allowed).end(); !s.Error {
				l.Errorf("the client ended well: %q", s.Final)
			}
		},
		calls: []called{{"fleet", "look", `{"what":"van"}`, "toolu_look"}},
		runs:  []record{{Prompt: "Look at the van", Usage: model + " 3+0+0 4", Calls: []string{`toolu_look mcp__fleet__look ok {"what":"van"}`}}},
	}.test(t)
}

func TestSlashCommandOfTheProject(t *testing.T) {
	story{
		files: map[string]string{"vans/.claude/commands/find.md": "Look at the $ARGUMENTS and tell.\n"},
		script: func() Script {
			return Script{Main: []Reply{Calls(Tool("toolu_look", "mcp__fleet__look", `{"what":"van"}`)), Says("Told.")}}
		},
		act:   func(l *lab, _ func()) { l.prompt("/find van", "Told.", "--allowedTools", allowed) },
		calls: []called{{"fleet", "look", `{"what":"van"}`, "toolu_look"}},
		runs:  []record{{Prompt: "/find van", Answer: "Told.", Usage: model + " 6+0+0 8", Calls: []string{`toolu_look mcp__fleet__look ok {"what":"van"}`}}},
	}.test(t)
}

// Two clients work in one project at the same time. Each call of one is begun while one
// of the other's is under way.
func TestTwoSessionsAtOnce(t *testing.T) {
	const vans, buses = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"
	watch := func(id string) []Reply {
		return []Reply{Calls(Tool("toolu_"+id, "mcp__fleet__watch", `{"gate":"`+id+`"}`)), Says("Seen " + id + ".")}
	}
	story{
		script: func() Script { return Script{Sessions: map[string][]Reply{vans: watch("van"), buses: watch("bus")}} },
		act: func(l *lab, _ func()) {
			first := l.begin("Watch the vans", "--allowedTools", allowed, "--session-id", vans)
			l.upstream.await(l, "the first call", 1, isCall("toolu_van"))
			second := l.begin("Watch the buses", "--allowedTools", allowed, "--session-id", buses)
			l.upstream.await(l, "the second call", 1, isCall("toolu_bus"))
			l.upstream.open("van")
			first.end()
			l.upstream.open("bus")
			second.end()
		},
		calls: []called{
			{"fleet", "watch", `{"gate":"van"}`, "toolu_van"},
			{"fleet", "watch", `{"gate":"bus"}`, "toolu_bus"},
		},
		runs: []record{
			{Prompt: "Watch the vans", Answer: "Seen van.", Usage: model + " 6+0+0 8", Calls: []string{`toolu_van mcp__fleet__watch ok {"gate":"van"}`}},
			{Prompt: "Watch the buses", Answer: "Seen bus.", Usage: model + " 6+0+0 8", Calls: []string{`toolu_bus mcp__fleet__watch ok {"gate":"bus"}`}},
		},
	}.test(t)
}

// The client starts every server to list it, under a session id that it throws away.
// One of these servers speaks the newer protocol, in which nothing is initialized.
func TestListOfServersIsNoSession(t *testing.T) {
	story{
		servers: []string{"fleet", "newer"},
		script: func() Script {
			return Script{Main: []Reply{
				Calls(Tool("toolu_look", "mcp__newer__look", `{"what":"van"}`)),
				Says("Seen."),
			}}
		},
		act: func(l *lab, _ func()) {
			if out := l.command("mcp", "list"); !strings.Contains(out, "newer") {
				l.Errorf("claude mcp list: %s", out)
			}
			l.prompt("Look at the van", "Seen.", "--allowedTools", "mcp__newer")
		},
		calls: []called{{"newer", "look", `{"what":"van"}`, "toolu_look"}},
		runs: []record{{Prompt: "Look at the van", Answer: "Seen.", Usage: model + " 6+0+0 8", Calls: []string{
			`toolu_look mcp__newer__look ok {"what":"van"}`,
		}}},
	}.test(t)
}
