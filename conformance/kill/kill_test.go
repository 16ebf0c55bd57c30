//go:build unix

package kill

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/conformance/stage"
	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

func TestMain(m *testing.M) { os.Exit(stage.Run(m)) }

// turn is a scripted session with one turn, and what is to be recorded of it.
type turn struct {
	*stage.Session
	server *stage.Server
	use    stage.Use
	call   int // the request that is under way
	held   *stage.Held
	want   []stage.Call
	killed bool
	byID   bool // the order does not matter
	cut    bool // its server was killed while the call of hold was under way
}

const prompt, answerText = "look at pump-1", "pump-1 is well"

// point is what happens next in the turn.
type point struct {
	name string
	do   func(*turn)
}

// script is the turn: a built-in tool, three calls of a server, the second of which is
// under way for a while and the third of which fails, and an answer.
func script() []point {
	return []point{
		{"SessionStart", (*turn).starts},
		{"connect", (*turn).connects},
		{"UserPromptSubmit", func(t *turn) { t.Prompt(prompt) }},
		{"PreToolUse Bash", func(t *turn) { t.use = t.Pre("Bash", map[string]any{"command": "echo hi"}) }},
		{"PostToolUse Bash", func(t *turn) {
			t.Post(t.use, map[string]any{"stdout": "hi"})
			t.expect(`{"command":"echo hi"}`, `{"stdout":"hi"}`, recorder.StatusOK)
		}},
		{"PreToolUse echo", func(t *turn) { t.use = t.Pre("mcp__fleet__echo", map[string]any{"text": "one"}) }},
		{"call echo", func(t *turn) { t.begin("echo"); t.answered("one") }},
		{"PostToolUse echo", func(t *turn) { t.Post(t.use, content("one")); t.expectText("one") }},
		{"PreToolUse hold", func(t *turn) {
			t.use = t.Pre("mcp__fleet__hold", map[string]any{"text": "two", "address": t.held.Address()})
		}},
		{"call hold", func(t *turn) { t.begin("hold"); t.held.Await() }},
		{"answer hold", func(t *turn) { t.held.Release(); t.answered("two") }},
		{"PostToolUse hold", (*turn).heldEnds},
		{"PreToolUse fail", func(t *turn) { t.use = t.Pre("mcp__fleet__fail", map[string]any{"text": "three"}) }},
		{"call fail", func(t *turn) { t.begin("fail"); t.mustAnswer() }},
		{"PostToolUseFailure fail", func(t *turn) {
			t.PostFailure(t.use, "three")
			t.expect(`{"text":"three"}`, `{"content":[{"type":"text","text":"three"}],"isError":true}`, recorder.StatusToolError)
		}},
		{"Stop", func(t *turn) { t.Stop(answerText) }},
		{"disconnect", func(t *turn) { t.server.Leave() }},
		{"SessionEnd", func(t *turn) { t.End() }},
		{"afterwards", func(*turn) {}},
	}
}

func newTurn(t *testing.T) *turn {
	p := stage.New(t)
	return &turn{Session: p.NewSession(), held: p.NewHeld()}
}

// content is how the host shows a hook what the server said.
func content(text string) any { return []any{map[string]any{"type": "text", "text": text}} }

// starts begins the session, and waits for the control server, which a session that is
// in a hurry does not.
func (t *turn) starts() {
	t.Helper()
	t.Start()
	t.Await("the control server", func(client.Health) bool { return true })
}

// connects starts the server, and waits until the control server knows of it, if there
// is one. What happens without that wait is no business of a kill.
func (t *turn) connects() {
	t.Helper()
	t.server = t.Connect("fleet")
	if _, err := t.Health(); err == nil {
		t.Await("the proxy", func(h client.Health) bool { return len(h.Proxies) > 0 })
	}
}

// settles waits, once the turn is over, until the proxy's reports have come: one that
// comes to another control server after the end of its run is of no run that it knows.
func (t *turn) settles(at int) {
	t.Helper()
	if at <= slices.IndexFunc(script(), func(p point) bool { return p.name == "Stop" }) {
		return
	}
	t.Await("the reports", func(h client.Health) bool { return len(h.Proxies) == 0 || h.Proxies[0].Calls == 3 })
}

