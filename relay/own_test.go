package relay_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bir-run/bir/relay"
	caller "github.com/bir-run/bir/relay/call"
	"github.com/bir-run/bir/relay/jsonrpc"
)

type outcome struct {
	result json.RawMessage
	err    error
}

// openConversation shakes hands and waits until the relay has noted all of it, which
// it does after the host got it.
func (s *session) openConversation() {
	s.Helper()
	s.shakeHands()
	s.reply(`{"jsonrpc":"2.0","method":"notifications/message"}`)
}

// makeCall has the relay make a call of its own.
func (s *session) makeCall(ctx context.Context, tool, args string) <-chan outcome {
	made := make(chan outcome, 1)
	go func() {
		result, err := s.relay.Call(ctx, tool, json.RawMessage(args))
		made <- outcome{result, err}
	}()
	return made
}

// hearOwn expects a call of the relay's own at the upstream, and returns its id.
func (s *session) hearOwn(wants ...string) string {
	s.Helper()
	line := s.up.Hear()
	for _, want := range append(wants, `"method":"tools/call"`) {
		if !strings.Contains(line, want) {
			s.Fatalf("the upstream got %q, want %s in it", line, want)
		}
	}
	m := jsonrpc.Classify([]byte(line))
	return string(m.ID)
}

func TestACallOfOursIsSeenByTheUpstreamAlone(t *testing.T) {
	s := start(t, nil)
	s.openConversation()
	made := s.makeCall(t.Context(), "read", `{"n":1.0}`)
	id := s.hearOwn(`"name":"read"`, `"arguments":{"n":1.0}`)
	if !strings.HasPrefix(id, `"bir:`) {
		t.Errorf("id %s", id)
	}
	progress := `{"jsonrpc":"2.0","method":"notifications/progress"}`
	s.up.Say(progress + "\n" + result(id, `{"content":[],"x":1.0}`) + "\n" + `{"jsonrpc":"2.0","method":"notifications/message"}` + "\n")
	s.hear(progress)
	s.hear(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	if got := <-made; got.err != nil || string(got.result) != `{"content":[],"x":1.0}` {
		t.Errorf("%s, %v", got.result, got.err)
	}
	s.ask(call("1", "{}"))
	s.reply(result("1", "{}"))
	s.rec.Await(1)
	s.end()
	if got := s.rec.Calls(); len(got) != 1 {
		t.Errorf("recorded %+v", got)
	}
}

func TestAnAnswerToUsIsTakenOutWhereverItIsSplit(t *testing.T) {
	s := start(t, nil)
	s.openConversation()
	for split := 1; split < 60; split += 7 {
		made := s.makeCall(t.Context(), "read", `{}`)
		text := `{"jsonrpc":"2.0","result":{"text":"` + strings.Repeat("x", 80) + `"},"id":` + s.hearOwn() + "}\n"
		before := `{"jsonrpc":"2.0","method":"notifications/message","params":{"split":true}}` + "\n"
		s.up.Say(before[:split])
		s.up.Say(before[split:] + text[:split])
		s.up.Say(text[split:])
		s.hear(strings.TrimSpace(before))
		if got := <-made; got.err != nil || len(got.result) < 80 {
			t.Fatalf("split at %d: %s, %v", split, got.result, got.err)
		}
	}
	s.end()
}

func TestALargeAnswerToUsDoesNotReachTheHost(t *testing.T) {
	s := start(t, func(c *relay.Config) { c.MaxMessageBytes = 1 << 20 })
	s.openConversation()
	made := s.makeCall(t.Context(), "read", `{}`)
	id := s.hearOwn()
	text := strings.Repeat("y", 9<<20) // more than is copied for the record
	go s.up.Say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"text":"` + text + `"}}` + "\n")
	if got := <-made; got.err != nil || len(got.result) < len(text) {
		t.Errorf("%d bytes, %v", len(got.result), got.err)
	}
	s.ask(call("1", "{}"))
	s.reply(result("1", "{}"))
	s.end()
}

func TestCallsOfOursAndOfTheHostMix(t *testing.T) {
	s := start(t, nil)
	s.openConversation()
	const each = 50
	var all sync.WaitGroup
	all.Go(func() { // the upstream
		for range 2 * each {
			m := jsonrpc.Classify([]byte(s.up.Hear()))
			s.up.Say(result(string(m.ID), fmt.Sprintf(`{"to":%s}`, m.ID)) + "\n")
		}
	})
	for i := range each {
		all.Go(func() {
			if got := <-s.makeCall(t.Context(), "read", fmt.Sprintf(`{"i":%d}`, i)); got.err != nil || !strings.Contains(string(got.result), "bir:") {
				t.Errorf("%s, %v", got.result, got.err)
			}
		})
		s.host.Say(call(fmt.Sprint(i+1), "{}") + "\n")
	}
	for range each {
		if got := s.host.Hear(); strings.Contains(got, "bir:") {
			t.Errorf("the host got %s", got)
		}
	}
	all.Wait()
	s.rec.Await(each)
	s.end()
}

func TestBeforeTheHostHasOpenedTheConversationNothingIsSent(t *testing.T) {
	s := start(t, nil)
	unsent := func(when string) {
		t.Helper()
		var want *caller.NotSentError
		if got := <-s.makeCall(t.Context(), "read", `{}`); !errors.As(got.err, &want) {
			t.Errorf("%s: %v", when, got.err)
		}
	}
	unsent("at the start")
	s.ask(initialize)
	unsent("unanswered")
	s.reply(result("0", `{}`))
	unsent("before initialized")
	s.ask(initialized)
	s.end()
	unsent("at the end")
}

func TestOnTheModernWireACallOfOursCarriesItsMeta(t *testing.T) {
	s := start(t, func(c *relay.Config) { c.Self = caller.Info{Name: "bir", Version: "1"} })
	s.ask(`{"jsonrpc":"2.0","id":"p","method":"server/discover","params":{}}`)
	s.reply(result(`"p"`, `{"supportedVersions":["2026-07-28"]}`))
	s.ask(call("1", "{}")) // so that the answer before it is noted
	s.reply(result("1", `{}`))
	s.rec.Await(1)
	made := s.makeCall(t.Context(), "read", `{}`)
	id := s.hearOwn(`"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`)
	s.up.Say(result(id, `{}`) + "\n")
	if got := <-made; got.err != nil {
		t.Error(got.err)
	}
	s.end()
}

