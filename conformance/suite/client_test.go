//go:build unix

package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bir-run/bir/conformance/wire"
)

// The environment that makes this test binary the client under test.
const (
	clientVar = "SUITE_CLIENT" // "direct", or the path of bir-proxy
	homeVar   = "SUITE_HOME"
)

// direct is the value of clientVar for a client that speaks HTTP itself.
const direct = "direct"

// scenarios are the suite's tests of a client, by name: what the client does once it
// is connected. Those of auth/ are about signing in, which is the host's own affair
// and which bir refuses with an error.
var scenarios = map[string]struct {
	suites []string
	do     func(ctx context.Context, s *mcp.ClientSession) error
}{
	"initialize":                          {[]string{legacy, modern}, listTools},
	"tools_call":                          {[]string{legacy, modern}, callTool("add_numbers", map[string]any{"a": 5, "b": 3})},
	"elicitation-sep1034-client-defaults": {[]string{legacy, modern}, callTool("test_client_elicitation_defaults", nil)},
	"sse-retry":                           {[]string{legacy, modern}, callTool("test_reconnection", nil)},
	"request-metadata":                    {[]string{modern}, func(context.Context, *mcp.ClientSession) error { return nil }},
	"json-schema-ref-no-deref":            {[]string{modern}, listTools},
	"json-schema-2020-12-preservation":    {[]string{modern}, echoSchema},
	"sep-2322-client-request-state": {[]string{modern}, callEach(
		"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type")},
	"http-standard-headers":     {[]string{modern}, everyVerb},
	"http-custom-headers":       {[]string{modern}, suppliedCalls},
	"http-invalid-tool-headers": {[]string{modern}, callListed},
}

// runClient is the client under test.
func runClient(url string) int {
	ctx, cancel := context.WithTimeout(context.Background(), wire.Patience)
	defer cancel()
	name := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	if err := connectAnd(ctx, url, scenarios[name].do); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		return 1
	}
	return 0
}

func connectAnd(ctx context.Context, url string, do func(context.Context, *mcp.ClientSession) error) error {
	client := mcp.NewClient(&mcp.Implementation{Name: "suite", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
		},
	})
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: url}
	if proxy := os.Getenv(clientVar); proxy != direct {
		cmd := exec.Command(proxy, "--server-name", "suite", "--url", url)
		cmd.Stderr = os.Stderr
		cmd.Env = append(os.Environ(), "BIR_HOME="+os.Getenv(homeVar), "BIR_AUTH_URL=http://127.0.0.1:9")
		transport = &mcp.CommandTransport{Command: cmd, TerminateDuration: wire.Patience}
	}
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer session.Close()
	return do(ctx, session)
}

func listTools(ctx context.Context, s *mcp.ClientSession) error {
	_, err := s.ListTools(ctx, nil)
	return err
}

func callTool(name string, args map[string]any) func(context.Context, *mcp.ClientSession) error {
	if args == nil {
		args = map[string]any{}
	}
	return func(ctx context.Context, s *mcp.ClientSession) error {
		if err := listTools(ctx, s); err != nil {
			return err
		}
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		return err
	}
}

// callEach calls tools of which some are meant to fail.
func callEach(names ...string) func(context.Context, *mcp.ClientSession) error {
	return func(ctx context.Context, s *mcp.ClientSession) error {
		for _, name := range names {
			_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
			fmt.Fprintln(os.Stderr, name+":", err)
		}
		return nil
	}
}

func echoSchema(ctx context.Context, s *mcp.ClientSession) error {
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, tool := range list.Tools {
		if tool.Name == "json_schema_2020_12_tool" {
			_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "json_schema_echo", Arguments: map[string]any{"schema": tool.InputSchema}})
			return err
		}
	}
	return fmt.Errorf("no tool to echo among %d", len(list.Tools))
}

// everyVerb sends each request that has headers of its own.
func everyVerb(ctx context.Context, s *mcp.ClientSession) error {
	if tools, err := s.ListTools(ctx, nil); err == nil && len(tools.Tools) > 0 {
		_, _ = s.CallTool(ctx, &mcp.CallToolParams{Name: tools.Tools[0].Name, Arguments: map[string]any{}})
	}
	if list, err := s.ListResources(ctx, nil); err == nil && len(list.Resources) > 0 {
		_, _ = s.ReadResource(ctx, &mcp.ReadResourceParams{URI: list.Resources[0].URI})
	}
	if list, err := s.ListPrompts(ctx, nil); err == nil && len(list.Prompts) > 0 {
		_, _ = s.GetPrompt(ctx, &mcp.GetPromptParams{Name: list.Prompts[0].Name, Arguments: map[string]string{}})
	}
	return nil
}

// suppliedCalls makes the calls that the suite asks for.
func suppliedCalls(ctx context.Context, s *mcp.ClientSession) error {
	var given struct {
		ToolCalls []struct {
			Name      string
			Arguments map[string]any
		}
	}
	if err := json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given); err != nil {
		return err
	}
	if err := listTools(ctx, s); err != nil {
		return err
	}
	for _, c := range given.ToolCalls {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.Arguments})
		fmt.Fprintln(os.Stderr, c.Name+":", err)
	}
	return nil
}

func callListed(ctx context.Context, s *mcp.ClientSession) error {
	list, err := s.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, tool := range list.Tools {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: map[string]any{"region": "us-west1"}})
		fmt.Fprintln(os.Stderr, tool.Name+":", err)
	}
	return nil
}

func TestAClientThroughBirPassesWhatItPassesWithout(t *testing.T) {
	binary := wire.Proxy(t)
	for name, scenario := range scenarios {
		for _, suite := range scenario.suites {
			t.Run(suite+"/"+name, func(t *testing.T) {
				t.Parallel()
				args := []string{"client", "--command", os.Args[0], "--scenario", name, "--timeout", strconv.Itoa(int(wire.Patience.Milliseconds()))}
				home := homeVar + "=" + t.TempDir()
				without := run(t, suite, []string{clientVar + "=" + direct, home}, args...)
				through := run(t, suite, []string{clientVar + "=" + binary, home}, args...)
				same(t, without, through)
			})
		}
	}
}
