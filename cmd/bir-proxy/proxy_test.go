package main

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/bir-run/bir/cmd/internal/env"
)

// proxyOf is a proxy whose host says some text and leaves.
func proxyOf(text string, c config, e env.Env) (*proxy, *strings.Builder) {
	var out strings.Builder
	c.NoRecord, c.ServerName = true, "fleet"
	return &proxy{config: c, env: e, in: io.NopCloser(strings.NewReader(text)), out: &out, err: io.Discard,
		log: slog.New(slog.DiscardHandler), signals: make(chan os.Signal)}, &out
}

const twoRequests = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"

func TestAServerThatIsNotThereIsToldToTheFirstRequestOrToAll(t *testing.T) {
	for stayUp, want := range map[bool]int{false: 1, true: 2} {
		p, out := proxyOf(twoRequests, config{Command: []string{"no-such-command-anywhere"}}, env.Env{StayUp: stayUp})
		if code := p.run(t.Context()); code != exitNotFound {
			t.Errorf("code %d", code)
		}
		if got := strings.Count(out.String(), `MCP server \"fleet\" is not available`); got != want {
			t.Errorf("stay up %v: %d answers, want %d: %s", stayUp, got, want, out)
		}
	}
}

func TestALazyProxyWaitsForAWordOrASignal(t *testing.T) {
	p, _ := proxyOf("", config{Command: []string{"no-such-command-anywhere"}, Lazy: true}, env.Env{})
	if code := p.run(t.Context()); code != 0 {
		t.Errorf("a host that left: code %d", code)
	}
	p, out := proxyOf(twoRequests, config{Command: []string{"no-such-command-anywhere"}, Lazy: true}, env.Env{})
	if code := p.run(t.Context()); code != exitNotFound || out.Len() == 0 {
		t.Errorf("a host that spoke: code %d, %q", code, out)
	}
	silent, w := io.Pipe()
	defer w.Close()
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGTERM
	p, _ = proxyOf("", config{Command: []string{"x"}, Lazy: true}, env.Env{})
	p.in, p.signals = silent, signals
	if code := p.run(t.Context()); code != signalStatus(syscall.SIGTERM) {
		t.Errorf("a signal: code %d", code)
	}
}

func TestWithoutAHomeNothingIsRecorded(t *testing.T) {
	p, _ := proxyOf("", config{}, env.Env{})
	p.config.NoRecord = false
	record := p.record()
	defer record.close()
	if record.Recorder != nil {
		t.Error("a recorder was opened")
	}
}
