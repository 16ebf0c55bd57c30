//go:build unix

package transcript

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/conformance/wire"
)

const (
	legacyHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"transcript","version":"1"}}}`
	legacyReady = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	modernMeta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"transcript","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
)

// realServer is a server of others, and what a host says to it. Each request is sent
// when the one before is answered; a server's own requests are answered with an error.
type realServer struct {
	command func(t *testing.T) []string
	asks    []string
}

var realServers = map[string]realServer{
	"everything": {npm("server-everything", "stdio"), []string{
		// It asks for roots when a timer says so, which would be elsewhere in each run.
		strings.Replace(legacyHello, `"roots":{"listChanged":true},`, "", 1), legacyReady, ask(1, "tools/list", ""), ask(2, "resources/list", ""), ask(3, "resources/templates/list", ""), ask(4, "prompts/list", ""),
		tool(5, "echo", `{"message":"caf\u00e9 \ud83d\ude00 <&> \/"}`), tool(6, "get-sum", `{"a":1.0,"b":9007199254740993}`),
		tool(7, "get-tiny-image", `{}`), tool(8, "get-structured-content", `{"location":"Chicago"}`), tool(9, "no-such-tool", `{}`), tool(10, "echo", `{"message":7}`),
		tool(21, "trigger-sampling-request", `{"prompt":"p","maxTokens":1}`), tool(22, "trigger-elicitation-request", `{}`),
		tool(11, "trigger-long-running-operation", `{"duration":0.2,"steps":2}`),
		ask(12, "prompts/get", `"name":"simple-prompt"`), ask(13, "resources/read", `"uri":"demo://resource/dynamic/text/1"`),
		ask(14, "resources/subscribe", `"uri":"demo://resource/dynamic/text/1"`), ask(15, "resources/unsubscribe", `"uri":"demo://resource/dynamic/text/1"`),
		ask(16, "logging/setLevel", `"level":"error"`), ask(17, "completion/complete", `"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"E"}`),
		ask(18, "ping", ""), ask(19, "no/such/method", ""),
		`{"jsonrpc":"2.0","id":20,"method":"tools/call","params":{"name":"echo","arguments":{"message":"m"},"_meta":{"progressToken":20,"claudecode/toolUseId":"toolu_1"}}}`,
	}},
	"filesystem": {npm("server-filesystem", "."), []string{
		legacyHello, legacyReady, ask(1, "tools/list", ""), tool(2, "read_text_file", `{"path":"doc.go"}`), tool(3, "list_directory", `{"path":"."}`),
		tool(4, "read_text_file", `{"path":"/etc/passwd"}`), tool(5, "read_text_file", `{"path":"absent"}`), tool(6, "search_files", `{"path":".","pattern":"*.go"}`), ask(7, "ping", ""),
	}},
	"memory": {npm("server-memory"), []string{
		legacyHello, legacyReady, ask(1, "tools/list", ""),
		tool(2, "create_entities", `{"entities":[{"name":"ada","entityType":"person","observations":["caf\u00e9","1.0"]}]}`),
		tool(3, "create_relations", `{"relations":[{"from":"ada","to":"ada","relationType":"knows"}]}`), tool(4, "read_graph", `{}`),
		tool(5, "search_nodes", `{"query":"ada"}`), tool(6, "delete_entities", `{"entityNames":["ada"]}`), tool(7, "read_graph", `{}`),
	}},
	"Go SDK, legacy": {goServer, []string{
		legacyHello, legacyReady, ask(1, "tools/list", ""), tool(2, "test_simple_text", `{}`), tool(3, "test_error_handling", `{}`), tool(4, "test_image_content", `{}`),
		ask(5, "resources/list", ""), ask(6, "prompts/list", ""), ask(7, "ping", ""), ask(8, "no/such/method", ""),
	}},
	"Go SDK, modern": {goServer, []string{
		modern(0, "server/discover", ""), modern(1, "tools/list", ""), modern(2, "tools/call", `"name":"test_simple_text","arguments":{}`),
		modern(3, "tools/call", `"name":"test_error_handling","arguments":{}`), modern(4, "resources/list", ""), modern(5, "prompts/list", ""),
		modern(6, "no/such/method", ""), modern(7, "tools/call", `"name":"no-such-tool","arguments":{}`),
		modern(8, "tools/call", `"name":"test_input_required_result_elicitation","arguments":{}`),
	}},
}

