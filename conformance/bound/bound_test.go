//go:build unix

package bound

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/conformance/wire"
	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/recorder"
)

const handshake = `{"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"claude-code","version":"2.1"}},"jsonrpc":"2.0","id":0}` + "\n"

// session is a wire with a conversation on it.
type session struct {
	*wire.Wire
	home               home
	toUpstream, toHost string
}

func begin(t *testing.T, h home, o wire.Options) *session {
	t.Helper()
	o.Env = append(o.Env, "BIR_HOME="+h.dir)
	return &session{Wire: wire.Start(t, o), home: h}
}

// asks sends from the host and waits until the upstream has it.
func (s *session) asks(text string) {
	s.Helper()
	s.toUpstream += text
	s.HostSays(text, len(s.toUpstream))
}

// answers sends from the upstream and waits until the host has it.
func (s *session) answers(text string) {
	s.Helper()
	s.toHost += text
	s.UpstreamSays(text, len(s.toHost))
}

func (s *session) shakeHands() {
	s.Helper()
	s.asks(handshake)
	s.answers(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}` + "\n")
	s.asks(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
}

// turn is one call and its answer.
func (s *session) turn(n int) {
	s.Helper()
	s.asks(ask(n))
	s.answers(reply(n))
}

// finish ends the conversation, and holds that both sides got all of what the other
// said and nothing else.
func (s *session) finish() {
	s.Helper()
	s.In.Close()
	wire.Await(s.T, "the end of the upstream's input", s.InputEnd)
	s.Do(wire.DoExit, 0)
	if got := s.HostGets(); got != s.toHost {
		s.Errorf("the host got\n%q, not\n%q", got, s.toHost)
	}
	if got := s.Status(); got != 0 {
		s.Errorf("status %d", got)
	}
	if got := string(s.Upstream.Await(s.T, "the upstream's input", func([]byte, bool) bool { return true })); got != s.toUpstream {
		s.Errorf("the upstream got\n%q, not\n%q", got, s.toUpstream)
	}
}

func ask(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"n":%d.0,"apiKey":"s3cr3t-%d"},"_meta":{"claudecode/toolUseId":"toolu_%d"}}}`+"\n", n, n, n, n)
}

