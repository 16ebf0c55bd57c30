package relay_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay"
	"github.com/bir-run/bir/relay/jsonrpc"
	"github.com/bir-run/bir/relay/relaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(relaytest.Settle(m)) }

// session is a relay between a scripted host and upstream.
type session struct {
	*testing.T
	host  *relaytest.Host
	up    *relaytest.Upstream
	rec   *relaytest.Recorder
	relay *relay.Relay
	ended chan error
	stop  context.CancelFunc
}

func start(t *testing.T, change func(*relay.Config)) *session {
	s := &session{T: t, host: relaytest.NewHost(t), up: relaytest.NewUpstream(t),
		rec: relaytest.NewRecorder(t), ended: make(chan error, 1)}
	cfg := relay.Config{
		HostIn: s.host.In, HostOut: s.host.Out, Upstream: s.up, Name: "fleet",
		Record: relay.Record{Recorder: s.rec, Tier: recorder.TierStandalone, CWD: "/work",
			Server: recorder.Server{Transport: "stdio", Command: []string{"fleet-server"}}},
	}
	if change != nil {
		change(&cfg)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.stop = cancel
	t.Cleanup(cancel)
	s.relay = relay.New(cfg)
	go func() { s.ended <- s.relay.Run(ctx) }()
	return s
}

// ask sends a line from the host and expects it at the upstream, unchanged.
func (s *session) ask(line string) {
	s.Helper()
	s.host.Say(line + "\n")
	if got := s.up.Hear(); got != line+"\n" {
		s.Fatalf("the upstream got %q for %q", got, line)
	}
}

// reply sends a line from the upstream and expects it at the host, unchanged.
func (s *session) reply(line string) {
	s.Helper()
	s.up.Say(line + "\n")
	if got := s.host.Hear(); got != line+"\n" {
		s.Fatalf("the host got %q for %q", got, line)
	}
}

// end ends the session from the host's side.
func (s *session) end() {
	s.Helper()
	s.host.End()
	if err := <-s.ended; err != nil {
		s.Errorf("run: %v", err)
	}
}

func call(id, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"echo","arguments":` + args + `}}`
}

func result(id, body string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + body + `}`
}

// told is what matters of a recorded call.
type told struct {
	Tool, Args, Result, Error string
	Status                    recorder.Status
}

func (s *session) recorded() []told {
	var out []told
	for _, c := range s.rec.Calls() {
		out = append(out, told{c.ToolName, string(c.Args), string(c.Result), c.Error, c.Status})
	}
	return out
}

func TestACallIsRecordedAsItPassed(t *testing.T) {
	s := start(t, nil)
	s.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"claude-code","version":"2.1"}}}`)
	s.reply(result("0", `{}`))
	s.ask(`{"method":"tools/call","params":{"_meta":{"claudecode/toolUseId":"toolu_1","progressToken":4},"name":"echo","arguments":{"n":9007199254740993,"f":1.0,"z":-0}},"jsonrpc":"2.0","id":4}`)
	s.reply(`{"result":{"content":[ ],"structuredContent":{"x":1e400}},"jsonrpc":"2.0","id":4}`)
	s.end()

	run := s.rec.Runs()[0]
	want := recorder.Metadata{Recorder: "bir", Tier: recorder.TierStandalone, CWD: "/work",
		Host:           recorder.App{App: "claude-code", Version: "2.1"},
		WrappedServers: []string{"fleet"},
		Servers:        map[string]recorder.Server{"fleet": {Transport: "stdio", Command: []string{"fleet-server"}}}}
	if diff := cmp.Diff(want, run.Metadata); diff != "" || !strings.HasPrefix(run.ID, "run_") || run.Framework != "mcp" {
		t.Errorf("run %+v: %s", run, diff)
	}
	got := s.rec.Calls()[0]
	if got.ID != "toolu_1" || got.ServerName != "fleet" || got.Duration <= 0 || got.StartedAt.IsZero() {
		t.Errorf("call %+v", got)
	}
	if diff := cmp.Diff([]told{{"echo", `{"n":9007199254740993,"f":1.0,"z":-0}`,
		`{"content":[ ],"structuredContent":{"x":1e400}}`, "", recorder.StatusOK}}, s.recorded()); diff != "" {
		t.Error(diff)
	}
	if ends := s.rec.Ends(); len(ends) != 1 || ends[0].Lossy {
		t.Errorf("ends %+v", ends)
	}
}

