package relay_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay"
	"github.com/bir-run/bir/relay/relaytest"
)

func TestAnUpstreamThatEndsOwesNoAnswer(t *testing.T) {
	s := start(t, nil)
	s.ask(call("4", "{}"))
	s.ask(`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`)
	s.ask(`{"jsonrpc":"2.0","id":"d","method":"server/discover"}`)
	s.ask(`{"jsonrpc":"2.0","id":5,"method":"resources/list"}`)
	s.ask(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	s.ask(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"m","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	s.up.End()
	for _, want := range []string{
		`{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"MCP server \"fleet\" is not available"}],"isError":true}}`,
		`{"jsonrpc":"2.0","id":"l","error":{"code":-32603,"message":"MCP server \"fleet\" is not available"}}`,
		`{"jsonrpc":"2.0","id":6,"result":{"resultType":"complete","content":[{"type":"text","text":"MCP server \"fleet\" is not available"}],"isError":true}}`,
	} {
		if got := s.host.Hear(); got != want+"\n" {
			t.Errorf("the host got %q, want %q", got, want)
		}
	}
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	want := []told{{"echo", `{}`, "", "", recorder.StatusNoAnswer}, {"m", `{}`, "", "", recorder.StatusNoAnswer}}
	if diff := cmp.Diff(want, s.recorded()); diff != "" {
		t.Error(diff)
	}
}

func TestOurAnswerNeverJoinsACutLine(t *testing.T) {
	s := start(t, nil)
	s.ask(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	s.up.Say(`{"jsonrpc":"2.0","id":1,"resu`)
	s.up.End()
	if got := s.host.Hear(); got != `{"jsonrpc":"2.0","id":1,"resu`+"\n" {
		t.Errorf("first %q", got)
	}
	if got := s.host.Hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"error"`) {
		t.Errorf("then %q", got)
	}
	<-s.ended
}

func TestAHostThatEndedIsNotAnswered(t *testing.T) {
	s := start(t, nil)
	s.ask(call("1", "{}"))
	s.end()
	s.host.Out.(interface{ Close() error }).Close()
	s.host.HearEnd()
}

func TestRefuseAnswersTheFirstThatIsOwedAnAnswer(t *testing.T) {
	in := strings.NewReader(`noise
{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover"}
{"jsonrpc":"2.0","method":"notifications/x"}
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}
{"jsonrpc":"2.0","id":1,"method":"tools/list"}
`)
	var out bytes.Buffer
	relay.Refuse(t.Context(), in, &out, "fleet", false)
	if got, want := out.String(), `{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"MCP server \"fleet\" is not available"}}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRefuseDoesNotWaitForAHostThatSaysNothing(t *testing.T) {
	host := relaytest.NewHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	relay.Refuse(ctx, host.In, host.Out, "fleet", false)
}

func TestAMessageOverTheLimitEndsWhatItWouldHaveEnded(t *testing.T) {
	const limit = 1024
	long := `"` + strings.Repeat("x", 4000) + `"`
	why := "The result was too large to deliver (%d bytes; the limit is 1024)"
	for name, c := range map[string]struct{ ask, reply, want string }{
		"a call": {call("1", "{}"), result("1", long),
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + why + `"}],"isError":true}}`},
		"id last": {call(`"a"`, "{}"), `{"result":` + long + `,"jsonrpc":"2.0","id":"a"}`,
			`{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"` + why + `"}],"isError":true}}`},
		"in a batch": {"[" + call("1", "{}") + "]", "[" + result("1", long) + "]",
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + why + `"}],"isError":true}}`},
		"another method": {`{"jsonrpc":"2.0","id":2,"method":"resources/read"}`, result("2", long),
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"` + why + `"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, func(c *relay.Config) { c.MaxMessageBytes = limit })
			s.ask(c.ask)
			s.up.Say(c.reply + "\n" + `{"jsonrpc":"2.0","method":"next"}` + "\n")
			if got := s.host.Hear(); got != c.reply[:limit]+"\n" {
				t.Errorf("the host got %d bytes", len(got))
			}
			s.hear(`{"jsonrpc":"2.0","method":"next"}`)
			s.hear(fmt.Sprintf(c.want, len(c.reply)+1))
			s.end()
			for _, got := range s.recorded() {
				if got.Status != recorder.StatusToolError || !strings.Contains(got.Result, "too large") {
					t.Errorf("recorded %v", got)
				}
			}
		})
	}
}

func TestARequestOverTheLimitIsRefusedAndANotificationDropped(t *testing.T) {
	s := start(t, func(c *relay.Config) { c.MaxMessageBytes = 1024 })
	long := strings.Repeat("x", 4000)
	go s.up.Say(`{"jsonrpc":"2.0","method":"notifications/message","params":"` + long + `"}` + "\n" +
		`{"jsonrpc":"2.0","id":"r","method":"sampling/createMessage","params":"` + long + `"}` + "\n")
	if got := s.up.Hear(); got != `{"jsonrpc":"2.0","id":"r","error":{"code":-32600,"message":"The request was too large to deliver"}}`+"\n" {
		t.Errorf("the upstream got %q", got)
	}
	s.host.Hear()
	s.host.Hear()
	s.end()
}

func TestALineAtTheLimitPasses(t *testing.T) {
	s := start(t, func(c *relay.Config) { c.MaxMessageBytes = 1024 })
	s.ask(call("1", "{}"))
	empty := len(result("1", `""`))
	s.reply(result("1", `"`+strings.Repeat("x", 1024-empty)+`"`))
	s.end()
}
