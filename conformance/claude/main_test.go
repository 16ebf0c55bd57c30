//go:build linux

package claude

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/relay/relaytest"
)

// roleEnv makes the test binary something else: the scripted MCP server, or the tests
// inside their namespace.
const (
	roleEnv    = "BIR_CLAUDE_ROLE"
	roleServer = "server"
	roleInside = "inside"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case roleServer:
		os.Exit(serve(os.Args[1:]))
	case roleInside:
		if err := raiseLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(exitNoLoopback)
		}
		isolated = true
	default:
		if code, ok := runInside(); ok {
			os.Exit(code)
		}
	}
	goleak.VerifyTestMain(relaytest.Settle(m), goleak.Cleanup(func(code int) {
		coolDown()
		built.Remove()
		os.Exit(code)
	}))
}
