package call

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/relay/jsonrpc"
	"github.com/bir-run/bir/relay/relaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(relaytest.Settle(m)) }

// opened makes a client whose handshake is done.
func opened(t *testing.T) (*Client, *relaytest.Upstream) {
	t.Helper()
	up := relaytest.NewUpstream(t)
	type result struct {
		c   *Client
		err error
	}
	got := make(chan result, 1)
	go func() {
		c, err := Open(t.Context(), up, Info{Name: "bir", Version: "1"})
		got <- result{c, err}
	}()
	up.Hear()
	up.Say(`{"result":{"protocolVersion":"2025-11-25"},"jsonrpc":"2.0","id":"bir:1"}` + "\n")
	up.Hear()
	r := <-got
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.c, up
}

// calling starts a call and returns where its outcome will be.
func calling(ctx context.Context, c *Client, tool, args string) <-chan answer {
	got := make(chan answer, 1)
	go func() {
		result, err := c.Call(ctx, tool, json.RawMessage(args))
		got <- answer{result, err}
	}()
	return got
}

func TestOpenShakesHands(t *testing.T) {
	up := relaytest.NewUpstream(t)
	done := make(chan error, 1)
	go func() {
		_, err := Open(t.Context(), up, Info{Name: "bir", Version: "1"})
		done <- err
	}()
	m := jsonrpc.Classify([]byte(up.Hear()))
	if m.Method != "initialize" || string(m.ID) != `"bir:1"` || !strings.Contains(string(m.Params()), `"capabilities":{}`) {
		t.Errorf("first message: %s", m.Raw)
	}
	up.Say(`{"jsonrpc":"2.0","id":"bir:1","result":{}}` + "\n")
	if line := up.Hear(); !strings.Contains(line, "notifications/initialized") {
		t.Errorf("second message: %s", line)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAServerWithoutHandshakeIsSpokenToInTheModernWay(t *testing.T) {
	up := relaytest.NewUpstream(t)
	done := make(chan *Client, 1)
	go func() {
		c, err := Open(t.Context(), up, Info{Name: "bir", Version: "1"})
		if err != nil {
			t.Error(err)
		}
		done <- c
	}()
	up.Hear()
	up.Say(`{"jsonrpc":"2.0","id":"bir:1","error":{"code":-32601,"message":"Method not found"}}` + "\n")
	calling(t.Context(), <-done, "echo", `{"a":1}`)
	line := up.Hear()
	for _, want := range []string{`"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`, `"arguments":{"a":1}`} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	up.Say(`{"jsonrpc":"2.0","id":"bir:2","result":{}}` + "\n")
}

func TestCallKeepsEveryByteOfArgumentsAndResult(t *testing.T) {
	c, up := opened(t)
	args := `{"big":9007199254740993,"f":1.0,"z":-0,"e":1e400,"s":"\u00e9\/"}`
	got := calling(t.Context(), c, "echo", args)
	if line := up.Hear(); !strings.Contains(line, `"arguments":`+args) {
		t.Errorf("sent %s", line)
	}
	result := `{"content":[ {"n":12345678901234567890} ],"isError":true}`
	up.Say(`{"jsonrpc":"2.0","id":"bir:2","result":` + result + `}` + "\r\n")
	if a := <-got; a.err != nil || string(a.result) != result {
		t.Errorf("got %s, %v", a.result, a.err)
	}
}

func TestArgumentsOverSeveralLinesAreSentAsOne(t *testing.T) {
	c, up := opened(t)
	got := calling(t.Context(), c, "echo", "{\r\n \"a\": 1\n}")
	if line := up.Hear(); !strings.Contains(line, `"a": 1`) || !strings.HasSuffix(line, "}}\n") {
		t.Errorf("sent %q", line)
	}
	up.Say(`{"jsonrpc":"2.0","id":"bir:2","result":{}}` + "\n")
	<-got
}

func TestAnswersFindTheirCalls(t *testing.T) {
	c, up := opened(t)
	first := calling(t.Context(), c, "a", "")
	idA := jsonrpc.Classify([]byte(up.Hear())).ID
	second := calling(t.Context(), c, "b", "")
	idB := jsonrpc.Classify([]byte(up.Hear())).ID
	up.Say(`noise` + "\n" + `{"jsonrpc":"2.0","method":"notifications/progress"}` + "\n")
	up.Say(`[{"jsonrpc":"2.0","id":` + string(idB) + `,"result":{"b":1}}]` + "\n")
	up.Say(`{"jsonrpc":"2.0","id":` + string(idA) + `,"error":{"code":-32602,"message":"bad"}}` + "\n")
	if a := <-second; string(a.result) != `{"b":1}` {
		t.Errorf("second: %+v", a)
	}
	var refused *RPCError
	if a := <-first; !errors.As(a.err, &refused) || refused.Code != -32602 || refused.Message != "bad" {
		t.Errorf("first: %v", a.err)
	}
}

func TestACancelledCallTellsTheServer(t *testing.T) {
	c, up := opened(t)
	ctx, cancel := context.WithCancel(t.Context())
	got := calling(ctx, c, "slow", "")
	up.Hear()
	cancel()
	if line := up.Hear(); !strings.Contains(line, "notifications/cancelled") || !strings.Contains(line, `"requestId":"bir:2"`) {
		t.Errorf("said %s", line)
	}
	var unanswered *NoAnswerError
	if a := <-got; !errors.As(a.err, &unanswered) || !errors.Is(a.err, context.Canceled) {
		t.Errorf("got %v", a.err)
	}
}

func TestAServerThatEndsLeavesCallsWithoutAnswer(t *testing.T) {
	c, up := opened(t)
	got := calling(t.Context(), c, "die", "")
	up.Hear()
	up.End()
	var unanswered *NoAnswerError
	if a := <-got; !errors.As(a.err, &unanswered) || !errors.Is(a.err, ErrEnded) {
		t.Errorf("sent call: %v", a.err)
	}
	<-c.done
	_, err := c.Call(t.Context(), "late", nil)
	var unsent *NotSentError
	if !errors.As(err, &unsent) {
		t.Errorf("call after the end: %v", err)
	}
}

func TestServerRequestsAreAnsweredHonestly(t *testing.T) {
	_, up := opened(t)
	for _, c := range []struct{ ask, want string }{
		{`{"jsonrpc":"2.0","id":0,"method":"ping"}`, `{"jsonrpc":"2.0","id":0,"result":{}}`},
		{`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`, `{"jsonrpc":"2.0","id":"r","error":{"code":-32601,"message":"Method not found"}}`},
	} {
		up.Say(c.ask + "\n")
		if got := up.Hear(); got != c.want+"\n" {
			t.Errorf("to %s: %s", c.ask, got)
		}
	}
}

func TestToolsComeFromAllPages(t *testing.T) {
	c, up := opened(t)
	type listed struct {
		tools []json.RawMessage
		err   error
	}
	got := make(chan listed, 1)
	go func() { tools, err := c.Tools(t.Context()); got <- listed{tools, err} }()
	up.Hear()
	up.Say(`{"jsonrpc":"2.0","id":"bir:2","result":{"tools":[{"name":"a"},{"name":"b","n":1.0}],"nextCursor":"2"}}` + "\n")
	if line := up.Hear(); !strings.Contains(line, `"cursor":"2"`) {
		t.Errorf("second page asked with %s", line)
	}
	up.Say(`{"jsonrpc":"2.0","id":"bir:3","result":{"tools":[{"name":"c"}]}}` + "\n")
	want := []json.RawMessage{[]byte(`{"name":"a"}`), []byte(`{"name":"b","n":1.0}`), []byte(`{"name":"c"}`)}
	if diff := cmp.Diff(listed{tools: want}.tools, (<-got).tools); diff != "" {
		t.Error(diff)
	}
}

func TestAnAnswerOverTheLimitIsAnError(t *testing.T) {
	up := relaytest.NewUpstream(t)
	done := make(chan *Client, 1)
	go func() { c, _ := Open(t.Context(), up, Info{MaxBytes: 1000}); done <- c }()
	up.Hear()
	up.Say(`{"jsonrpc":"2.0","id":"bir:1","result":{}}` + "\n")
	up.Hear()
	got := calling(t.Context(), <-done, "big", "")
	up.Hear()
	up.Say(`{"jsonrpc":"2.0","id":"bir:2","result":"` + strings.Repeat("x", 300<<10) + `"}` + "\n")
	if a := <-got; !errors.Is(a.err, ErrTooLarge) {
		t.Errorf("got %v", a.err)
	}
}

func TestCloseWaitsForTheServersEnd(t *testing.T) {
	c, up := opened(t)
	done := make(chan error, 1)
	go func() { done <- c.Close(t.Context()) }()
	up.HearEnd()
	up.End()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
