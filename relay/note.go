package relay

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/relay/callid"
	"github.com/bir-run/bir/relay/jsonrpc"
)

const (
	methodCall      = "tools/call"
	methodList      = "tools/list"
	methodDiscover  = "server/discover"
	methodCancelled = "notifications/cancelled"

	metaPrefix = "io.modelcontextprotocol/" // of the protocol's own names in _meta
)

// toolCall is what the record keeps of a tools/call.
type toolCall struct {
	useID        string // the host's own id for the call
	hookID       string // the one that a hook put among the arguments
	name         string
	args         json.RawMessage // as sent
	requestState string          // of a retry after input_required (R4)
}

// intercepts are the requests into which is looked, beside those that are owed an
// answer, which all are. Everything else passes as it is, both ways.
//
//	initialize            who the host is; kept for an upstream that is restarted
//	tools/list            its answer declares the call id, under CallIDs
//	tools/call            the call id is taken out, under CallIDs; timed and reported
//	tasks/...             what became of a call that was answered with a task
//	notifications/cancelled  the call has ended
var intercepts = map[string]func(r *Relay, c *call, m jsonrpc.Message, params []byte){
	methodInitialize: (*Relay).noteInitialize,
	methodCall:       (*Relay).noteCall,
	methodTaskGet:    (*Relay).noteTask,
	methodTaskResult: (*Relay).noteTask,
	methodTaskCancel: (*Relay).noteTask,
}

// noteHost looks at one line of the host.
func (r *Relay) noteHost(m jsonrpc.Message) {
	switch m.Kind {
	case jsonrpc.Request:
		r.noteRequest(m)
	case jsonrpc.Notification:
		switch m.Method {
		case methodCancelled:
			r.noteCancelled(m)
		case methodInitialized:
			r.handshake.note(m)
		}
	case jsonrpc.Batch:
		r.inBatch = true
		r.noteBatch(m, r.noteHost)
		r.inBatch = false
	}
}

func (r *Relay) noteRequest(m jsonrpc.Message) {
	key, ok := jsonrpc.Key(m.ID)
	if !ok {
		return
	}
	c := &call{id: string(m.ID), method: m.Method, line: r.line, batched: r.inBatch, started: time.Now()}
	if note := intercepts[m.Method]; note != nil {
		note(r, c, m, m.Params())
	}
	r.table.add(key, c)
	if r.feed.isLost(c.line) {
		r.refuseLost()
	}
}

func (r *Relay) noteCancelled(m jsonrpc.Message) {
	id, _ := jsonrpc.Object(m.Params(), "requestId")
	key, ok := jsonrpc.Key(id[0])
	if !ok {
		return
	}
	for _, c := range r.table.cancel(key) {
		if r.reporter != nil {
			r.reporter.unanswered(c)
		}
	}
}

// isModern looks for the version that each request of 2026-07-28 carries. It may
// take a text that has the name in it for one; what hangs on it is the form of the
// answer when the upstream is gone.
func isModern(params []byte) bool {
	return bytes.Contains(params, []byte(metaPrefix+`protocolVersion"`))
}

func (r *Relay) noteInitialize(_ *call, m jsonrpc.Message, params []byte) {
	r.handshake.note(m)
	if r.reporter != nil {
		members, _ := jsonrpc.Object(params, "clientInfo")
		r.reporter.setHost(members[0])
	}
}

// noteCall keeps what the record needs of a tools/call.
func (r *Relay) noteCall(c *call, m jsonrpc.Message, params []byte) {
	switch {
	case r.reporter == nil, r.cfg.Record.paused():
		c.modern = isModern(params)
		return
	case m.Cut:
		r.lose() // too large to know what was called
		return
	}
	members, _ := jsonrpc.Object(params, "name", "arguments", "requestState", "_meta")
	meta, _ := jsonrpc.Object(members[3], metaPrefix+"protocolVersion", metaPrefix+"clientInfo", "claudecode/toolUseId")
	if c.modern = meta[0] != nil; c.modern { // every request has the host's name
		r.handshake.noteModern()
		r.reporter.setHost(meta[1])
	}
	args, hookID := members[1], ""
	if r.cfg.CallIDs {
		args, hookID = callid.Take(args)
	}
	c.tool = newToolCall(members[0], args, members[2])
	c.tool.useID, c.tool.hookID = text(meta[2]), hookID
}

func newToolCall(name, args, state []byte) *toolCall {
	t := &toolCall{name: text(name), requestState: text(state)}
	switch {
	case args == nil:
		t.args = json.RawMessage("{}")
	case len(args) > maxCopyBytes:
		t.args = truncated(len(args))
	default:
		t.args = bytes.Clone(args)
	}
	return t
}

// text decodes a JSON string; it is empty for anything else.
func text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return gjson.ParseBytes(raw).Str
}

// noteUpstream looks at one line of the upstream, which the host has by now.
func (r *Relay) noteUpstream(m jsonrpc.Message) {
	switch m.Kind {
	case jsonrpc.Response:
		r.noteAnswer(m)
	case jsonrpc.Batch:
		r.noteBatch(m, r.noteUpstream)
	case jsonrpc.Noise:
		if r.noise++; r.noise == 1 {
			r.log.Warn("upstream wrote a line that is not JSON to its standard output; it is passed on", "server", r.cfg.Name)
		}
	}
}

func (r *Relay) noteAnswer(m jsonrpc.Message) {
	key, ok := jsonrpc.Key(m.ID)
	if !ok {
		return
	}
	c, told := r.table.take(key, r.readAt)
	if !told {
		r.lose()
	}
	switch {
	case c == nil:
	case c.method == methodInitialize:
		r.handshake.noteAnswer(m)
	case c.method == methodDiscover && m.HasResult():
		r.handshake.noteModern()
	}
	if c != nil && c.reports() && r.reporter != nil {
		r.reporter.answered(c, m, r.readAt)
	}
}

// noteBatch looks at each message of a batch array (R26). One too large to keep
// hides which of its calls were answered, so the record says that it is incomplete.
func (r *Relay) noteBatch(m jsonrpc.Message, note func(jsonrpc.Message)) {
	if m.Cut {
		r.lose()
		return
	}
	for _, element := range m.Elements() {
		if element.Kind != jsonrpc.Batch { // a batch has no batches
			note(element)
		}
	}
}