func ask(id int, method, params string) string {
	text, _ := json.Marshal(method)
	return `{"jsonrpc":"2.0","id":` + number(id) + `,"method":` + string(text) + `,"params":{` + params + `}}`
}

func tool(id int, name, args string) string {
	return ask(id, "tools/call", `"name":"`+name+`","arguments":`+args)
}

func modern(id int, method, params string) string {
	if params != "" {
		params += ","
	}
	return ask(id, method, params+modernMeta)
}

func number(n int) string { text, _ := json.Marshal(n); return string(text) }

func npm(name string, args ...string) func(t *testing.T) []string {
	return func(t *testing.T) []string {
		script, err := filepath.Abs(filepath.Join("..", "npm", "node_modules", "@modelcontextprotocol", name, "dist", "index.js"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(script); err != nil {
			t.Skip("not installed: run make npm")
		}
		if _, err := exec.LookPath("node"); err != nil {
			t.Skip("no node here")
		}
		return append([]string{"node", script}, args...)
	}
}

// goServer is the official Go SDK's, which speaks every revision.
func goServer(t *testing.T) []string {
	return []string{wire.GoServer(t)}
}

func TestRealServersSeeAndSayTheSame(t *testing.T) {
	for name, server := range realServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := server.command(t)
			direct := converse(t, command, server.asks)
			through := converse(t, command, server.asks, wire.Proxy(t), "--server-name", "real", "--")
			if diff := cmp.Diff(direct, through); diff != "" {
				t.Errorf("through the proxy: %s", diff)
			}
			if len(direct.Said) < len(server.asks)-1 {
				t.Errorf("only %d lines for %d asked: the conversation did not happen", len(direct.Said), len(server.asks))
			}
		})
	}
}

// conversation is what both sides got.
type conversation struct {
	Said []string // by the server, in order; what changes from run to run is masked
	Got  string   // by the server
}

// converse has a conversation with a server. A copy of what the server reads is kept
// by tee in front of it.
func converse(t *testing.T, command, asks []string, wrapper ...string) conversation {
	t.Helper()
	kept := filepath.Join(t.TempDir(), "input")
	argv := slices.Concat(wrapper, []string{"sh", "-c", `tee "$0" | "$@"`, kept}, command)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "BIR_HOME="+t.TempDir(), "BIR_AUTH_URL=http://127.0.0.1:9", "MEMORY_FILE_PATH="+filepath.Join(t.TempDir(), "memory.json"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := func(sig syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, sig) }
	defer end(syscall.SIGKILL)
	late := time.AfterFunc(wire.Patience, func() { end(syscall.SIGKILL) })
	defer late.Stop()
	var got conversation
	lines := bufio.NewReader(out)
	for _, text := range asks {
		if _, err := io.WriteString(in, text+"\n"); err != nil {
			t.Fatalf("say %s: %v", text, err)
		}
		if id := idOf(text); id != "" {
			got.Said = append(got.Said, answer(t, lines, in, id)...)
		}
	}
	in.Close()
	got.Got = whole(t, kept, asks)
	end(syscall.SIGTERM) // not every server heeds the end of its input
	_, _ = io.ReadAll(lines)
	_ = cmd.Wait()
	return got
}

// whole waits until tee has kept everything.
func whole(t *testing.T, kept string, asks []string) string {
	t.Helper()
	last := asks[len(asks)-1] + "\n"
	for deadline := time.Now().Add(wire.Patience); ; runtime.Gosched() {
		text, err := os.ReadFile(kept)
		if err == nil && strings.HasSuffix(string(text), last) {
			return string(text)
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server did not get %.100q last (%v)", last, err)
		}
	}
}

// answer reads until the answer to a request, and refuses what the server asks.
func answer(t *testing.T, lines *bufio.Reader, in io.Writer, id string) (said []string) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("no answer to %s: %v, after %.300q", id, err, said)
		}
		said = append(said, masked(line))
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal([]byte(line), &m) != nil {
			continue
		}
		switch {
		case m.Method == "" && string(m.ID) == id:
			return said
		case m.Method != "" && m.ID != nil:
			refusal := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"Method not found"}}` + "\n"
			if _, err := io.WriteString(in, refusal); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func idOf(line string) string {
	var m struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		return ""
	}
	return string(m.ID)
}

// changing is what differs between two runs of one server: times, and ids that it
// makes up.
var changing = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b\d{1,2}:\d\d:\d\d(?: [AP]M)?|"requestState":"[^"]*"`)

func masked(line string) string { return changing.ReplaceAllString(line, "*") }
