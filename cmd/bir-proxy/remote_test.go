package main

import (
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/recorder"
)

func remoteOf(t *testing.T, args ...string) remote {
	t.Helper()
	var r remote
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	r.register(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFlagsOfAServerOverHTTP(t *testing.T) {
	for _, args := range [][]string{
		{"--url", "https://mcp.example.com/mcp"}, {"--url", "http://[::1]:1/sse", "--transport", "sse", "--header", "A: b", "--header", "C:d"},
		{"--http", "--upstream", "http://127.0.0.1:9/mcp", "--port", "8080"},
	} {
		r := remoteOf(t, args...)
		if err := r.check(nil); err != nil || !r.asked() {
			t.Errorf("%q: %v", args, err)
		}
		if r.check([]string{"npx"}) == nil {
			t.Errorf("%q: a command was taken too", args)
		}
	}
	for _, args := range [][]string{
		{"--transport", "sse"}, {"--url", "ftp://x"}, {"--url", "http://x", "--transport", "ws"}, {"--url", "http://x", "--port", "1"},
		{"--http"}, {"--http", "--upstream", "http://x", "--url", "http://x"}, {"--http", "--upstream", "http://x", "--port", "65536"},
		{"--upstream", "http://x"}, {"--url", "http://x", "--header", "SECRET"}, {"--url", "http://x", "--header", "a b: SECRET"},
		{"--url", "http://user:SECRET@/"},
	} {
		err := remoteOf(t, args...).check(nil)
		if err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q: %v", args, err)
		}
	}
	if remoteOf(t).asked() {
		t.Error("no flag asks for a server over HTTP")
	}
}

func TestHeadersOfTheFlagsWin(t *testing.T) {
	r := remoteOf(t, "--header", "authorization: flag", "--header", "X: a:b ")
	got := r.headers(map[string]string{"Authorization": "env", "Y": "z"})
	if diff := cmp.Diff(map[string]string{"authorization": "flag", "X": "a:b", "Y": "z"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestServerOverHTTPIsNamedWithoutSecrets(t *testing.T) {
	for address, name := range map[string]string{
		"https://mcp.linear.app/sse": "linear", "https://api.mcp.example.com/x": "example", "http://localhost:1": "localhost", "http://127.0.0.1/": "server", "https://mcp": "mcp",
	} {
		if got := remoteOf(t, "--url", address).name(); got != name {
			t.Errorf("%s: %q", address, got)
		}
	}
	got := remoteOf(t, "--url", "https://u:p@h:1/mcp?key=k#f", "--transport", "sse").server()
	if diff := cmp.Diff(recorder.Server{Transport: "sse", URL: "https://h:1/mcp"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRemoteRelaysUntilTheHostEnds(t *testing.T) {
	const answer = `{"jsonrpc":"2.0","id":1,"result":{}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "k" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer)
	}))
	defer server.Close()
	var out strings.Builder
	p := proxy{config: config{ServerName: "fleet", NoRecord: true}, env: env.Env{UpstreamHeaders: map[string]string{"X-Key": "k"}},
		in: io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")), out: &out, err: io.Discard}
	if code := p.runRemote(t.Context(), remoteOf(t, "--url", server.URL)); code != 0 || out.String() != answer+"\n" {
		t.Errorf("code %d, %q", code, out.String())
	}
}
