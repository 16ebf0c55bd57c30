package relay_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay"
	"github.com/bir-run/bir/relay/relaytest"
)

const (
	initialize  = `{"method":"initialize","params":{"protocolVersion":"2025-11-25","x":1.0},"jsonrpc":"2.0","id":0}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// restarting is a session whose upstream can be followed by another, once.
func restarting(t *testing.T) (*session, *relaytest.Upstream) {
	next := relaytest.NewUpstream(t)
	first := true
	s := start(t, func(c *relay.Config) {
		c.Restart = func(context.Context) (relay.Upstream, error) {
			if !first {
				t.Error("restarted twice")
			}
			first = false
			return next, nil
		}
	})
	return s, next
}

func (s *session) shakeHands() {
	s.Helper()
	s.ask(initialize)
	s.reply(result("0", `{"capabilities":{}}`))
	s.ask(initialized)
}

// hear expects the host to get a line.
func (s *session) hear(want string) {
	s.Helper()
	if got := s.host.Hear(); got != want+"\n" {
		s.Errorf("the host got %q, want %q", got, want)
	}
}

func unavailable(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"MCP server \"fleet\" is not available"}],"isError":true}}`
}

func TestARestartedUpstreamGetsTheHandshakeAndTheHostDoesNotSeeIt(t *testing.T) {
	s, next := restarting(t)
	s.shakeHands()
	s.ask(call("1", "{}"))
	s.up.Say(`{"cut`)
	s.up.End()
	if got := s.host.Hear(); got != `{"cut`+"\n" {
		t.Errorf("the host got %q", got)
	}
	s.hear(unavailable("1"))

	if got, want := next.Hear(), strings.Replace(initialize, `"id":0`, `"id":"bir:restart"`, 1)+"\n"; got != want {
		t.Errorf("the upstream got %q, want %q", got, want)
	}
	s.host.Say(call("2", "{}") + "\n") // waits for the handshake
	next.Say(`{"jsonrpc":"2.0","method":"notifications/message"}` + "\n" + result(`"bir:restart"`, `{}`) + "\n" + `{"jsonrpc":"2.0","method":"x"}` + "\n")
	s.hear(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	s.hear(`{"jsonrpc":"2.0","method":"x"}`)
	if got := next.Hear(); got != initialized+"\n" {
		t.Errorf("then %q", got)
	}
	if got := next.Hear(); got != call("2", "{}")+"\n" {
		t.Errorf("then %q", got)
	}
	next.Say(result("2", `{"second":true}`) + "\n")
	s.hear(result("2", `{"second":true}`))

	s.host.Say(call("3", "{}") + "\n")
	next.Hear()
	next.End() // this time for good
	s.hear(unavailable("3"))
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	want := []told{{"echo", `{}`, "", "", recorder.StatusNoAnswer}, {"echo", `{}`, `{"second":true}`, "", recorder.StatusOK}, {"echo", `{}`, "", "", recorder.StatusNoAnswer}}
	if diff := cmp.Diff(want, s.recorded()); diff != "" {
		t.Error(diff)
	}
}

func TestALineThatBeganAtTheOldUpstreamDoesNotReachTheNew(t *testing.T) {
	next, gone := relaytest.NewUpstream(t), make(chan struct{})
	s := start(t, func(c *relay.Config) {
		c.Restart = func(context.Context) (relay.Upstream, error) { close(gone); return next, nil }
	})
	// Longer than one read: its head goes on before its end is known.
	long := call("7", `{"a":"`+strings.Repeat("x", 300<<10)+`"}`)
	s.host.Say(long[:200<<10])
	s.up.End()
	<-gone
	// No handshake was seen, so the new upstream is there at once; the rest of the line
	// belongs to the old one.
	go s.host.Say(long[200<<10:] + "\n" + call("8", "{}") + "\n")
	s.hear(unavailable("7"))
	if got := next.Hear(); got != call("8", "{}")+"\n" {
		t.Errorf("the new upstream got %.80q", got)
	}
	next.Say(result("8", "{}") + "\n")
	s.hear(result("8", "{}"))
	s.end()
}

func TestAnUpstreamThatRefusesTheRepeatedHandshakeIsTheEnd(t *testing.T) {
	s, next := restarting(t)
	s.shakeHands()
	s.up.End()
	next.Hear()
	s.host.Say(call("1", "{}") + "\n")
	next.Say(`{"jsonrpc":"2.0","id":"bir:restart","error":{"code":1,"message":"no"}}` + "\n")
	s.hear(unavailable("1"))
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

func TestAnUpstreamThatEndsDuringTheHandshakeIsNotRestarted(t *testing.T) {
	s, _ := restarting(t)
	s.ask(initialize)
	s.up.End()
	s.hear(`{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"MCP server \"fleet\" is not available"}}`)
	<-s.ended
}

func TestARestartThatFailsEndsTheConversation(t *testing.T) {
	s := start(t, func(c *relay.Config) {
		c.Restart = func(context.Context) (relay.Upstream, error) { return nil, errors.New("no more") }
	})
	s.shakeHands()
	s.ask(call("1", "{}"))
	s.up.End()
	s.hear(unavailable("1"))
	<-s.ended
}

func TestStayingUpAnswersEveryRequest(t *testing.T) {
	s := start(t, func(c *relay.Config) { c.StayUp = true })
	s.ask(call("1", "{}"))
	s.up.End()
	s.hear(unavailable("1"))
	for _, id := range []string{"2", `"x"`} {
		s.host.Say(`{"jsonrpc":"2.0","method":"notifications/x"}` + "\n" + call(id, "{}") + "\n")
		s.hear(unavailable(id))
	}
	s.host.Say(`{"jsonrpc":"2.0","id":3,"method":"server/discover"}` + "\n")
	s.hear(`{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"MCP server \"fleet\" is not available"}}`)
	s.end()
	if got := len(s.rec.Calls()); got != 3 {
		t.Errorf("%d calls recorded", got)
	}
}
