package http

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	hello = `{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"sampling":{},"elicitation":{"form":{}}},"clientInfo":{"name":"host","version":"1"}},"jsonrpc":"2.0","id":0}`
	ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// conversation is what the host says after the handshake: a case for each method
// that has an answer, and for each thing that a server asks of a host.
var conversation = []string{
	request(1, "ping", `{}`),
	request(2, "tools/list", `{}`),
	request(3, "prompts/list", `{}`),
	request(4, "resources/list", `{}`),
	request(5, "resources/templates/list", `{}`),
	request(6, "tools/call", `{"name":"echo","arguments":{"message":"Zürich \u2028 \ud83d\ude00"}}`),
	request(7, "tools/call", `{"name":"get-sum","arguments":{"a":1,"b":2}}`),
	request(8, "tools/call", `{"name":"get-structured-content","arguments":{"location":"Chicago"}}`),
	request(9, "tools/call", `{"name":"get-tiny-image","arguments":{}}`),
	request(10, "tools/call", `{"name":"trigger-long-running-operation","arguments":{"duration":0.2,"steps":4},"_meta":{"progressToken":"p"}}`),
	request(11, "tools/call", `{"name":"no-such-tool","arguments":{}}`),
	request(12, "tools/call", `{"name":"trigger-sampling-request","arguments":{"prompt":"hi","maxTokens":5}}`),
	request(13, "tools/call", `{"name":"trigger-elicitation-request","arguments":{}}`),
	request(14, "prompts/get", `{"name":"simple-prompt"}`),
	request(15, "resources/read", `{"uri":"demo://resource/static/document/architecture.md"}`),
	request(16, "completion/complete", `{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"E"}}`),
	request(17, "logging/setLevel", `{"level":"error"}`),
	request(18, "resources/subscribe", `{"uri":"demo://resource/dynamic/text/1"}`),
	request(19, "resources/unsubscribe", `{"uri":"demo://resource/dynamic/text/1"}`),
	request(20, "no/such/method", `{}`),
	`{"jsonrpc":"2.0","id":"text-id","method":"ping"}`,
}

// ofTheCall keeps what belongs to a call: the answer, progress, and what the server
// asks. The rest may come at any time.
func ofTheCall(lines []string) []string {
	var kept []string
	for _, line := range lines {
		switch member(line, "method") {
		case "", `"notifications/progress"`, `"sampling/createMessage"`, `"elicitation/create"`:
			kept = append(kept, line)
		}
	}
	return kept
}

func TestEverythingServerAnswersTheSameThroughTheProxy(t *testing.T) {
	url := everything(t, "streamableHttp") + "/mcp"
	d := &direct{t: t, url: url}
	defer d.client.CloseIdleConnections()
	p := start(t, nil, "--url", url)
	compare(t, "initialize", d.speak(hello, nil), p.speak(hello))
	d.speak(ready, nil)
	p.speak(ready)
	for _, line := range conversation {
		compare(t, line, d.speak(line, nil), p.speak(line))
	}
}

func compare(t *testing.T, line string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(ofTheCall(want), ofTheCall(got)); diff != "" {
		t.Errorf("%.100s: %s", line, diff)
	}
}

// Over the legacy transport the direct answers are those of the other transport: the
// server behind both is the same.
func TestEverythingServerAnswersTheSameOverTheLegacyTransport(t *testing.T) {
	d := &direct{t: t, url: everything(t, "streamableHttp") + "/mcp"}
	defer d.client.CloseIdleConnections()
	p := start(t, nil, "--url", everything(t, "sse")+"/sse", "--transport", "sse")
	compare(t, "initialize", d.speak(hello, nil), p.speak(hello))
	d.speak(ready, nil)
	p.speak(ready)
	for _, line := range conversation {
		compare(t, line, d.speak(line, nil), p.speak(line))
	}
}

// The server asks for the roots on its own stream, which the proxy has to hold open.
func TestServerAsksOnItsOwnStream(t *testing.T) {
	p := start(t, nil, "--url", everything(t, "streamableHttp")+"/mcp")
	p.speak(hello)
	p.say(ready)
	for {
		line := p.hear()
		if member(line, "method") != `"roots/list"` {
			continue
		}
		p.say(reply(`"roots/list"`, member(line, "id")))
		break
	}
	heard := p.speak(request(1, "tools/call", `{"name":"get-roots-list","arguments":{}}`))
	if answer := heard[len(heard)-1]; !strings.Contains(answer, "file:///srv/fleet") {
		t.Errorf("the server did not get the roots: %s", answer)
	}
}
