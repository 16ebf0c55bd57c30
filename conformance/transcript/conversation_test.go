//go:build unix

package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bir-run/bir/conformance/wire"
)

// move is one side saying something.
type move struct {
	host bool
	text string
}

func host(text string) move     { return move{true, text} }
func upstream(text string) move { return move{false, text} }

// line is a message by itself; the conversations below write most of them so.
func line(text string) string { return text + "\n" }

var big = strings.Repeat(`path/to/file \"name\" caf\u00e9 😀 `+"\u2028", 5<<20/40)

// conversations is the list of what must pass unchanged. Methods come from the
// protocol's revisions up to 2026-07-28, both directions.
var conversations = map[string][]move{
	"handshake": {
		host(line(`{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)),
		upstream(line(`{"jsonrpc":"2.0","id":"server-discover-probe-1","error":{"code":-32601,"message":"Method not found"}}`)),
		host(line(`{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"x":{"y":1}}},"jsonrpc":"2.0","id":0}`)),
		upstream(line(`{"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"unknown":{}},"serverInfo":{"name":"s"}},"jsonrpc":"2.0","id":0}`)),
		host(line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)),
	},
	"discover without an answer": {
		host(line(`{"jsonrpc":"2.0","id":"p","method":"server/discover"}`)),
		host(line(`{"jsonrpc":"2.0","id":0,"method":"initialize"}`)),
		upstream(line(`{"jsonrpc":"2.0","id":0,"result":{}}`)),
	},
	"modern": {
		host(line(`{"jsonrpc":"2.0","id":"listen:0","method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)),
		host(line(`{"method":"tools/call","params":{"name":"ask","arguments":{},"_meta":{"traceparent":"00-1-2-01"}},"jsonrpc":"2.0","id":1}`)),
		upstream(line(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{}},"requestState":"o\/paque"}}`)),
		host(line(`{"method":"tools/call","params":{"name":"ask","arguments":{},"inputResponses":{"a":{}},"requestState":"o\/paque"},"jsonrpc":"2.0","id":2}`)),
		upstream(line(`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"ttlMs":0,"cacheScope":"private"}}`)),
	},
	"cancelled": {
		host(line(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"slow"}}`)),
		host(line(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"AbortError: user-cancel"}}`)),
	},
	"progress in between": {
		host(line(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"p","_meta":{"progressToken":2}}}`)),
		upstream(line(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}`)),
		upstream(line(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":2.0}}`)),
		upstream(line(`{"jsonrpc":"2.0","id":2,"result":{}}`)),
	},
	"same id both ways": {
		host(line(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`)),
		upstream(line(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`)),
		host(line(`{"jsonrpc":"2.0","id":1,"result":{"action":"cancel"}}`)),
		upstream(line(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)),
	},
	"duplicate ids": {
		host(line(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`) + line(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b"}}`)),
		upstream(line(`{"jsonrpc":"2.0","id":1,"result":1}`) + line(`{"jsonrpc":"2.0","id":1,"result":2}`) + line(`{"jsonrpc":"2.0","id":1,"result":3}`)),
	},
	"ids": {
		host(idLines(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"a","arguments":{}}}`)),
		upstream(idLines(`{"jsonrpc":"2.0","id":%s,"result":{}}`)),
	},
	"numbers and escapes": {
		host(line(`{"id":1,"method":"tools\/c\u0061ll","params":{"name":"a","arguments":{"b":12345678901234567890,"f":1.0,"e":1E5,"h":1e400,"z":-0,"s":"\u00e9\u2028\ud83d\ude00\/<&>","dup":1,"dup":2,"2":0,"1":0}}}`)),
		upstream(line(`{"id":1,"result":{"n":-9007199254740993,"x":0.10,"s":"\u0000","deep":[[[[{"k":null}]]]], "sp" : [ 1 , 2 ]}}`)),
	},
	"line separators": {
		host("{\"id\":1,\"method\":\"a\"}\r\n" + "{\"x\":\"\u2028\u2029\u0085\"}\n"),
		upstream("{\"id\":1,\"result\":\"\u2028\"}\r\n" + "\r\n" + "\n\n \t\n"),
	},
	"blank lines and noise": {
		host("\n\n"), upstream("Server running on stdio\n"), upstream("\x1b[31mwarn\x1b[0m\n"), host("not json\n"),
		upstream("{broken\n"), upstream("\x00\xff\xfe\n"), host(line(`{"id":1,"method":"ping"}`)), upstream(line(`{"id":1,"result":{}}`)),
	},
	"batches": {
		host(line(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":"b","method":"ping"}]`)),
		upstream(line(`[{"jsonrpc":"2.0","id":"b","result":{}},{"jsonrpc":"2.0","id":1,"result":{}}]`)),
		host(line(`[]`)), upstream(line(`[1,[2],{}]`)),
	},
	"a message in pieces": {
		host(`{"jsonrpc":"2.0","id":1,`), host(`"method":"tools/call","params":{"name":"caf` + "\xc3"), host("\xa9" + `"}`), host("}\n"),
		upstream(`{"jsonrpc":"2.0","id":1,"result":{"t":"` + "\xf0\x9f"), upstream("\x98\x80" + `"`), upstream("}}"), upstream("\n"),
	},
	"many messages at once": {
		host(strings.Repeat(line(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), 3000)),
		upstream(strings.Repeat(line(`{"jsonrpc":"2.0","id":1,"result":{}}`), 3000)),
	},
	"5 MiB both ways": {
		host(line(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big","arguments":{"t":"` + big + `"}}}`)),
		upstream(line(`{"result":{"content":[{"type":"text","text":"` + big + `"}]},"jsonrpc":"2.0","id":1}`)),
	},
	"10 MiB": {
		host(line(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big"}}`)),
		upstream(line(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + big + big + `"}]}}`)),
	},
	"a last line without an end": {
		upstream(`{"jsonrpc":"2.0","id":1,"result`), host(`{"jsonrpc":"2.0","id":1,"meth`),
	},
}

func withEveryMethod(m map[string][]move) map[string][]move {
	for _, method := range []string{
		"ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/templates/list",
		"resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete", "logging/setLevel",
		"tasks/get", "tasks/cancel", "vendor/unknown", "",
	} {
		m["host asks "+method] = []move{
			host(line(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":%q,"params":{"x":[1.0],"_meta":{"v/k":1}}}`, method))),
			upstream(line(`{"jsonrpc":"2.0","id":3,"result":{"unknown":true,"_meta":{}}}`)),
		}
	}
	for _, method := range []string{"sampling/createMessage", "elicitation/create", "roots/list", "ping", "vendor/ask"} {
		m["upstream asks "+method] = []move{
			upstream(line(fmt.Sprintf(`{"jsonrpc":"2.0","id":1000,"method":%q,"params":{}}`, method))),
			host(line(`{"result":{"roots":[]},"jsonrpc":"2.0","id":1000}`)),
			upstream(line(fmt.Sprintf(`{"jsonrpc":"2.0","id":1001,"method":%q}`, method))),
			host(line(`{"jsonrpc":"2.0","id":1001,"error":{"code":-32601,"message":"Method not found"}}`)),
		}
	}
	for _, method := range []string{"notifications/progress", "notifications/roots/list_changed", "notifications/vendor"} {
		m["host tells "+method] = []move{host(line(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{}}`, method)))}
	}
	for _, method := range []string{
		"notifications/message", "notifications/progress", "notifications/cancelled", "notifications/tools/list_changed",
		"notifications/resources/list_changed", "notifications/resources/updated", "notifications/prompts/list_changed", "notifications/vendor",
	} {
		m["upstream tells "+method] = []move{upstream(line(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{}}`, method)))}
	}
	return m
}

func idLines(format string) string {
	var b strings.Builder
	for _, id := range []string{`0`, `""`, `"0"`, `-1`, `1.0`, `9007199254740993`, `12345678901234567890`, `"caf\u00e9"`, `"a\"b"`, `null`, `1.5`, `true`} {
		fmt.Fprintf(&b, format+"\n", id)
	}
	return b.String()
}

// play runs a conversation and returns what each side got.
func play(t *testing.T, w *wire.Wire, moves []move) (hostGot, upstreamGot string) {
	t.Helper()
	var said, answered int
	for _, m := range moves {
		if m.host {
			said += len(m.text)
			w.HostSays(m.text, said)
		} else {
			answered += len(m.text)
			w.UpstreamSays(m.text, answered)
		}
	}
	w.In.Close()
	wire.Await(t, "the end of the upstream's input", w.InputEnd)
	w.Do(wire.DoExit, 0)
	hostGot = w.HostGets()
	if status := w.Status(); status != 0 {
		t.Errorf("status %d", status)
	}
	return hostGot, string(w.Upstream.Await(t, "the upstream's end", func(_ []byte, ended bool) bool { return ended }))
}

func TestTheProxyIsInvisible(t *testing.T) {
	for name, moves := range withEveryMethod(conversations) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantHost, wantUpstream := play(t, wire.Direct(t), moves)
			for _, flags := range [][]string{nil, {"--no-record"}, {"--restart"}} {
				gotHost, gotUpstream := play(t, wire.Proxied(t, flags...), moves)
				same(t, "host", gotHost, wantHost)
				same(t, "upstream", gotUpstream, wantUpstream)
			}
		})
	}
}

// same compares bytes and shows where they part.
func same(t *testing.T, side, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	t.Errorf("the %s got %d bytes through the proxy and %d without; from byte %d %.80q, not %.80q",
		side, len(got), len(want), i, got[i:], want[i:])
}
