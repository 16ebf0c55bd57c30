package web

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/relay/jsonrpc"
)

const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	methodCancelled   = "notifications/cancelled"
	methodTools       = "tools/list"
	methodListen      = "subscriptions/listen"

	metaVersion = "io.modelcontextprotocol/protocolVersion"
	// firstModern is the first revision without a handshake. Revisions are dates, and
	// names of drafts, which sort behind them.
	firstModern = "2026-07-28"
)

// message is one line of the host, which is sent as one POST.
type message struct {
	raw    []byte // its own memory, without a delimiter
	kind   jsonrpc.Kind
	method string
	owed   []owed // the requests in it: one, or in a batch any number
	// version is the protocol revision that a request of the modern era carries with
	// it; empty on the legacy wire. The era is decided for each message.
	version string
	params  []byte // of a single message
}

// owed is a request that has no answer yet.
type owed struct {
	key string
	id  []byte // raw
}

// parse looks at a line, which it keeps.
func parse(raw []byte) message {
	m := jsonrpc.Classify(raw)
	out := message{raw: raw, kind: m.Kind, method: m.Method, params: m.Params()}
	switch m.Kind {
	case jsonrpc.Request, jsonrpc.Notification:
		out.version = version(out.params)
		out.owe(m)
	case jsonrpc.Batch:
		for _, element := range m.Elements() {
			out.owe(element)
		}
	}
	return out
}

func (m *message) owe(request jsonrpc.Message) {
	if key, ok := jsonrpc.Key(request.ID); ok && request.Kind == jsonrpc.Request {
		m.owed = append(m.owed, owed{key, request.ID})
	}
}

// version is the protocol revision in params._meta, if it is of the modern era.
func version(params []byte) string {
	members, _ := jsonrpc.Object(params, "_meta")
	if members[0] == nil {
		return ""
	}
	members, _ = jsonrpc.Object(members[0], metaVersion)
	if v := text(members[0]); v >= firstModern {
		return v
	}
	return ""
}

// text decodes a JSON string; it is empty for anything else.
func text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return gjson.ParseBytes(raw).Str
}

// oneLine puts JSON text on one line, in place. Line ends can stand only between
// its tokens, where any white space means the same (R19).
func oneLine(body []byte) []byte {
	body = bytes.TrimSpace(body)
	for i := 0; ; i++ {
		next := bytes.IndexByte(body[i:], '\n')
		if next < 0 {
			break
		}
		i += next
		body[i] = ' '
		if i > 0 && body[i-1] == '\r' {
			body[i-1] = ' '
		}
	}
	return body
}
