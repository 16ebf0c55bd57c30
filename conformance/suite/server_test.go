//go:build unix

package suite

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/conformance/wire"
)

// everything is the official Go SDK's server for the suite, which speaks every
// revision, on a port of its own.
func everything(t *testing.T, flags ...string) (url string) {
	t.Helper()
	address := built.Address(t) // its -http takes no port 0
	start(t, exec.Command(wire.GoServer(t), append(flags, "-http", address)...))
	deadline := time.Now().Add(wire.Patience)
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return "http://" + address + "/"
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not listen: %v", err)
		}
		runtime.Gosched()
	}
}

// front puts bir-proxy in front of a server.
func front(t *testing.T, url string) string {
	t.Helper()
	cmd := exec.Command(wire.Proxy(t), "--http", "--upstream", url)
	// Nothing listens on port 9: what is recorded stays in this folder.
	cmd.Env = append(os.Environ(), "BIR_HOME="+t.TempDir(), "BIR_AUTH_URL=http://127.0.0.1:9")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the front does not say where it is: %v", err)
	}
	return strings.TrimSpace(line)
}

func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
}

func TestAServerBehindBirPassesWhatItPassesWithout(t *testing.T) {
	for name, c := range map[string]struct {
		suite  string
		args   []string
		server []string
	}{
		// Requests of the server to the client need a session.
		"legacy":                {legacy, []string{"--suite", "all"}, []string{"-stateless=false"}},
		"requirements of 2025":  {modern, []string{"--requirements", "2025-11-25"}, []string{"-stateless=false"}},
		"requirements of 2026":  {modern, []string{"--requirements", "2026-07-28"}, nil},
		"legacy without states": {legacy, []string{"--suite", "all"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := everything(t, c.server...)
			direct := run(t, c.suite, nil, append([]string{"server", "--url", url}, c.args...)...)
			through := run(t, c.suite, nil, append([]string{"server", "--url", front(t, url)}, c.args...)...)
			same(t, direct, through)
		})
	}
}
