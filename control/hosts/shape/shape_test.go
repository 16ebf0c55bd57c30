package shape_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/hosts/jsonedit"
	"github.com/bir-run/bir/control/hosts/patch"
	"github.com/bir-run/bir/control/hosts/shape"
	"github.com/bir-run/bir/control/hosts/tomledit"
)

var (
	keyed = shape.Shape{Servers: []string{"mcpServers"}, Kind: "type", Local: []string{"stdio"}, Env: "env", Headers: "headers",
		Remote: map[string]string{"http": "http", "sse": "sse"}, URLs: []shape.URL{{Key: "url", Transport: "http"}}}
	joined = shape.Shape{Servers: []string{"mcp"}, Joined: true, Kind: "type", Local: []string{"local"}, Env: "environment", Headers: "headers",
		Remote: map[string]string{"remote": ""}, URLs: []shape.URL{{Key: "url", Transport: "http"}}, Off: "enabled"}
	tables = shape.Shape{Servers: []string{"mcp_servers"}, Env: "env", Headers: "http_headers", URLs: []shape.URL{{Key: "url", Transport: "http"}}, Off: "enabled"}
)

func open(t *testing.T, text string, s shape.Shape) shape.Entry {
	t.Helper()
	path := append(append([]string{}, s.Servers...), "x")
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		d, err := jsonedit.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		e, ok := d.Entry(path...)
		if !ok {
			t.Fatal("no entry")
		}
		return e
	}
	d, err := tomledit.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	e, ok := d.Entry(path...)
	if !ok {
		t.Fatal("no entry")
	}
	return e
}

func apply(t *testing.T, text string, e shape.Entry) (string, patch.Patch) {
	t.Helper()
	edits, err := e.Edits()
	if err != nil {
		t.Fatal(err)
	}
	got, undo, err := patch.Apply([]byte(text), edits)
	if err != nil {
		t.Fatal(err)
	}
	return string(got), undo
}