func (t *turn) begin(tool string) { t.call = t.server.Begin(t.use, tool) }

func (t *turn) mustAnswer() []byte {
	t.Helper()
	answer, ok := t.server.Answer(t.call)
	if !ok {
		t.Fatalf("%s is not answered", t.use.Tool)
	}
	return answer
}

// answered holds that the host has the server's own bytes.
func (t *turn) answered(text string) {
	t.Helper()
	if t.cut {
		return // the host was told when the connection ended
	}
	if got := string(t.mustAnswer()); got != stage.Said(t.call, text) {
		t.Errorf("the host got %q", got)
	}
}

// heldEnds has the host tell how the call of hold ended.
func (t *turn) heldEnds() {
	t.Helper()
	if !t.cut {
		t.Post(t.use, content("two"))
		t.expectText("two")
		return
	}
	t.PostFailure(t.use, "Connection closed")
	t.expectText("two")
	t.want[len(t.want)-1].Output, t.want[len(t.want)-1].Error, t.want[len(t.want)-1].Status = "", "Connection closed", recorder.StatusToolError
}

func (t *turn) expect(input, output string, status recorder.Status) {
	t.want = append(t.want, stage.Call{ID: t.use.ID, Tool: t.use.Tool, Input: input, Output: output, Status: status})
}

