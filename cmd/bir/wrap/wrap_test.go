package wrap

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
)

// wrapped runs bir wrap beside a bir-proxy.
func wrapped(t *testing.T, args ...string) (out, errOut string, err error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bir-proxy"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	cmd := New(&app.App{Streams: cli.Streams{Out: &o, Err: &e}, Executable: filepath.Join(dir, "bir")})
	cmd.SetArgs(args)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err = cmd.Execute()
	return strings.ReplaceAll(o.String(), filepath.Join(dir, "bir-proxy"), "/bin/bir-proxy"), e.String(), err
}

const files = `-- npx -y @modelcontextprotocol/server-filesystem /data`

func TestEachClientsFormIsItsOwn(t *testing.T) {
	args := `["--server-name","filesystem","--","npx","-y","@modelcontextprotocol/server-filesystem","/data"]`
	for client, want := range map[string]string{
		"generic":     `{"mcpServers":{"filesystem":{"command":"/bin/bir-proxy","args":` + args + `}}}`,
		"cursor":      `{"mcpServers":{"filesystem":{"command":"/bin/bir-proxy","args":` + args + `}}}`,
		"claude-code": `{"mcpServers":{"filesystem":{"type":"stdio","command":"/bin/bir-proxy","args":` + args + `}}}`,
		"vscode":      `{"servers":{"filesystem":{"type":"stdio","command":"/bin/bir-proxy","args":` + args + `}}}`,
		"zed":         `{"context_servers":{"filesystem":{"command":"/bin/bir-proxy","args":` + args + `}}}`,
		"opencode":    `{"mcp":{"filesystem":{"type":"local","command":` + strings.Replace(args, "[", `["/bin/bir-proxy",`, 1) + `}}}`,
	} {
		out, hint, err := wrapped(t, append([]string{"--client", client}, strings.Fields(files)...)...)
		if err != nil {
			t.Fatal(err)
		}
		var got, wanted any
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v", client, err)
		}
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, got); diff != "" || !strings.HasPrefix(hint, "put it into ") {
			t.Errorf("%s: %q %s", client, hint, diff)
		}
	}
}

func TestCodexReadsTOML(t *testing.T) {
	out, _, err := wrapped(t, "--client", "codex", "--server-name", "my files", "--env", `KEY=a"b\c`, "--", "srv", "-x")
	want := `[mcp_servers."my files"]
command = "/bin/bir-proxy"
args = ["--server-name", "my files", "--", "srv", "-x"]

[mcp_servers."my files".env]
KEY = 'a"b\c'
`
	if diff := cmp.Diff(want, out); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestHeadersOfARemoteServerGoIntoTheEnvironment(t *testing.T) {
	out, _, err := wrapped(t, "--url", "https://mcp.tracker.example/mcp", "--transport", "sse", "--header", "Authorization: Bearer <s>")
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ MCPServers map[string]server }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]server{"tracker": {Command: "/bin/bir-proxy",
		Args: []string{"--server-name", "tracker", "--url", "https://mcp.tracker.example/mcp", "--transport", "sse"},
		Env:  map[string]string{"BIR_UPSTREAM_HEADERS": `{"Authorization":"Bearer \u003cs\u003e"}`}}}
	if diff := cmp.Diff(want, got.MCPServers); diff != "" {
		t.Error(diff)
	}
}

func TestWhatCannotBeWrappedIsAUsageError(t *testing.T) {
	for _, args := range [][]string{
		{}, {"--client", "nobody", "--", "x"}, {"--url", "http://x", "--", "y"}, {"--url", "ftp://x"},
		{"--url", "http://x", "--transport", "ws"}, {"--url", "http://x", "--header", "SECRET"}, {"--header", "A: b", "--", "x"}, {"--env", "x", "--", "y"},
	} {
		out, _, err := wrapped(t, args...)
		if err == nil || out != "" || cli.CodeOf(err) != 2 || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q: %q, %v", args, out, err)
		}
	}
}