// wrapped wraps x, and holds that both ways back give the same bytes.
func wrapped(t *testing.T, text string, s shape.Shape) string {
	t.Helper()
	e := open(t, text, s)
	before, err := s.Read(e)
	if err != nil {
		t.Fatal(err)
	}
	was, err := s.Wrap(e, shape.Wrap{Proxy: "/bin/bir-proxy", Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	got, undo := apply(t, text, e)
	e = open(t, got, s)
	if after, err := s.Read(e); err != nil || !after.Wrapped() {
		t.Fatalf("not wrapped: %v\n%s", err, got)
	}
	for _, h := range undo {
		for _, p := range h.Old {
			for _, secret := range []string{"hush", "tell"} {
				if strings.Contains(p.Text, secret) {
					t.Errorf("a credential would be kept: %q", p.Text)
				}
			}
		}
	}
	back, err := undo.Undo([]byte(got))
	if diff := cmp.Diff(text, string(back)); diff != "" || err != nil {
		t.Errorf("by its bytes: %v %s", err, diff)
	}
	if err := s.Unwrap(e, was); err != nil {
		t.Fatal(err)
	}
	again, _ := apply(t, got, e)
	after, err := s.Read(open(t, again, s))
	if diff := cmp.Diff(before, after, cmp.AllowUnexported(shape.Server{})); diff != "" || err != nil {
		t.Errorf("by its structure: %v %s\n%s", err, diff, again)
	}
	if !before.Remote() {
		if diff := cmp.Diff(text, again); diff != "" {
			t.Errorf("by its structure: %s", diff)
		}
	}
	return got
}

func TestOnlyWhatHasToChangeChanges(t *testing.T) {
	for name, c := range map[string]struct {
		shape      shape.Shape
		text, want string
	}{
		"arguments on lines": {keyed,
			"{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"np\\u0078\", // runs it\n      \"args\": [\n        \"-y\", // yes\n        \"hush\"\n      ],\n      \"n\": 1.0\n    }\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"/bin/bir-proxy\", // runs it\n      \"args\": [\n        \"--server-name\",\n        \"x\",\n        \"--\",\n        \"np\\u0078\",\n        \"-y\", // yes\n        \"hush\"\n      ],\n      \"n\": 1.0\n    }\n  }\n}\n"},
		"no arguments": {keyed,
			"{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"srv\"\n    }\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"/bin/bir-proxy\",\n      \"args\": [\n        \"--server-name\",\n        \"x\",\n        \"--\",\n        \"srv\"\n      ]\n    }\n  }\n}\n"},
		"empty arguments": {keyed, `{"mcpServers":{"x":{"args":[],"command":"srv","env":{"K":"hush"}}}}`,
			`{"mcpServers":{"x":{"args":["--server-name", "x", "--", "srv"],"command":"/bin/bir-proxy","env":{"K":"hush"}}}}`},
		"one array": {joined, `{"mcp":{"x":{"type":"local","command":["npx", "-y"],"enabled":true}}}`,
			`{"mcp":{"x":{"type":"local","command":["/bin/bir-proxy", "--server-name", "x", "--", "npx", "-y"],"enabled":true}}}`},
		"an address": {keyed, "{\"mcpServers\": {\"x\": {\n  \"type\": \"sse\",\n  \"url\": \"https://u:hush@h/x?k=tell\",\n  \"headers\": {\n    \"Authorization\": \"Bearer hush\\\"\\\\tell\" // mine\n  },\n  \"timeout\": 5\n}}}",
			"{\"mcpServers\": {\"x\": {\n  \"type\": \"stdio\",\n  \"command\": \"/bin/bir-proxy\",\n  \"args\": [\n    \"--server-name\",\n    \"x\",\n    \"--url\",\n    \"https://u:hush@h/x?k=tell\",\n    \"--transport\",\n    \"sse\"\n  ],\n  \"env\": {\n    \"BIR_UPSTREAM_HEADERS\": \"{\\\"Authorization\\\":\\\"Bearer hush\\\\\\\"\\\\\\\\tell\\\"}\"\n  },\n  \"timeout\": 5\n}}}"},
		"an address in one array": {joined, `{"mcp":{"x":{"type":"remote","url":"http://h/","headers":{"A":"hush"}}}}`,
			`{"mcp":{"x":{"type":"local","command": ["/bin/bir-proxy", "--server-name", "x", "--url", "http://h/", "--transport", "http"],"environment": {"BIR_UPSTREAM_HEADERS": "{\"A\":\"hush\"}"}}}}`},
		"a table": {tables, "# mine\n[mcp_servers.x] # this\ncommand = 'np\\x' # runs it\nargs = [\n  \"-y\", # yes\n  'hush',\n]\nn = 1_0\n\n[mcp_servers.x.env]\nK = \"tell\"\n",
			"# mine\n[mcp_servers.x] # this\ncommand = \"/bin/bir-proxy\" # runs it\nargs = [\n  \"--server-name\",\n  \"x\",\n  \"--\",\n  'np\\x',\n  \"-y\", # yes\n  'hush',\n]\nn = 1_0\n\n[mcp_servers.x.env]\nK = \"tell\"\n"},
		"a table without arguments": {tables, "[mcp_servers.x]\r\n  command = \"srv\"   # so\r\n",
			"[mcp_servers.x]\r\n  command = \"/bin/bir-proxy\"\r\n  args = [\"--server-name\", \"x\", \"--\", \"srv\"]   # so\r\n"},
		"an inline table": {tables, "mcp_servers = { x = { command = \"srv\" }, y = 1 }\n",
			"mcp_servers = { x = { command = \"/bin/bir-proxy\", args = [\"--server-name\", \"x\", \"--\", \"srv\"] }, y = 1 }\n"},
		"keys with dots": {tables, "[mcp_servers]\nx.command = \"srv\"\nx.args = []\n",
			"[mcp_servers]\nx.command = \"/bin/bir-proxy\"\nx.args = [\"--server-name\", \"x\", \"--\", \"srv\"]\n"},
		"an address in a table": {tables, "[mcp_servers.x]\nurl = \"https://h/x?k=tell\"\nhttp_headers = { \"X-Key\" = 'hush', Y = \"a\\\"tell\" }\ntimeout = 3\n",
			"[mcp_servers.x]\ncommand = \"/bin/bir-proxy\"\nargs = [\"--server-name\", \"x\", \"--url\", \"https://h/x?k=tell\", \"--transport\", \"http\"]\nenv = { BIR_UPSTREAM_HEADERS = '{\"X-Key\":\"hush\",\"Y\":\"a\\\"tell\"}' }\ntimeout = 3\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, wrapped(t, c.text, c.shape)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
