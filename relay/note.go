package relay

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/relay/jsonrpc"
)

const (
	methodCall      = "tools/call"
	methodDiscover  = "server/discover"
	methodCancelled = "notifications/cancelled"

	metaPrefix = "io.modelcontextprotocol/" // of the protocol's own names in _meta
)

// toolCall is what the record keeps of a tools/call.
type toolCall struct {
	useID        string // the host's own id for the call, if it sent one
	name         string
	args         json.RawMessage // as sent
	requestState string          // of a retry after input_required (R4)
}

// noteHost looks at one line of the host.
func (r *Relay) noteHost(m jsonrpc.Message) {
	switch m.Kind {
	case jsonrpc.Request:
		r.noteRequest(m)
	case jsonrpc.Notification:
		if m.Method == methodCancelled {
			id := gjson.GetBytes(m.Params(), "requestId").Raw
			if key, ok := jsonrpc.Key([]byte(id)); ok {
				r.table.cancel(key)
			}
		}
	case jsonrpc.Batch:
		r.noteBatch(m, r.noteHost)
	}
}

func (r *Relay) noteRequest(m jsonrpc.Message) {
	key, ok := jsonrpc.Key(m.ID)
	if !ok {
		return
	}
	c := &call{id: string(m.ID), method: m.Method, started: time.Now()}
	params := m.Params()
	if r.reporter == nil {
		c.modern = isModern(params)
	} else {
		r.noteParams(c, m, params)
	}
	if m.Method == methodCall && m.Cut {
		r.lose() // too large to know what was called
	}
	r.table.add(key, c)
}

// isModern looks for the version that each request of 2026-07-28 carries. It may
// take a text that has the name in it for one; what hangs on it is the form of the
// answer when the upstream is gone.
func isModern(params []byte) bool {
	return bytes.Contains(params, []byte(metaPrefix+`protocolVersion"`))
}

// noteParams keeps what the record needs of a request.
func (r *Relay) noteParams(c *call, m jsonrpc.Message, params []byte) {
	members, _ := jsonrpc.Object(params, "name", "arguments", "requestState", "_meta", "clientInfo")
	meta, _ := jsonrpc.Object(members[3], metaPrefix+"protocolVersion", metaPrefix+"clientInfo", "claudecode/toolUseId")
	c.modern = meta[0] != nil
	// The host's name is in initialize, or on the modern wire in every request.
	if m.Method == "initialize" {
		r.reporter.setHost(members[4])
	} else if c.modern {
		r.reporter.setHost(meta[1])
	}
	if m.Method == methodCall && !m.Cut {
		c.tool = newToolCall(members[0], members[1], members[2], meta[2])
	}
}

func newToolCall(name, args, state, useID []byte) *toolCall {
	t := &toolCall{name: text(name), requestState: text(state), useID: text(useID)}
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
	if c != nil && c.tool != nil && r.reporter != nil {
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