// expectText expects the wire's result, which is more than the hook's rendering. What
// is recorded has no space between its members.
func (t *turn) expectText(text string) {
	input := fmt.Sprintf(`{"text":%q}`, text)
	if address, ok := t.use.Input["address"]; ok {
		input = fmt.Sprintf(`{"address":%q,"text":%q}`, address, text)
	}
	t.expect(input, fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"n":1.0}`, text), recorder.StatusOK)
}

// theRun reads the one bound run that there must be. What a proxy could not bring to
// the control server may be in a run of its own, too, which says that it is not whole.
func (t *turn) theRun() recorder.RunWithSteps {
	t.Helper()
	var bound []recorder.RunWithSteps
	for _, run := range t.Runs() {
		switch m := run.Run.Metadata; {
		case m.Tier == recorder.TierBound:
			bound = append(bound, run)
		case !t.killed || !m.Lossy:
			t.Errorf("a run of tier %s, lossy %v: %+v", m.Tier, m.Lossy, run)
		}
	}
	if len(bound) != 1 {
		t.Fatalf("%d bound runs are recorded, want 1: %+v", len(bound), bound)
	}
	return bound[0]
}

// whole holds that the run has everything, and says so.
func (t *turn) whole(run recorder.RunWithSteps) {
	t.Helper()
	calls, answer := t.Calls(run)
	if t.byID {
		slices.SortFunc(calls, func(x, y stage.Call) int { return strings.Compare(x.ID, y.ID) })
	}
	if diff := cmp.Diff(t.want, calls, cmp.Comparer(t.same)); diff != "" {
		t.Errorf("calls: %s", diff)
	}
	if run.Run.Input != prompt || answer != answerText {
		t.Errorf("prompt %q, answer %q", run.Run.Input, answer)
	}
	if run.Run.Metadata.Lossy || run.Run.Metadata.Tier != recorder.TierBound {
		t.Errorf("lossy %v, tier %s", run.Run.Metadata.Lossy, run.Run.Metadata.Tier)
	}
}

// same says whether two calls are one. After a kill the wire's half of a call may come
// too late, and the hook's rendering stands in its place.
func (t *turn) same(x, y stage.Call) bool {
	if t.killed {
		x, y = rendered(x), rendered(y)
	}
	return x == y
}

// rendered is a call as hooks see it.
func rendered(c stage.Call) stage.Call {
	var wire struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	if json.Unmarshal([]byte(c.Output), &wire) != nil {
		_ = json.Unmarshal([]byte(c.Output), &wire.Content) // or it is a built-in tool's
	}
	switch {
	case len(wire.Content) != 1:
	case wire.IsError:
		c.Output, c.Error = "", wire.Content[0].Text
	default:
		c.Output = wire.Content[0].Text
	}
	return c
}

// play plays the script, and kills before the point with that number.
func (t *turn) play(at int, kill func()) {
	for i, p := range script() {
		if i == at {
			t.settles(at)
			t.killed = true
			kill()
		}
		p.do(t)
	}
}

func TestATurnWithoutAKillIsWhole(t *testing.T) {
	turn := newTurn(t)
	turn.play(-1, nil)
	turn.whole(turn.theRun())
}

// eachPoint runs a test at every point of the script from the first on.
func eachPoint(t *testing.T, first int, test func(t *turn, at int)) {
	for i, p := range script() {
		if i < first {
			continue
		}
		t.Run("before "+p.name, func(t *testing.T) {
			t.Parallel()
			test(newTurn(t), i)
		})
	}
}

func TestAControlServerThatIsStartedAtOnceLosesNothing(t *testing.T) {
	eachPoint(t, 1, func(t *turn, at int) {
		t.play(at, func() {
			t.KillControl()
			t.StartControl()
		})
		t.whole(t.theRun())
	})
}

func TestAServiceThatIsKilledLosesNothing(t *testing.T) {
	eachPoint(t, 0, func(t *turn, at int) {
		t.Bir("runs", "list") // which starts it
		t.play(at, func() {
			if !t.KillService() {
				t.Error("no service ran")
			}
		})
		t.whole(t.theRun())
	})
}

func TestAProxyThatIsKilledLosesNothing(t *testing.T) {
	eachPoint(t, 2, func(t *turn, at int) {
		if script()[at].name == "SessionEnd" {
			return // it has left
		}
		t.play(at, func() {
			t.server.Kill()
			t.cut = script()[at].name == "answer hold"
			t.server = t.Connect("fleet") // as the host does at the next call
		})
		t.whole(t.theRun())
	})
}

// TestARestartInTheMiddleIsNotNoticed hands over to another control server.
func TestARestartInTheMiddleIsNotNoticed(t *testing.T) {
	eachPoint(t, 1, func(t *turn, at int) {
		t.play(at, func() { t.Bir("up", "--restart") })
		t.whole(t.theRun())
	})
}

// TestWhatAControlServerMissesIsRecoveredOrTheRunSaysSo lets one event find nobody.
func TestWhatAControlServerMissesIsRecoveredOrTheRunSaysSo(t *testing.T) {
	eachPoint(t, 1, func(t *turn, at int) {
		for i, p := range script() {
			switch i {
			case at:
				t.settles(at)
				t.killed = true
				t.KillControl()
			case at + 1:
				t.StartControl()
			}
			p.do(t)
		}
		if at == len(script())-1 {
			t.StartControl()
		}
		run := t.theRun()
		// A call whose end was missed has its number from when it was found.
		t.byID = true
		if run.Run.Metadata.Lossy {
			t.Log("the run is lossy")
			t.among(run)
			return
		}
		t.whole(run)
	})
}

// among holds that what a lossy run has is true.
func (t *turn) among(run recorder.RunWithSteps) {
	t.Helper()
	calls, _ := t.Calls(run)
	for _, got := range calls {
		if !slices.ContainsFunc(t.want, func(want stage.Call) bool { return t.same(want, got) }) {
			t.Errorf("a call that was not made: %+v", got)
		}
	}
}

// TestAProxyBringsADeadControlServerBack kills it and starts nothing.
func TestAProxyBringsADeadControlServerBack(t *testing.T) {
	turn := newTurn(t)
	at := slices.IndexFunc(script(), func(p point) bool { return p.name == "PreToolUse echo" })
	turn.play(at, func() {
		dead := turn.Control().PID
		turn.KillControl()
		turn.Await("another control server", func(h client.Health) bool { return h.PID != dead })
	})
	turn.whole(turn.theRun())
}