func TestACallOfOursThatIsGivenUpIsCancelledAndItsLateAnswerSwallowed(t *testing.T) {
	s := start(t, nil)
	s.openConversation()
	ctx, cancel := context.WithCancel(t.Context())
	made := s.makeCall(ctx, "read", `{}`)
	id := s.hearOwn()
	cancel()
	var want *caller.NoAnswerError
	if got := <-made; !errors.As(got.err, &want) {
		t.Errorf("%v", got.err)
	}
	if line := s.up.Hear(); !strings.Contains(line, "notifications/cancelled") || !strings.Contains(line, id) {
		t.Errorf("the upstream got %s", line)
	}
	s.up.Say(result(id, `{}`) + "\n")
	s.ask(call("1", "{}"))
	s.reply(result("1", "{}"))
	s.end()
}

func TestAnUpstreamThatEndsUnderACallOfOursLeavesItUnanswered(t *testing.T) {
	s, next := restarting(t)
	s.openConversation()
	made := s.makeCall(t.Context(), "read", `{}`)
	s.hearOwn()
	s.up.End()
	var want *caller.NoAnswerError
	if got := <-made; !errors.As(got.err, &want) {
		t.Errorf("%v", got.err)
	}
	if line := next.Hear(); !strings.Contains(line, "initialize") {
		t.Fatalf("the next upstream got %s", line)
	}
	next.Say(result(`"bir:restart"`, `{}`) + "\n")
	next.Hear() // initialized
	s.up = next
	s.ask(call("1", "{}"))
	again := s.makeCall(t.Context(), "read", `{}`)
	s.up.Say(result(s.hearOwn(), `{}`) + "\n")
	if got := <-again; got.err != nil {
		t.Error(got.err)
	}
	s.reply(result("1", "{}"))
	s.end()
}

func TestAHostThatUsesSuchIDsItselfKeepsItsAnswers(t *testing.T) {
	s := start(t, nil)
	s.openConversation()
	s.ask(call(`"bir:7"`, "{}"))
	made := s.makeCall(t.Context(), "read", `{}`)
	id := s.hearOwn()
	s.reply(result(`"bir:7"`, `{"for":"the host"}`))
	s.up.Say(result(id, `{}`) + "\n")
	if got := <-made; got.err != nil {
		t.Error(got.err)
	}
	s.end()
}
