package http

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/relay/relaytest"
)

// patience is how long a test waits for something that must come, on a machine that
// may be busy with much else.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	relaytest.HeedSignals()
	goleak.VerifyTestMain(relaytest.Settle(m), goleak.Cleanup(func(code int) {
		built.Remove()
		os.Exit(code)
	}))
}

// proxy is a running bir-proxy, with the test as its host.
type proxy struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	heard  chan string
	stderr bytes.Buffer // complete after end
	end    func() int   // ends the proxy's input, waits, and returns its exit status
}

// start starts bir-proxy without a record. The environment is ours and what is given.
func start(t *testing.T, environ []string, args ...string) *proxy {
	t.Helper()
	return startRecording(t, append([]string{"BIR_HOME=" + t.TempDir()}, environ...), append([]string{"--no-record"}, args...)...)
}

// startRecording starts bir-proxy as it is.
func startRecording(t *testing.T, environ []string, args ...string) *proxy {
	t.Helper()
	return startUnder(t, nil, environ, args...)
}

// startUnder starts bir-proxy by a command that runs the rest, such as one that sets a
// limit.
func startUnder(t *testing.T, command, environ []string, args ...string) *proxy {
	t.Helper()
	dir, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, heard: make(chan string, 1<<12)}
	argv := append(append(slices.Clone(command), built.Path(dir, "bir-proxy")), args...)
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = append(p.cmd.Environ(), environ...)
	p.cmd.Stderr = &p.stderr
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
	var reading sync.WaitGroup
	// Ends with the proxy.
	reading.Go(func() {
		defer close(p.heard)
		lines := bufio.NewReaderSize(out, 1<<20)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			p.heard <- strings.TrimSuffix(line, "\n")
		}
	})
	p.end = sync.OnceValue(func() int {
		p.in.Close()
		late := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
		defer late.Stop()
		reading.Wait()
		_ = p.cmd.Wait() // it is the status that counts
		return p.cmd.ProcessState.ExitCode()
	})
	t.Cleanup(func() {
		if p.end(); t.Failed() {
			t.Logf("standard error of the proxy: %s", p.stderr.String())
		}
	})
	return p
}

func (p *proxy) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatalf("say: %v", err)
	}
}

func (p *proxy) hear() string {
	p.t.Helper()
	select {
	case line, ok := <-p.heard:
		if !ok {
			p.t.Fatal("the proxy has ended")
		}
		return line
	case <-time.After(patience):
		p.t.Fatal("nothing was said in time")
	}
	return ""
}

// speak says a line and hears everything up to its answer, which comes last. It
// answers what the server asks.
func (p *proxy) speak(line string) []string {
	p.t.Helper()
	p.say(line)
	id := member(line, "id")
	if id == "" {
		return nil
	}
	var heard []string
	for {
		got := p.hear()
		if method := member(got, "method"); method != "" && member(got, "id") != "" {
			p.say(reply(method, member(got, "id")))
		}
		heard = append(heard, got)
		if member(got, "method") == "" && member(got, "id") == id {
			return heard
		}
	}
}

// reply is what the scripted host answers a server.
func reply(method, id string) string {
	result := `{}`
	switch method {
	case `"roots/list"`:
		result = `{"roots":[{"uri":"file:///srv/fleet"}]}`
	case `"sampling/createMessage"`:
		result = `{"role":"assistant","model":"m","content":{"type":"text","text":"sampled"}}`
	case `"elicitation/create"`:
		result = `{"action":"accept","content":{"name":"Ada"}}`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

// member is the raw text of a top-level member; empty without one.
func member(line, name string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &object) != nil {
		return ""
	}
	return string(object[name])
}

// everything starts the npm server in one of its modes, and returns its base URL.
func everything(t *testing.T, mode string) string {
	t.Helper()
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(root, "conformance/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	node, err := exec.LookPath("node")
	if _, missing := os.Stat(script); err != nil || missing != nil {
		t.Skip("needs node and the npm servers (make npm)")
	}
	address := built.Address(t)
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(node, script, mode)
	cmd.Env = append(cmd.Environ(), "PORT="+port)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan struct{})
	var reading sync.WaitGroup
	// Ends with the server.
	reading.Go(func() {
		var once sync.Once
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if strings.Contains(lines.Text(), "on port") {
				once.Do(func() { close(listening) })
			}
		}
	})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		reading.Wait()
		_ = cmd.Wait()
	})
	select {
	case <-listening:
	case <-time.After(patience):
		t.Fatal("server-everything does not listen")
	}
	return "http://" + address
}

// direct is a client of its own for the streamable transport, in the fewest lines
// that do.
type direct struct {
	t       *testing.T
	url     string
	session string
	client  http.Client
}

// speak posts a line and returns everything up to its answer.
func (d *direct) speak(line string, headers http.Header) []string {
	d.t.Helper()
	res := d.post(line, headers)
	defer res.Body.Close()
	if s := res.Header.Get("Mcp-Session-Id"); s != "" {
		d.session = s
	}
	if member(line, "id") == "" || member(line, "method") == "" {
		return nil
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(res.Body)
		if err != nil {
			d.t.Fatal(err)
		}
		return []string{strings.TrimSpace(string(body))}
	}
	var heard []string
	for lines := bufio.NewReader(res.Body); ; {
		text, err := lines.ReadString('\n')
		if data, ok := strings.CutPrefix(strings.TrimSpace(text), "data:"); ok && strings.TrimSpace(data) != "" {
			data = strings.TrimSpace(data)
			heard = append(heard, data)
			if method := member(data, "method"); method != "" && member(data, "id") != "" {
				d.post(reply(method, member(data, "id")), nil).Body.Close()
			}
			if member(data, "method") == "" && member(data, "id") == member(line, "id") {
				return heard
			}
		}
		if err != nil {
			d.t.Fatalf("the stream ended before the answer: %v", err)
		}
	}
}

func (d *direct) post(line string, headers http.Header) *http.Response {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.url, strings.NewReader(line))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if d.session != "" {
		req.Header.Set("Mcp-Session-Id", d.session)
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	for name, values := range headers {
		req.Header[name] = values
	}
	res, err := d.client.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	return res
}

func request(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}
