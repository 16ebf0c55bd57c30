package relay

import (
	"bytes"
	"time"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay/jsonrpc"
)

const (
	methodCall      = "tools/call"
	methodDiscover  = "server/discover"
	methodCancelled = "notifications/cancelled"

	metaToolUse    = `_meta.claudecode/toolUseId`
	metaClientInfo = `_meta.io\.modelcontextprotocol/clientInfo`
)

var metaVersion = []byte(`"io.modelcontextprotocol/protocolVersion"`)

// toolCall is what the record keeps of a tools/call. Its strings share one copy of
// the params.
type toolCall struct {
	useID        string // the host's own id for the call, if it sent one
	name         string
	args         string // raw JSON text as sent
	requestState string // of a retry after input_required (R4)
	bytes        int
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
	c.modern = bytes.Contains(params, metaVersion)
	if r.reporter != nil {
		r.noteClient(m.Method, params, c.modern)
		if m.Method == methodCall {
			c.tool = newToolCall(m)
		}
	}
	if !r.table.add(key, c) && c.tool != nil {
		r.lose()
	}
}

// noteClient learns the host's name where it gives one: in initialize, or on the
// modern wire in any request.
func (r *Relay) noteClient(method string, params []byte, modern bool) {
	path := "clientInfo"
	if modern {
		path = metaClientInfo
	} else if method != "initialize" {
		return
	}
	if info := gjson.GetBytes(params, path); info.Exists() {
		r.reporter.setHost(recorder.App{App: info.Get("name").String(), Version: info.Get("version").String()})
	}
}

func newToolCall(m jsonrpc.Message) *toolCall {
	if m.Cut {
		return &toolCall{args: truncated(m.Size)}
	}
	params := gjson.ParseBytes(m.Params()) // copies
	t := &toolCall{args: "{}", bytes: len(params.Raw)}
	params.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "name":
			t.name = value.String()
		case "arguments":
			t.args = value.Raw
		case "requestState":
			t.requestState = value.String()
		}
		return true
	})
	t.useID = params.Get(metaToolUse).String()
	return t
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
	c := r.table.take(key)
	if c == nil || c.tool == nil || r.reporter == nil {
		return
	}
	r.reporter.answered(c, m)
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
