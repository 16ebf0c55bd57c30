package fakemodel

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/relay/relaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(relaytest.Settle(m)) }

// ask posts a request as a thread of a client, and returns the status and the text.
func ask(t *testing.T, s *Server, agent, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v1/messages?beta=true", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if session, ok := strings.CutPrefix(agent, "session "); ok {
		r.Header.Set(headerSession, session)
	} else if agent != "" {
		r.Header.Set(headerAgent, agent)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func start(t *testing.T, script Script) *Server {
	t.Helper()
	s, err := Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestEachThreadHasItsScript(t *testing.T) {
	s := start(t, Script{Main: []Reply{Says("main one"), Says("main two")}, Side: "title",
		Sessions: map[string][]Reply{"s1": {Says("other one")}},
		Agents:   map[string][]Reply{"count vans": {Says("van one"), Says("van two")}, "count buses": {Says("bus one")}}})
	const tools = `"tools":[{}]`
	for _, turn := range []struct{ agent, body, want string }{
		{"", `{` + tools + `}`, "main one"},
		{"a1", `{` + tools + `,"messages":"count vans"}`, "van one"},
		{"a2", `{` + tools + `,"messages":"count buses"}`, "bus one"},
		{"", `{}`, "title"},
		{"session s1", `{` + tools + `}`, "other one"},
		{"a1", `{` + tools + `}`, "van two"},
		{"", `{` + tools + `}`, "main two"},
	} {
		if status, text := ask(t, s, turn.agent, turn.body); status != http.StatusOK || !strings.Contains(text, turn.want) {
			t.Errorf("%s: status %d, %s; want %q", turn.body, status, text, turn.want)
		}
	}
	var threads []string
	for _, r := range s.Asked() {
		threads = append(threads, r.Thread)
	}
	if diff := cmp.Diff([]string{"", "count vans", "count buses", "side", "s1", "count vans", ""}, threads); diff != "" {
		t.Error(diff)
	}
	if len(s.Strays()) != 0 || s.Left() != 0 {
		t.Errorf("strays %q, %d replies left", s.Strays(), s.Left())
	}
}

func TestStreamTellsATextAndACall(t *testing.T) {
	s := start(t, Script{Main: []Reply{{Usage: Usage{Input: 3, Output: 7},
		Blocks: []Block{Text("I will look."), Tool("toolu_1", "Read", `{"path":"a"}`)}}}})
	_, text := ask(t, s, "", `{"stream":true,"model":"m","tools":[{}]}`)
	var kinds []string
	for line := range strings.Lines(text) {
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			kinds = append(kinds, strings.TrimSpace(kind))
		}
	}
	block := []string{"content_block_start", "content_block_delta", "content_block_stop"}
	want := append(append(append([]string{"message_start"}, block...), block...), "message_delta", "message_stop")
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{`"partial_json":"{\"path\":\"a\"}"`, `"stop_reason":"tool_use"`, `"output_tokens":7`, `"input_tokens":3`} {
		if !strings.Contains(text, part) {
			t.Errorf("the stream lacks %s:\n%s", part, text)
		}
	}
}

func TestWhatNoScriptForeseesIsAStray(t *testing.T) {
	s := start(t, Script{})
	for _, body := range []string{`{"tools":[{}]}`, `no JSON`} {
		if status, _ := ask(t, s, "", body); status != http.StatusBadRequest {
			t.Errorf("%s: status %d", body, status)
		}
	}
	if status, _ := ask(t, s, "a1", `{"tools":[{}]}`); status != http.StatusBadRequest {
		t.Errorf("a subagent without a script: status %d", status)
	}
	if n := len(s.Strays()); n != 3 {
		t.Errorf("%d strays, want 3: %q", n, s.Strays())
	}
}

func TestErrorsAndHeldReplies(t *testing.T) {
	hold := make(chan struct{})
	s := start(t, Script{Main: []Reply{{Status: http.StatusTooManyRequests}, {Blocks: []Block{Text("held")}, Hold: hold}}})
	if status, text := ask(t, s, "", `{"tools":[{}]}`); status != http.StatusTooManyRequests || !strings.Contains(text, "rate_limit_error") {
		t.Errorf("status %d: %s", status, text)
	}
	close(hold)
	if _, text := ask(t, s, "", `{"tools":[{}]}`); !strings.Contains(text, "held") {
		t.Errorf("the reply that was held back: %s", text)
	}
}