func reply(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"answer-%d."}]}}`+"\n", n, n)
}

func TestABoundProxyReportsItsCallsAndRecordsNothingItself(t *testing.T) {
	h, c := newHome(t), start(t, "plain")
	c.announce(h)
	s := begin(t, h, wire.Options{Env: []string{"CLAUDE_CODE_SESSION_ID=sess-1"}})
	first := next[client.Register](c, client.PathRegister)
	if first.ServerName != "fleet" || first.PID != s.Cmd.Process.Pid || first.SessionID != "sess-1" || first.Server.Transport != "stdio" {
		t.Errorf("registered as %+v", first)
	}
	s.shakeHands()
	again := next[client.Register](c, client.PathRegister)
	if again.ProxyID != first.ProxyID || again.Host.App != "claude-code" {
		t.Errorf("registered again as %+v", again)
	}
	for n := 1; n <= 3; n++ {
		s.turn(n)
	}
	for n := 1; n <= 3; n++ {
		got := next[client.StepReport](c, client.PathStep)
		if got.ToolUseID != fmt.Sprintf("toolu_%d", n) || got.ProxyID != first.ProxyID || got.Status != recorder.StatusOK ||
			!strings.Contains(string(got.Result), fmt.Sprintf("answer-%d.", n)) {
			t.Errorf("call %d: %+v", n, got)
		}
		if strings.Contains(string(got.Args), "s3cr3t") {
			t.Errorf("call %d carries its secret: %s", n, got.Args)
		}
		args := fmt.Sprintf(`{"apiKey":"s3cr3t-%d","n":%d.0}`, n, n)
		if want := client.Fingerprint(key, "fleet", "echo", []byte(args)); got.Fingerprint != want {
			t.Errorf("call %d: fingerprint %s, want %s", n, got.Fingerprint, want)
		}
	}
	s.finish()
	if left := h.spooled(t); left != "" {
		t.Errorf("recorded on its own: %s", left)
	}
}

func TestTheLastCallOfAConversationIsReported(t *testing.T) {
	h, c := newHome(t), start(t, "plain")
	c.announce(h)
	s := begin(t, h, wire.Options{})
	next[client.Register](c, client.PathRegister)
	s.turn(1)
	s.finish()
	if got := next[client.StepReport](c, client.PathStep); got.ToolUseID != "toolu_1" {
		t.Errorf("%+v", got)
	}
	if left := h.spooled(t); left != "" {
		t.Errorf("recorded on its own: %s", left)
	}
}

func TestAControlServerKilledInACallIsNoticedByNobody(t *testing.T) {
	h, c := newHome(t), start(t, "plain")
	c.announce(h)
	s := begin(t, h, wire.Options{})
	next[client.Register](c, client.PathRegister)
	s.turn(1)
	first := next[client.StepReport](c, client.PathStep)
	s.asks(ask(2))
	c.kill()
	s.answers(reply(2))
	s.turn(3)
	after := start(t, "plain")
	after.announce(h)
	got := next[client.StepReport](after, client.PathStep)
	if got.ID == first.ID { // to which the answer had not come
		got = next[client.StepReport](after, client.PathStep)
	}
	if got.ToolUseID != "toolu_2" || got.Lost > 0 {
		t.Errorf("%+v", got)
	}
	if got := next[client.StepReport](after, client.PathStep); got.ToolUseID != "toolu_3" || got.Lost > 0 {
		t.Errorf("%+v", got)
	}
	s.finish()
	if left := h.spooled(t); left != "" {
		t.Errorf("recorded on its own: %s", left)
	}
}

func TestWhatAKilledControlServerDidNotTakeIsRecordedAllTheSame(t *testing.T) {
	h, c := newHome(t), start(t, "plain")
	c.announce(h)
	s := begin(t, h, wire.Options{})
	next[client.Register](c, client.PathRegister)
	for n := 1; n <= 2; n++ {
		s.turn(n)
		next[client.StepReport](c, client.PathStep)
	}
	c.kill() // the answer to the second report may not have come
	s.turn(3)
	s.finish()
	left := h.spooled(t)
	if strings.Contains(left, "answer-1.") || !strings.Contains(left, "answer-3.") || !strings.Contains(left, `"lossy":true`) {
		t.Errorf("recorded on its own: %s", left)
	}
}

func TestADispatchedCallIsMadeBehindTheHostsBack(t *testing.T) {
	h, c := newHome(t), start(t, "plain")
	c.announce(h)
	s := begin(t, h, wire.Options{})
	s.shakeHands()
	s.turn(1)
	next[client.StepReport](c, client.PathStep) // so that the handshake has been noted
	c.dispatch(client.Dispatch{ID: "dsp_1", ToolName: "read", Args: []byte(`{"path":"/etc","n":1.0}`)})
	sent := `{"jsonrpc":"2.0","id":"bir:1","method":"tools/call","params":{"name":"read","arguments":{"path":"/etc","n":1.0}}}` + "\n"
	s.toUpstream += sent
	s.Upstream.Await(t, "the call", func(got []byte, _ bool) bool { return len(got) >= len(s.toUpstream) })
	s.Do(wire.DoWrite, []byte(`{"jsonrpc":"2.0","id":"bir:1","result":{"content":[],"n":1.0}}`+"\n")...)
	got := next[client.Result](c, client.PathResult)
	if got.ID != "dsp_1" || !got.Sent || string(got.Result) != `{"content":[],"n":1.0}` {
		t.Errorf("%+v", got)
	}
	s.turn(2)
	if got := next[client.StepReport](c, client.PathStep); got.ToolUseID != "toolu_2" {
		t.Errorf("the dispatched call was reported, too: %+v", got)
	}
	s.finish()
}

func TestTheSameBytesPassWithAndWithoutAControlServer(t *testing.T) {
	var got [2][2]string
	for i := range got {
		h := newHome(t)
		if i == 1 {
			c := start(t, "call-ids") // whose call ids nobody asked for
			c.announce(h)
			t.Cleanup(func() { next[client.StepReport](c, client.PathStep) })
		}
		s := begin(t, h, wire.Options{})
		s.shakeHands()
		s.asks(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}` + "\n")
		s.answers(`{"jsonrpc":"2.0","id":9,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object","x":1.0}}]}}` + "\n")
		s.asks("\r\n" + strings.Replace(ask(1), `{"n"`, `{"__bir_call_id__":"x", "n"`, 1))
		s.answers("noise\n" + reply(1) + "\n")
		for n := 2; n < 40; n++ {
			s.turn(n)
		}
		s.finish()
		got[i] = [2]string{s.HostGets(), s.toUpstream}
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		t.Error(diff)
	}
}

