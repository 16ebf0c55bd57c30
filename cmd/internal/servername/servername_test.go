package servername

import (
	"strings"
	"testing"
)

func TestTheServersNameComesFromItsCommand(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-filesystem /data":                     "filesystem",
		"node /opt/node_modules/@modelcontextprotocol/server-memory/dist/index.js": "memory",
		"node dist/index.js": "index",
		"npx -y @modelcontextprotocol/server-github@1.2.3": "github",
		"npx chrome-devtools-mcp@latest":                   "chrome-devtools",
		"npx -p some-package some-mcp-server":              "some",
		"npm exec @scope/mcp-server-time":                  "time",
		"uvx mcp-server-git --repository .":                "git",
		"uvx --from git+https://example.invalid/x my-tool": "my-tool",
		"uv run server.py":                                 "server",
		"python3 -m mcp_server_time":                       "time",
		"node /srv/fleet/dist/fleet.mjs --port 1":          "fleet",
		`C:\tools\Fleet-Server.exe --x`:                    "fleet",
		"/usr/local/bin/my-server":                         "my",
		"node":                                             "node",
		"mcp-":                                             "server",
	} {
		if got := FromCommand(strings.Fields(command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestTheServersNameComesFromItsURL(t *testing.T) {
	for address, name := range map[string]string{
		"https://mcp.linear.app/sse": "linear", "https://api.mcp.example.com/x": "example", "http://localhost:1": "localhost", "http://127.0.0.1/": "server", "https://mcp": "mcp",
	} {
		if got := FromURL(address); got != name {
			t.Errorf("%s: %q", address, got)
		}
	}
}
