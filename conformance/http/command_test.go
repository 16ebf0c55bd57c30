package http

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/bir-run/bir/relay/relaytest"
)

// interrupt ends a front, which no end of input does.
func (p *proxy) interrupt() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		p.t.Fatal(err)
	}
}

// keeper answers every request, and keeps their headers.
type keeper struct {
	*httptest.Server
	mu  sync.Mutex // guards all below
	got []http.Header
	url []string
}

func keep(t *testing.T, status int) *keeper {
	k := &keeper{}
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.got, k.url = append(k.got, r.Header.Clone()), append(k.url, r.URL.String())
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, `{"jsonrpc":"2.0","id":`+member(string(body), "id")+`,"result":{}}`)
	}))
	t.Cleanup(k.Close)
	return k
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestHeadersComeFromTheEnvironmentAndTheFlags(t *testing.T) {
	k := keep(t, 200)
	p := start(t, []string{`BIR_UPSTREAM_HEADERS={"Authorization":"Bearer env","X-Env":"e"}`}, "--url", k.URL, "--header", "authorization: Bearer flag")
	p.speak(ping)
	if h := k.got[0]; h.Get("Authorization") != "Bearer flag" || h.Get("X-Env") != "e" {
		t.Errorf("%v", h)
	}
}

func TestSignInIsAskedForAndNothingIsShown(t *testing.T) {
	k := keep(t, 401)
	p := start(t, []string{`BIR_UPSTREAM_HEADERS={"Authorization":"Bearer s3cr3t"}`}, "--url", strings.Replace(k.URL, "//", "//u:s3cr3t@", 1)+"/?key=s3cr3t")
	heard := p.speak(ping)
	if !strings.Contains(heard[0], "upstream requires sign-in (HTTP 401)") || strings.Contains(heard[0], "s3cr3t") {
		t.Error(heard[0])
	}
	if code := p.end(); code != 0 || len(p.heard) > 0 {
		t.Errorf("exit status %d, %d more lines", code, len(p.heard))
	}
	if strings.Contains(p.stderr.String(), "s3cr3t") {
		t.Errorf("standard error shows the secret: %s", p.stderr.String())
	}
}

func TestProxyOfTheEnvironmentIsUsed(t *testing.T) {
	k := keep(t, 200)
	p := start(t, []string{"HTTP_PROXY=" + k.URL, "http_proxy=" + k.URL, "NO_PROXY=", "no_proxy="}, "--url", "http://mcp.example.invalid/mcp")
	p.speak(ping)
	if k.url[0] != "http://mcp.example.invalid/mcp" {
		t.Errorf("through the proxy went %s", k.url[0])
	}
}

func TestUnreachableServerLeavesTheProxyUp(t *testing.T) {
	p := start(t, nil, "--url", relaytest.Nobody)
	for range 2 {
		if heard := p.speak(ping); !strings.Contains(heard[0], "upstream unreachable") {
			t.Error(heard[0])
		}
	}
}

func TestUnreachableLegacyServerEndsTheProxy(t *testing.T) {
	p := start(t, nil, "--url", relaytest.Nobody, "--transport", "sse")
	for range p.heard {
	}
	if code := p.end(); code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
}