func TestCallIDsAreDeclaredAndTakenOutWhereTheyAreAskedFor(t *testing.T) {
	h, c := newHome(t), start(t, "call-ids")
	c.announce(h)
	s := begin(t, h, wire.Options{Env: []string{"BIR_CORRELATION=call-id"}})
	next[client.Register](c, client.PathRegister)
	list := `{"jsonrpc":"2.0","id":9,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"%s}}]}}` + "\n"
	s.asks(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}` + "\n")
	s.toHost += fmt.Sprintf(list, `,"properties":{"__bir_call_id__":{"type":"string","description":"Reserved. Leave unset."}}`)
	s.UpstreamSays(fmt.Sprintf(list, ""), len(s.toHost))
	s.toUpstream += ask(1)
	s.HostSays(strings.Replace(ask(1), `{"n"`, `{"__bir_call_id__":"bir-1","n"`, 1), len(s.toUpstream))
	s.answers(reply(1))
	if got := next[client.StepReport](c, client.PathStep); got.CallID != "bir-1" || got.ToolUseID != "toolu_1" {
		t.Errorf("%+v", got)
	}
	s.finish()
}

func TestAnEntryOfEveryProjectRecordsOnlyWhereBirWasInstalled(t *testing.T) {
	for installed, want := range map[bool]bool{false: false, true: true} {
		h := newHome(t)
		if installed {
			h.install(t)
		}
		s := begin(t, h, wire.Options{Flags: []string{"--user-scope"}})
		s.turn(1)
		s.finish()
		if left := h.spooled(t); strings.Contains(left, "answer-1.") != want {
			t.Errorf("installed %v: recorded %q", installed, left)
		}
	}
}

func TestTheControlServerOfAnSDKSessionComesFromTheEnvironment(t *testing.T) {
	h, theirs, own := newHome(t), start(t, "plain"), start(t, "plain")
	own.announce(h)
	s := begin(t, h, wire.Options{Env: []string{"BIR_CONTROL_URL=" + theirs.file.URL, "BIR_CONTROL_TOKEN=" + token}})
	next[client.Register](theirs, client.PathRegister)
	s.turn(1)
	next[client.StepReport](theirs, client.PathStep)
	s.finish()

	s = begin(t, h, wire.Options{Env: []string{"BIR_CONTROL_URL=" + theirs.file.URL}})
	next[client.Register](own, client.PathRegister)
	s.turn(1)
	next[client.StepReport](own, client.PathStep)
	s.finish()
}

func TestStandaloneIsForcedWhateverThereIs(t *testing.T) {
	h, c := newHome(t), start(t, "plain")
	c.announce(h)
	s := begin(t, h, wire.Options{Flags: []string{"--standalone"}})
	s.turn(1)
	s.finish()
	if left := h.spooled(t); !strings.Contains(left, "answer-1.") || len(c.told) > 0 {
		t.Errorf("%d requests, recorded %q", len(c.told), left)
	}
}

func TestSwitchedOffABoundProxyReportsNothing(t *testing.T) {
	h, c := newHome(t), start(t, "plain")
	c.announce(h)
	s := begin(t, h, wire.Options{})
	next[client.Register](c, client.PathRegister)
	s.turn(1)
	next[client.StepReport](c, client.PathStep)
	h.write(t, filepath.Join(h.dir, "off.json"), `{"everywhere":true}`)
	// The switch is looked at twice a second: until then a call may be reported.
	n := 2
	for thrown := time.Now(); time.Since(thrown) < 2*time.Second; n++ {
		s.turn(n)
		c.drain()
	}
	s.turn(1000001)
	s.finish()
	if left := c.drain() + h.spooled(t); strings.Contains(left, "answer-1000001.") {
		t.Errorf("reported or recorded: %s", left)
	}
}

// revivable is a proxy that was bound to a control server that died, with a program
// in the place of bir-control that says how it was called.
func revivable(t *testing.T, prepare func(h home)) (s *session, called func() string) {
	h, c := newHome(t), start(t, "plain")
	c.announce(h)
	prepare(h)
	bin := t.TempDir()
	calls := filepath.Join(bin, "calls")
	script := "#!/bin/sh\necho \"$@\" >> '" + calls + "'\n"
	if err := os.WriteFile(filepath.Join(bin, "bir-control"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s = begin(t, h, wire.Options{Env: []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}})
	next[client.Poll](c, client.PathPoll) // which comes once it is bound
	c.kill()
	return s, func() string {
		text, _ := os.ReadFile(calls)
		return string(text)
	}
}

func TestAControlServerThatDiedIsStartedAgain(t *testing.T) {
	s, called := revivable(t, func(h home) { h.install(t) })
	s.Stderr.Await(t, "the word of it", func(got []byte, _ bool) bool { return strings.Contains(string(got), "started again") })
	after := start(t, "plain")
	after.announce(s.home)
	next[client.Register](after, client.PathRegister)
	s.turn(1)
	next[client.StepReport](after, client.PathStep)
	got, want := "", "--root "+s.home.root+" --detach\n"
	for until := time.Now().Add(wire.Patience); len(got) < len(want) && time.Now().Before(until); runtime.Gosched() {
		got = called() // a shell of its own, which may be late
	}
	if got != want {
		t.Errorf("called with %q, want %q", got, want)
	}
	s.finish()
}

func TestAControlServerThatTheUserStoppedIsNot(t *testing.T) {
	for name, prepare := range map[string]func(h home){
		"stopped":       func(h home) { h.install(t); h.write(t, locate.StoppedPath(h.dir, h.root), "") },
		"not installed": func(home) {},
	} {
		s, called := revivable(t, prepare)
		for n := 1; n < 20; n++ {
			s.turn(n)
		}
		s.finish()
		if called() != "" {
			t.Errorf("%s: called with %q", name, called())
		}
	}
}

func TestAListOfServersLeavesNothingBehind(t *testing.T) {
	h, c := newHome(t), start(t, "plain")
	c.announce(h)
	s := begin(t, h, wire.Options{Env: []string{"CLAUDE_CODE_SESSION_ID=throw-away"}})
	s.shakeHands()
	s.finish()
	for len(c.told) > 0 {
		if one := <-c.told; one.Path != client.PathRegister && one.Path != client.PathPoll {
			t.Errorf("asked for %s", one.Path)
		}
	}
	if left := h.spooled(t); left != "" {
		t.Errorf("recorded %s", left)
	}
}
