package http

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bir-run/bir/conformance/built"
)

type region struct {
	Region string `json:"region"`
	Count  int    `json:"count"`
}

// sdkServer is a server of the official SDK with a tool that wants headers.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "query", InputSchema: map[string]any{
		"type": "object",
		"properties": map[string]any{
			"region": map[string]any{"type": "string", "x-mcp-header": "Region"},
			"count":  map[string]any{"type": "integer", "x-mcp-header": "Count"},
		},
	}}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "hello"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi"}}}}, nil
	})
	return s
}

func sdkURL(t *testing.T, opts *mcp.StreamableHTTPOptions) string {
	t.Helper()
	server := sdkServer()
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, opts))
	t.Cleanup(h.Close)
	return h.URL
}

// modern is a request of 2026-07-28.
func modern(id int, method, params string) string {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"host","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	if params != "" {
		meta = params + "," + meta
	}
	return request(id, method, "{"+meta+"}")
}

// headers are what the direct client sends with a modern request, written by hand.
func headers(method, name string, more ...string) http.Header {
	h := http.Header{}
	h.Set("Mcp-Protocol-Version", "2026-07-28")
	h.Set("Mcp-Method", method)
	if name != "" {
		h.Set("Mcp-Name", name)
	}
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return h
}

func TestModernServerAnswersTheSameThroughTheProxy(t *testing.T) {
	for name, opts := range map[string]*mcp.StreamableHTTPOptions{
		"event streams": {Stateless: true}, "JSON": {Stateless: true, JSONResponse: true},
	} {
		t.Run(name, func(t *testing.T) {
			url := sdkURL(t, opts)
			d := &direct{t: t, url: url}
			defer d.client.CloseIdleConnections()
			p := start(t, nil, "--url", url)
			zurich := "=?base64?" + base64.StdEncoding.EncodeToString([]byte("Zürich")) + "?="
			for _, c := range []struct {
				line    string
				headers http.Header
			}{
				{modern(1, "server/discover", ""), headers("server/discover", "")},
				{modern(2, "tools/list", ""), headers("tools/list", "")},
				{modern(3, "tools/call", `"name":"query","arguments":{"region":"eu","count":3}`), headers("tools/call", "query", "Mcp-Param-Region", "eu", "Mcp-Param-Count", "3")},
				{modern(4, "tools/call", `"name":"query","arguments":{"region":"Zürich"}`), headers("tools/call", "query", "Mcp-Param-Region", zurich)},
				{modern(5, "prompts/list", ""), headers("prompts/list", "")},
				{modern(6, "prompts/get", `"name":"hello"`), headers("prompts/get", "hello")},
				{modern(7, "resources/read", `"uri":"file:///none"`), headers("resources/read", "file:///none")},
				{modern(8, "no/such/method", ""), headers("no/such/method", "")},
				{modern(9, "tools/call", `"name":"none","arguments":{}`), headers("tools/call", "none")},
			} {
				want, got := d.speak(c.line, c.headers), p.speak(c.line)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", c.line, diff)
				}
			}
			// The same process speaks the legacy era too.
			want, got := d.speak(hello, nil), p.speak(hello)
			if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got[0], "2025-11-25") {
				t.Errorf("initialize: %s", diff)
			}
		})
	}
}

// Without the headers the server refuses the call, so it is the proxy that sends them.
func TestServerInsistsOnTheHeaders(t *testing.T) {
	d := &direct{t: t, url: sdkURL(t, &mcp.StreamableHTTPOptions{Stateless: true})}
	defer d.client.CloseIdleConnections()
	line := modern(1, "tools/call", `"name":"query","arguments":{"region":"eu"}`)
	if got := d.speak(line, headers("tools/call", "query")); !strings.Contains(got[0], "error") {
		t.Errorf("the server does not look at the headers: %s", got)
	}
}

// sdkSession drives a whole client session and returns what it saw.
func sdkSession(t *testing.T, transport mcp.Transport) []string {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	saw := []string{tools.Tools[0].Name}
	for range 20 {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "query", Arguments: region{"Zürich", 7}})
		if err != nil {
			t.Fatal(err)
		}
		saw = append(saw, result.Content[0].(*mcp.TextContent).Text)
	}
	prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	return append(saw, prompt.Messages[0].Content.(*mcp.TextContent).Text)
}

func TestSDKClientSeesNoProxy(t *testing.T) {
	dir, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) mcp.Transport {
		cmd := exec.Command(built.Path(dir, "bir-proxy"), append([]string{"--no-record"}, args...)...)
		cmd.Env = append(cmd.Environ(), "BIR_HOME="+t.TempDir())
		return &mcp.CommandTransport{Command: cmd}
	}
	server := sdkServer()
	legacySSE := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return server }, nil))
	defer legacySSE.Close()
	for name, c := range map[string]struct {
		direct, proxied mcp.Transport
	}{
		"stateless": func() (c struct{ direct, proxied mcp.Transport }) {
			url := sdkURL(t, &mcp.StreamableHTTPOptions{Stateless: true})
			c.direct, c.proxied = &mcp.StreamableClientTransport{Endpoint: url}, command("--url", url)
			return c
		}(),
		"sessions": func() (c struct{ direct, proxied mcp.Transport }) {
			url := sdkURL(t, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)})
			c.direct, c.proxied = &mcp.StreamableClientTransport{Endpoint: url}, command("--url", url)
			return c
		}(),
		"legacy": {&mcp.SSEClientTransport{Endpoint: legacySSE.URL}, command("--url", legacySSE.URL, "--transport", "sse")},
	} {
		t.Run(name, func(t *testing.T) {
			want, got := sdkSession(t, c.direct), sdkSession(t, c.proxied)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	http.DefaultClient.CloseIdleConnections()
}

// A front is asked by a client of its own and gives what the server gives.
func TestFrontPassesEverythingOn(t *testing.T) {
	for name, url := range map[string]string{
		"modern":   sdkURL(t, &mcp.StreamableHTTPOptions{Stateless: true}),
		"sessions": sdkURL(t, &mcp.StreamableHTTPOptions{}),
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, nil, "--http", "--upstream", url+"/")
			front := p.hear()
			want := sdkSession(t, &mcp.StreamableClientTransport{Endpoint: url})
			got := sdkSession(t, &mcp.StreamableClientTransport{Endpoint: front})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			http.DefaultClient.CloseIdleConnections()
			p.interrupt()
		})
	}
}
