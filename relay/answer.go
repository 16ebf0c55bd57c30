package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/bir-run/bir/relay/jsonrpc"
)

// codeInternal is JSON-RPC's own code for a fault of the server, which a server
// that is gone is (R6).
const codeInternal = -32603

// answerOpen answers what the upstream left unanswered. A server/discover stays
// without an answer: a host reads the end of the process as "not a modern server"
// and an error as "speak the legacy protocol to this process" (R12). So does a
// request that the host itself gave up on.
func (r *Relay) answerOpen() {
	if r.midLine {
		// The upstream ended inside a line. Ours must not become part of it.
		if _, err := r.cfg.HostOut.Write([]byte("\n")); err != nil {
			return
		}
	}
	for _, c := range r.table.pending() {
		if c.method == methodDiscover || c.cancelled {
			continue
		}
		if _, err := r.cfg.HostOut.Write(notAvailable(c.id, c.method, r.cfg.Name, c.modern)); err != nil {
			return
		}
	}
}

// notAvailable is the answer in place of an upstream that is gone: to a tools/call
// a failed tool, to which a model can react, and to anything else an error.
func notAvailable(id, method, server string, modern bool) []byte {
	text, _ := json.Marshal(fmt.Sprintf("MCP server %q is not available", server)) // a string always encodes
	if method != methodCall {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", id, codeInternal, text)
	}
	kind := ""
	if modern {
		kind = `"resultType":"complete",`
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{%s"content":[{"type":"text","text":%s}],"isError":true}}`+"\n", id, kind, text)
}

// Refuse takes the place of an upstream that could not be started: it answers the
// first request that is owed an answer, and returns, at the latest when ctx ends.
func Refuse(ctx context.Context, in io.Reader, out io.Writer, server string) {
	answered := make(chan struct{})
	// Ends with the first request or the end of in; a read that still waits then is
	// ended by whoever closes in.
	go func() {
		defer close(answered)
		lines := jsonrpc.Reader{Source: in, MaxBytes: maxCopyBytes}
		for {
			m, err := lines.Next()
			if m.Kind == jsonrpc.Request && m.ID != nil && m.Method != methodDiscover {
				_, _ = out.Write(notAvailable(string(m.ID), m.Method, server, isModern(m.Params()))) // the host may be gone
				return
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
}