func TestTheWayACallEndedIsItsStatus(t *testing.T) {
	for name, c := range map[string]struct {
		reply string
		want  told
	}{
		"ok":         {result("1", `{"content":[]}`), told{"echo", `{}`, `{"content":[]}`, "", recorder.StatusOK}},
		"tool error": {result("1", `{"content":[],"isError":true}`), told{"echo", `{}`, `{"content":[],"isError":true}`, "", recorder.StatusToolError}},
		"isError in the text is not one": {result("1", `{"content":[{"isError":true}],"isError":false}`),
			told{"echo", `{}`, `{"content":[{"isError":true}],"isError":false}`, "", recorder.StatusOK}},
		"rpc error":            {`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad \u0061rgs"}}`, told{"echo", `{}`, "", "bad args", recorder.StatusRPCError}},
		"id last, rpc error":   {`{"error":{"code":-1},"id":1}`, told{"echo", `{}`, "", `{"code":-1}`, recorder.StatusRPCError}},
		"id in other spelling": {result("1.0", `{}`), told{"echo", `{}`, `{}`, "", recorder.StatusOK}},
		"result is no object":  {result("1", `[1, 2]`), told{"echo", `{}`, `[1, 2]`, "", recorder.StatusOK}},
		"members after result": {`{"id":1,"result":{"a":1} ,"jsonrpc":"2.0"}`, told{"echo", `{}`, `{"a":1}`, "", recorder.StatusOK}},
		"in a batch":           {`[` + result("1", `{"b":1}`) + `]`, told{"echo", `{}`, `{"b":1}`, "", recorder.StatusOK}},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, nil)
			s.ask(call("1", "{}"))
			s.reply(c.reply)
			s.end()
			if diff := cmp.Diff([]told{c.want}, s.recorded()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACallWithoutArgumentsHasEmptyOnes(t *testing.T) {
	s := start(t, nil)
	s.ask(`{"id":1,"method":"tools/call","params":{"name":"now"}}`)
	s.reply(result("1", `{}`))
	s.end()
	if diff := cmp.Diff([]told{{"now", `{}`, `{}`, "", recorder.StatusOK}}, s.recorded()); diff != "" {
		t.Error(diff)
	}
}

func TestNothingButToolCallsIsRecorded(t *testing.T) {
	s := start(t, nil)
	s.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	s.reply(result("1", `{"tools":[]}`))
	s.reply(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}`)
	s.ask(result("1", `{}`))
	s.end()
	if len(s.rec.Runs())+len(s.rec.Calls()) != 0 {
		t.Errorf("recorded %+v", s.rec.Calls())
	}
}

func TestAnAnswerReachesTheHostBeforeTheRecorder(t *testing.T) {
	s := start(t, nil)
	release := make(chan struct{})
	s.rec.BeforeCall = func(recorder.Call) { <-release }
	for range 3 {
		s.ask(call("1", "{}"))
		s.reply(result("1", "{}"))
	}
	close(release)
	s.end()
	if n := len(s.rec.Calls()); n != 3 {
		t.Errorf("%d calls recorded", n)
	}
}

func TestTwoCallsUnderOneIDAreRelayedButNotRecorded(t *testing.T) {
	s := start(t, nil)
	s.ask(call("7", `{"n":1}`))
	s.ask(call("7", `{"n":2}`))
	s.reply(result("7", `{"first":true}`))
	s.reply(result("7", `{"second":true}`))
	s.ask(call("7", `{"n":3}`))
	s.reply(result("7", `{"third":true}`))
	s.end()
	if diff := cmp.Diff([]told{{"echo", `{"n":3}`, `{"third":true}`, "", recorder.StatusOK}}, s.recorded()); diff != "" {
		t.Error(diff)
	}
	if !s.rec.Ends()[0].Lossy {
		t.Error("the record does not say that it is incomplete")
	}
}

func TestIDsOfAllKindsFindTheirCalls(t *testing.T) {
	s := start(t, nil)
	ids := []string{`0`, `""`, `"0"`, `9007199254740993`, `9007199254740992`, `"caf\u00e9"`, `-1`}
	for _, id := range ids {
		s.ask(call(id, `{"id":`+id+`}`))
	}
	var want []told
	for _, id := range ids {
		s.reply(result(id, `{"id":`+id+`}`))
		want = append(want, told{"echo", `{"id":` + id + `}`, `{"id":` + id + `}`, "", recorder.StatusOK})
	}
	s.end()
	if diff := cmp.Diff(want, s.recorded()); diff != "" {
		t.Error(diff)
	}
}

func TestACancelledCallIsOneCancelledStepWhateverFollows(t *testing.T) {
	s := start(t, nil)
	s.ask(call("1", `{"n":1}`))
	s.ask(call("2", `{"n":2}`))
	s.ask(call("3", `{"n":3}`))
	s.ask(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"x"}}`)
	s.ask(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	s.reply(result("2", `{"late":true}`))
	s.reply(result("2", `{"again":true}`))
	s.end()
	want := []told{
		{"echo", `{"n":1}`, "", "", recorder.StatusCancelled},
		{"echo", `{"n":2}`, "", "", recorder.StatusCancelled},
		{"echo", `{"n":3}`, "", "", recorder.StatusNoAnswer},
	}
	if diff := cmp.Diff(want, s.recorded()); diff != "" {
		t.Error(diff)
	}
}

func TestAQuestionAndItsRetryAreOneCall(t *testing.T) {
	s := start(t, nil)
	s.ask(call("1", `{"path":"/a"}`))
	s.reply(result("1", `{"resultType":"input_required","inputRequests":{},"requestState":"st\u0061te"}`))
	s.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"path":"/a"},"inputResponses":{"q":1},"requestState":"state"}}`)
	s.reply(result("2", `{"resultType":"complete","content":[]}`))
	s.end()
	if diff := cmp.Diff([]told{{"echo", `{"path":"/a"}`, `{"resultType":"complete","content":[]}`, "", recorder.StatusOK}}, s.recorded()); diff != "" {
		t.Error(diff)
	}
}

func TestAQuestionWithoutRetryIsNoFinishedCall(t *testing.T) {
	s := start(t, nil)
	s.ask(call("1", `{}`))
	s.reply(result("1", `{"resultType":"input_required","requestState":"s"}`))
	s.ask(call("2", `{}`))
	s.reply(result("2", `{"resultType":"input_required"}`))
	s.end()
	want := []told{{"echo", `{}`, "", "", recorder.StatusCancelled}, {"echo", `{}`, "", "", recorder.StatusCancelled}}
	if diff := cmp.Diff(want, s.recorded()); diff != "" {
		t.Error(diff)
	}
}

func TestAHugePayloadIsRecordedAsItsSize(t *testing.T) {
	s := start(t, nil)
	huge := strings.Repeat("x", 9<<20)
	go s.host.Say(call("1", `{"a":"`+huge+`"}`) + "\n")
	if got := s.up.Hear(); len(got) < len(huge) {
		t.Fatalf("the upstream got %d bytes", len(got))
	}
	answer := result("1", `{"content":"`+huge+`"}`)
	go s.up.Say(answer + "\n")
	if got := s.host.Hear(); got != answer+"\n" {
		t.Fatalf("the host got %d bytes", len(got))
	}
	s.end()
	want := []told{{"echo", `{"truncated":true,"originalBytes":9437192}`, fmt.Sprintf(`{"truncated":true,"originalBytes":%d}`, len(answer)+1), "", recorder.StatusOK}}
	if diff := cmp.Diff(want, s.recorded()); diff != "" {
		t.Error(diff)
	}
}

func TestABrokenRecorderDoesNotTouchTheConversation(t *testing.T) {
	s := start(t, nil)
	s.rec.BeforeCall = func(recorder.Call) { panic("broken") }
	for range 3 {
		s.ask(call("1", "{}"))
		s.reply(result("1", "{}"))
	}
	s.end()
}

func TestBytesThatAreNoMessagesPass(t *testing.T) {
	s := start(t, nil)
	for _, line := range []string{"", "\r", "{\"a\":1}\r", "Server ready", "\xff\xfe", `{"id":null,"method":"x"}`, `{"id":null,"result":1}`, `{"a":"` + "\u2028" + `"}`, `[]`, `[[]]`} {
		s.ask(line)
		s.reply(line)
	}
	s.end()
}

func TestWithoutARecorderTheConversationIsTheSame(t *testing.T) {
	s := start(t, func(c *relay.Config) { c.Record.Recorder = nil })
	s.ask(call("1", "{}"))
	s.reply(result("1", "{}"))
	s.end()
}

func TestALateAnswerReachesAHostThatEndedItsInput(t *testing.T) {
	s := start(t, nil)
	s.up.OnStop = func() {
		s.up.HearEnd()
		s.up.Say(result("1", `{"late":true}`) + "\n")
		s.up.End()
	}
	s.ask(call("1", "{}"))
	s.end()
	if got := s.host.Hear(); got != result("1", `{"late":true}`)+"\n" {
		t.Errorf("the host got %q", got)
	}
	if diff := cmp.Diff([]told{{"echo", `{}`, `{"late":true}`, "", recorder.StatusOK}}, s.recorded()); diff != "" {
		t.Error(diff)
	}
}

func TestCancellingRunStopsTheUpstream(t *testing.T) {
	s := start(t, nil)
	s.ask(call("1", "{}"))
	s.stop()
	s.up.HearEnd()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

func TestManyCallsAtOnceAreAllRecordedOrMissed(t *testing.T) {
	const calls = 3000
	s := start(t, nil)
	go func() { // the upstream: pairs of calls, answered the wrong way round
		for range calls / 2 {
			first := jsonrpc.Classify([]byte(s.up.Hear()))
			second := jsonrpc.Classify([]byte(s.up.Hear()))
			s.up.Say(result(string(second.ID), `{"n":`+string(second.ID)+`}`) + "\n" + result(string(first.ID), `{"n":`+string(first.ID)+`}`) + "\n")
		}
	}()
	go func() {
		for n := range calls {
			s.host.Say(call(fmt.Sprint(n), fmt.Sprintf(`{"n":%d}`, n)) + "\n")
		}
	}()
	for range calls {
		s.host.Hear()
	}
	s.end()
	got := s.recorded()
	for _, c := range got {
		if c.Args != c.Result || c.Status != recorder.StatusOK {
			t.Fatalf("call %s has the answer %s", c.Args, c.Result)
		}
	}
	if lossy := s.rec.Ends()[0].Lossy; len(got) != calls && !lossy || len(got) == calls && lossy {
		t.Errorf("%d of %d calls recorded, lossy %v", len(got), calls, lossy)
	}
}

func TestTheCallIDIsDeclaredTakenOutAndReported(t *testing.T) {
	s := start(t, func(c *relay.Config) { c.CallIDs = true })
	s.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	s.up.Say(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{}}}],"ttlMs":1.0}}` + "\n")
	s.hear(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"__bir_call_id__":{"type":"string","description":"Reserved. Leave unset."}}}}],"ttlMs":1.0}}`)
	s.host.Say(call("2", `{"n":1.0,"__bir_call_id__":"call_7"}`) + "\n")
	if got := s.up.Hear(); got != call("2", `{"n":1.0}`)+"\n" {
		t.Errorf("the upstream got %s", got)
	}
	s.reply(result("2", `{}`))
	s.ask(call("3", `{"n":2}`))
	s.reply(result("3", `{"tools":[{"inputSchema":{}}]}`)) // no list
	s.end()
	if diff := cmp.Diff([]told{{"echo", `{"n":1.0}`, `{}`, "", recorder.StatusOK}, {"echo", `{"n":2}`, `{"tools":[{"inputSchema":{}}]}`, "", recorder.StatusOK}}, s.recorded()); diff != "" {
		t.Error(diff)
	}
	if id := s.rec.Calls()[0].ID; id != "call_7" {
		t.Errorf("recorded as %s", id)
	}
}

func TestWhilePausedNothingIsRecordedOrDeclared(t *testing.T) {
	var off atomic.Bool
	s := start(t, func(c *relay.Config) { c.Record.Paused, c.CallIDs = off.Load, true })
	s.ask(call("1", `{"n":1}`))
	s.reply(result("1", `{}`))
	s.rec.Await(1)
	s.ask(call("2", `{"n":2}`))
	off.Store(true)
	s.reply(result("2", `{}`)) // ends while off
	s.ask(call("3", `{"n":3}`))
	s.ask(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)
	s.reply(`{"jsonrpc":"2.0","id":4,"result":{"tools":[{"inputSchema":{}}]}}`)
	s.end()
	if got := s.recorded(); len(got) != 1 || got[0].Args != `{"n":1}` {
		t.Errorf("recorded %v", got)
	}
}

func TestADuplicateAnswerIsRelayedAndNotRecorded(t *testing.T) {
	s := start(t, nil)
	s.ask(call("1", `{}`))
	s.reply(result("1", `{"first":true}`))
	s.reply(result("1", `{"second":true}`))
	s.end()
	if diff := cmp.Diff([]told{{"echo", `{}`, `{"first":true}`, "", recorder.StatusOK}}, s.recorded()); diff != "" {
		t.Error(diff)
	}
}
