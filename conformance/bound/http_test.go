//go:build unix

package bound

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bir-run/bir/conformance/wire"
	"github.com/bir-run/bir/control/client"
)

// remote is an MCP server over HTTP that echoes what it was asked for.
func remote(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Params json.RawMessage `json:"params"`
		}
		if r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"asked":`+string(m.Params)+`}}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// program is bir-proxy by itself.
type program struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
}

func run(t *testing.T, h home, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(wire.Proxy(t), append([]string{"--server-name", "fleet"}, args...)...), lines: make(chan string, 64)}
	p.cmd.Env = append(os.Environ(), "BIR_HOME="+h.dir, "BIR_AUTH_URL=http://127.0.0.1:9")
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() }) // twice does no harm
	go func() {                                                      // ends with the process
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.lines <- lines.Text()
		}
		close(p.lines)
	}()
	return p
}

func (p *program) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line); err != nil {
		t.Fatal(err)
	}
}

func TestAServerOverHTTPIsBoundAndCalledBehindTheHostsBack(t *testing.T) {
	h, c := newHome(t), start(t, "plain")
	c.announce(h)
	p := run(t, h, "--url", remote(t))
	if got := next[client.Register](c, client.PathRegister); got.Server.Transport != "http" || got.Server.URL == "" {
		t.Errorf("registered as %+v", got)
	}
	p.say(t, handshake)
	wire.Await(t, "the answer to initialize", p.lines)
	p.say(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+ask(1))
	wire.Await(t, "the answer to the call", p.lines)
	if got := next[client.StepReport](c, client.PathStep); got.ToolUseID != "toolu_1" {
		t.Errorf("%+v", got)
	}
	c.dispatch(client.Dispatch{ID: "dsp_1", ToolName: "read", Args: []byte(`{"n":1.0}`)})
	got := next[client.Result](c, client.PathResult)
	if want := `{"asked":{"name":"read","arguments":{"n":1.0}}}`; !got.Sent || string(got.Result) != want {
		t.Errorf("%+v", got)
	}
	p.in.Close()
	for line := range p.lines {
		t.Errorf("the host got %s", line)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAFrontIsBoundToo(t *testing.T) {
	h, c := newHome(t), start(t, "plain")
	c.announce(h)
	p := run(t, h, "--http", "--upstream", remote(t))
	url := wire.Await(t, "the front's address", p.lines)
	next[client.Register](c, client.PathRegister)
	res, err := http.Post(url, "application/json", strings.NewReader(ask(1)))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := next[client.StepReport](c, client.PathStep); got.ToolUseID != "toolu_1" {
		t.Errorf("%+v", got)
	}
	res, err = http.Post(url, "application/json", strings.NewReader(ask(2)))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got := next[client.StepReport](c, client.PathStep); got.ToolUseID != "toolu_2" {
		t.Errorf("%+v", got)
	}
	for len(c.told) > 0 {
		if one := <-c.told; one.Path == client.PathPoll {
			t.Error("a front asked for calls that it cannot make")
		}
	}
	if left := h.spooled(t); left != "" {
		t.Errorf("recorded on its own: %s", left)
	}
}
