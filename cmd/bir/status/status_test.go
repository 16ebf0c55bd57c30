package status

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/claude"
	"github.com/bir-run/bir/control/hosts/shape"
)

var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func proxy(server string, alive bool, calls int) client.Proxy {
	return client.Proxy{Register: client.Register{ServerName: server}, Alive: alive, Calls: calls, LastSeen: now.Add(-time.Minute)}
}

func TestProxyIsBelievedOfTheControlServerOnly(t *testing.T) {
	health := client.Health{Proxies: []client.Proxy{proxy("a", false, 2), proxy("a", true, 3), proxy("b", false, 1)}}
	s := State{Control: Control{Running: true, Health: &health}}
	wrapped := func(name string) hosts.Server {
		return hosts.Server{Name: name, Server: shape.Server{Command: []string{"/b/bir-proxy", "--server-name", name, "--", "srv"}}}
	}
	got := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		got[name] = s.server(wrapped(name)).Proxy
	}
	got["d"] = s.server(hosts.Server{Name: "d", Server: shape.Server{Command: []string{"srv"}}}).Proxy
	if diff := cmp.Diff(map[string]string{"a": Registered, "b": Seen, "c": Never, "d": Unwrapped}, got); diff != "" {
		t.Error(diff)
	}
	if line := s.server(wrapped("a")); line.Calls != 5 {
		t.Errorf("%d calls", line.Calls)
	}
	stale := wrapped("a")
	stale.Stale = true
	if line := s.server(stale); !line.Orphan || line.Note == "" {
		t.Errorf("got %+v", line)
	}
}

func TestWhatIsGoingOnIsPrinted(t *testing.T) {
	s := State{
		Root:  "/fleet",
		Hooks: claude.HookState{Kind: "command", Files: []string{"/s.json"}, Missing: []string{"Stop"}},
		Control: Control{Running: true, Health: &client.Health{PID: 7, Version: "v1", StartedAt: now.Add(-3 * time.Hour), Steps: 4, Guards: "ready",
			Runs:   []client.OpenRun{{ID: "run_1", Prompt: "find it", Steps: 2, Pending: 1, StartedAt: now.Add(-50 * time.Second), Lossy: true}},
			Events: []client.Seen{{Event: "PreToolUse", Last: now.Add(-72 * time.Hour), Count: 9, Missed: 1}}}},
		Servers: []Server{{Name: "a", Scope: "local", Proxy: Registered, Calls: 3}},
		Others:  []File{{Client: "cursor", Path: "/c.json", Servers: []string{"x"}}},
	}
	var out strings.Builder
	s.print(&out, now)
	for _, want := range []string{
		"process 7, version v1, for 3h, 4 steps, guards ready", "command, in /s.json; without Stop", "x in /c.json",
		"registered", "run_1", "50s", "lossy", "find it", "PreToolUse", "3d ago", "1 late",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for text, c := range map[string]Control{
		"stopped with bir down": {Stopped: true}, "does not answer: x": {Problem: "x"}, "not running": {},
	} {
		if got := c.text(now); !strings.HasPrefix(got, text) {
			t.Errorf("got %q", got)
		}
	}
}
