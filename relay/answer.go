package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/bir-run/bir/relay/jsonrpc"
)

// The codes of our errors are JSON-RPC's own, where one applies (R6): a server that is
// gone, or says more than can be passed on, is at fault; a request over the limit is
// invalid.
const (
	codeInternal = -32603
	codeInvalid  = -32600
)

// answerOpen answers what went to an upstream that is gone. A line that it left
// without an end must not become part of ours.
func (r *Relay) answerOpen() {
	_ = r.toHost.endLine() // the host may be gone
	r.refuseLost()
}

func (r *Relay) refuseLost() {
	for _, c := range r.table.takeIf(func(c *call) bool { return r.feed.isLost(c.line) }) {
		r.refuse(c)
	}
}

// refuse ends a call that no upstream will answer. A server/discover stays without
// an answer where we end, too: a host reads the end of the process as "not a modern
// server" and an error as "speak the legacy protocol to this process" (R12). So does
// a request that the host itself gave up on.
func (r *Relay) refuse(c *call) {
	if r.reporter != nil {
		r.reporter.unanswered(*c)
	}
	ending := r.feed.isOver() && !r.cfg.StayUp
	if c.cancelled || c.method == methodDiscover && ending {
		return
	}
	_ = r.toHost.insert(notAvailable(c.id, c.method, r.cfg.Name, c.modern)) // the host may be gone
}

// tooLarge ends what a message over the limit would have ended.
func (r *Relay) tooLarge(m jsonrpc.Message) {
	r.log.Warn("a message of the server is over the limit", "server", r.cfg.Name, "bytes", m.Size, "limit", r.cfg.MaxMessageBytes)
	switch m.Kind {
	case jsonrpc.Response:
		key, _ := jsonrpc.Key(m.ID)
		if c, _ := r.table.take(key, r.readAt); c != nil {
			r.failLarge(c, m.Size)
		}
	case jsonrpc.Batch:
		// Whose answers it had is not known, but only what came in a batch is answered in
		// one.
		for _, c := range r.table.takeIf(func(c *call) bool { return c.batched }) {
			r.failLarge(c, m.Size)
		}
	case jsonrpc.Request:
		if m.ID == nil {
			return // too long to be repeated
		}
		refusal := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"The request was too large to deliver"}}`+"\n", m.ID, codeInvalid)
		// Ends when the upstream has read it or has ended. Here it must not be waited for:
		// an upstream that does not read may be waiting for us to read.
		go func() { _ = r.feed.insert(refusal) }()
	}
}

// failLarge ends one call.
func (r *Relay) failLarge(c *call, size int) {
	text := fmt.Sprintf("The result was too large to deliver (%d bytes; the limit is %d)", size, r.cfg.MaxMessageBytes)
	line := failure(c.id, c.method, text, c.modern)
	if c.tool != nil && r.reporter != nil {
		r.reporter.answered(c, jsonrpc.Classify(line), r.readAt)
	}
	_ = r.toHost.insert(line) // the host may be gone
}

// notAvailable is the answer in place of an upstream that is gone.
func notAvailable(id, method, server string, modern bool) []byte {
	return failure(id, method, fmt.Sprintf("MCP server %q is not available", server), modern)
}

// failure is an answer of ours: to a tools/call a failed tool, to which a model can
// react, and to anything else an error.
func failure(id, method, message string, modern bool) []byte {
	text, _ := json.Marshal(message) // a string always encodes
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
// first request that is owed an answer, or, with all, each until the host has ended.
// It returns at the latest when ctx ends.
func Refuse(ctx context.Context, in io.Reader, out io.Writer, server string, all bool) {
	answered := make(chan struct{})
	// Ends with the first request or the end of in; a read that still waits then is
	// ended by whoever closes in.
	go func() {
		defer close(answered)
		lines := jsonrpc.Reader{Source: in, MaxBytes: maxCopyBytes}
		for {
			m, err := lines.Next()
			owed := m.Kind == jsonrpc.Request && m.ID != nil && (all || m.Method != methodDiscover)
			if owed {
				_, _ = out.Write(notAvailable(string(m.ID), m.Method, server, isModern(m.Params()))) // the host may be gone
			}
			if err != nil || owed && !all {
				return
			}
		}
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
}
