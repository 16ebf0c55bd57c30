package http

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bir-run/bir/conformance/built"
)

// home is a BIR_HOME with a service of its own, which ends with the test.
type home struct {
	t      *testing.T
	dir    string
	binary string
}

func newHome(t *testing.T) home {
	t.Helper()
	bin, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	h := home{t, t.TempDir(), built.Path(bin, "bir")}
	t.Cleanup(func() { built.AwaitNone(t, h.dir, func() { h.bir("down", "--service") }) })
	return h
}

func (h home) bir(args ...string) string {
	h.t.Helper()
	cmd := exec.Command(h.binary, args...)
	cmd.Env = append(cmd.Environ(), "BIR_HOME="+h.dir, "BIR_LOGIC_TIMEOUT_MS=10000") // the longest that a body may run
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("bir %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// recorded is the one run of the home, as it is exported.
func (h home) recorded() string {
	h.t.Helper()
	var listed struct {
		Runs []struct {
			ID string `json:"id"`
		} `json:"runs"`
	}
	list := h.bir("runs", "list", "--json")
	if err := json.Unmarshal([]byte(list), &listed); err != nil || len(listed.Runs) != 1 {
		h.t.Fatalf("runs: %v\n%s", err, list)
	}
	return h.bir("runs", "export", listed.Runs[0].ID)
}

func wantsRecord(t *testing.T, run, transport, url string) {
	t.Helper()
	for _, want := range []string{`"transport":"` + transport + `"`, `"url":"` + url, `"upstreamTool":"query"`, "Zürich", `"status":"ok"`} {
		if !strings.Contains(strings.ReplaceAll(run, `": `, `":`), want) {
			t.Errorf("the record has no %s:\n%s", want, run)
		}
	}
}

func TestCallsToAServerOverHTTPAreRecorded(t *testing.T) {
	url := sdkURL(t, &mcp.StreamableHTTPOptions{Stateless: true})
	h := newHome(t)
	p := startRecording(t, []string{"BIR_HOME=" + h.dir}, "--url", url)
	p.speak(modern(1, "tools/call", `"name":"query","arguments":{"region":"Zürich"}`)) // refused: the headers are not known yet
	p.speak(modern(2, "tools/list", ""))
	p.speak(modern(3, "tools/call", `"name":"query","arguments":{"region":"Zürich"}`))
	p.end()
	wantsRecord(t, h.recorded(), "http", url)
}

func TestCallsThroughTheFrontAreRecorded(t *testing.T) {
	url := sdkURL(t, &mcp.StreamableHTTPOptions{})
	h := newHome(t)
	p := startRecording(t, []string{"BIR_HOME=" + h.dir}, "--http", "--upstream", url)
	sdkSession(t, &mcp.StreamableClientTransport{Endpoint: p.hear()})
	p.interrupt()
	p.end()
	wantsRecord(t, h.recorded(), "http", url)
}
