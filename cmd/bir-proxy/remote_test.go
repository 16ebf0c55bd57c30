package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/recorder"
)

func TestFlagsOfAServerOverHTTP(t *testing.T) {
	for _, args := range [][]string{
		{"--url", "https://mcp.example.com/mcp"}, {"--url", "http://[::1]:1/sse", "--transport", "sse", "--header", "A: b", "--header", "C:d"},
		{"--http", "--upstream", "http://127.0.0.1:9/mcp", "--port", "8080"},
	} {
		if c, err := parseFlags(args); err != nil || c.URL == "" || c.Transport == "" {
			t.Errorf("%q: %+v, %v", args, c, err)
		}
		if _, err := parseFlags(append(args, "--", "npx")); err == nil {
			t.Errorf("%q: a command was taken too", args)
		}
	}
	for _, args := range [][]string{
		{"--transport", "sse", "--", "x"}, {"--url", "ftp://x"}, {"--url", "http://x", "--transport", "ws"}, {"--url", "http://x", "--port", "1"},
		{"--http"}, {"--http", "--upstream", "http://x", "--url", "http://x"}, {"--http", "--upstream", "http://x", "--port", "65536"},
		{"--upstream", "http://x"}, {"--url", "http://x", "--header", "a b: SECRET"}, {"--header", "A: b", "--", "x"},
		{"--url", "http://user:SECRET@/"}, {"--http", "--upstream", "http://x", "--transport", "sse"},
	} {
		if _, err := parseFlags(args); err == nil || strings.Contains(err.Error(), "user:SECRET") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestHeadersOfTheFlagsWin(t *testing.T) {
	p := proxy{config: config{Header: map[string]string{"authorization": "flag", "X": "a:b"}},
		env: env.Env{UpstreamHeaders: map[string]string{"Authorization": "env", "Y": "z"}}}
	if diff := cmp.Diff(map[string]string{"authorization": "flag", "X": "a:b", "Y": "z"}, p.web().Header); diff != "" {
		t.Error(diff)
	}
}

func TestAServerOverHTTPIsRecordedWithoutSecrets(t *testing.T) {
	p := proxy{config: config{URL: "https://u:p@h:1/mcp?key=k#f", Transport: "sse"}}
	if diff := cmp.Diff(recorder.Server{Transport: "sse", URL: "https://h:1/mcp"}, p.remoteServer()); diff != "" {
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
	p := proxy{config: config{ServerName: "fleet", NoRecord: true, URL: server.URL, Transport: "http"}, env: env.Env{UpstreamHeaders: map[string]string{"X-Key": "k"}},
		in: io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")), out: &out, err: io.Discard, log: slog.New(slog.DiscardHandler)}
	if code := p.run(t.Context()); code != 0 || out.String() != answer+"\n" {
		t.Errorf("code %d, %q", code, out.String())
	}
}
