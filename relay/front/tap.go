package front

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/relay"
	"github.com/bir-run/bir/relay/jsonrpc"
)

const (
	methodCall      = "tools/call"
	methodCancelled = "notifications/cancelled"
	headerSession   = "Mcp-Session-Id"
	metaVersion     = `_meta.io\.modelcontextprotocol/protocolVersion`
)

// tap plays a conversation of copies to a relay. Ids are its own, since the clients
// of a server use the same ones.
type tap struct {
	relay *relay.Relay
	host  *io.PipeReader // what the relay takes for the host
	asks  *io.PipeWriter
	up    *silentUpstream
	ended chan struct{} // closed when the relay has ended

	asking  sync.Mutex     // one line at a time, to the server
	telling sync.Mutex     // likewise, from the server
	ending  sync.WaitGroup // the answers that are still being read
	slots   chan struct{}  // holds a token for each of them

	mu   sync.Mutex // guards all below
	next int
	open map[string]int // our id, by the session's and the client's
}

func newTap(name string, record relay.Record, log *slog.Logger) *tap {
	t := &tap{ended: make(chan struct{}), open: map[string]int{}, up: newSilentUpstream(), slots: make(chan struct{}, maxEnding)}
	t.host, t.asks = io.Pipe()
	t.relay = relay.New(relay.Config{HostIn: t.host, HostOut: io.Discard, Upstream: t.up, Name: name, Record: record, Log: log})
	return t
}

// start runs the relay. What is returned is closed when it has ended.
func (t *tap) start(ctx context.Context) <-chan struct{} {
	if t == nil {
		done := make(chan struct{})
		close(done)
		return done
	}
	// Ends with stop.
	go func() {
		defer close(t.ended)
		_ = t.relay.Run(context.WithoutCancel(ctx)) // a conversation of copies cannot break
	}()
	return t.ended
}

func (t *tap) stop() {
	if t != nil {
		t.ending.Wait()
		t.asks.Close()
	}
}

// ask plays a message of the host under our id of it, and returns when the relay has
// noted it: the answer may come at once.
func (t *tap) ask(m jsonrpc.Message, id int) {
	t.asking.Lock()
	defer t.asking.Unlock()
	t.up.await(play(t.asks, m, id))
}

// tell plays a message of the server.
func (t *tap) tell(m jsonrpc.Message, id int) {
	t.telling.Lock()
	defer t.telling.Unlock()
	play(t.up.tells, m, id)
}

// play writes a message with another id, on one line, and returns how long that is.
// What is written to has ended when the relay has.
func play(to io.Writer, m jsonrpc.Message, id int) (size int) {
	start, end := m.IDAt()
	number := strconv.AppendInt(nil, int64(id), 10)
	for _, piece := range [][]byte{oneLine(m.Raw[:start]), number, oneLine(m.Raw[end:]), []byte("\n")} {
		n, _ := to.Write(piece)
		size += n
	}
	return size
}

// call notes a tools/call and returns our id of it.
func (t *tap) call(session, key string, m jsonrpc.Message) int {
	t.mu.Lock()
	t.next++
	id := t.next
	if session != "" {
		t.open[session+"\n"+key] = id
	}
	t.mu.Unlock()
	t.ask(m, id)
	return id
}

// greet lets the relay know who the client says it is.
func (t *tap) greet(m jsonrpc.Message) {
	t.mu.Lock()
	t.next++
	id := t.next
	t.mu.Unlock()
	t.ask(m, id)
	t.tell(jsonrpc.Classify([]byte(`{"jsonrpc":"2.0","id":0,"result":{}}`)), id)
}

// cancel notes that the client gave up on a call.
func (t *tap) cancel(id int) {
	t.asking.Lock()
	defer t.asking.Unlock()
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"requestId":%d}}`+"\n", methodCancelled, id)
	n, _ := t.asks.Write(line) // fails when the relay has ended
	t.up.await(n)
}

// fail notes that a call ended without an answer.
func (t *tap) fail(id, code int, text string) {
	t.tell(jsonrpc.Classify(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":0,"error":{"code":%d,"message":%q}}`, code, text)), id)
}

// take finds a call of a session and forgets it; 0 when there is none.
func (t *tap) take(session, key string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := t.open[session+"\n"+key]
	delete(t.open, session+"\n"+key)
	return id
}

// begin looks at a request. What it returns is nil where there is nothing to record.
func (t *tap) begin(r *http.Request, body []byte) *exchange {
	if t == nil {
		return nil
	}
	e := &exchange{tap: t, session: r.Header.Get(headerSession), client: r.Context(), calls: map[string]int{}}
	if r.Method == http.MethodPost {
		e.note(jsonrpc.Classify(body))
	}
	if len(e.calls) == 0 && (r.Method != http.MethodGet || e.session == "") {
		return nil
	}
	return e
}

// note looks at a message of the client.
func (e *exchange) note(m jsonrpc.Message) {
	switch {
	case m.Kind == jsonrpc.Batch:
		for _, element := range m.Elements() {
			if element.Kind != jsonrpc.Batch {
				e.note(element)
			}
		}
	case m.Kind == jsonrpc.Request && m.Method == "initialize" && m.Params() != nil:
		e.tap.greet(m)
	case m.Kind == jsonrpc.Request && m.Method == methodCall && m.Params() != nil:
		if key, ok := jsonrpc.Key(m.ID); ok {
			e.modern = gjson.GetBytes(m.Params(), metaVersion).Exists()
			e.calls[key] = e.tap.call(e.session, key, m)
		}
	case m.Kind == jsonrpc.Notification && m.Method == methodCancelled:
		key, ok := jsonrpc.Key([]byte(gjson.GetBytes(m.Params(), "requestId").Raw))
		if id := e.tap.take(e.session, key); ok && id > 0 {
			e.tap.cancel(id)
		}
	}
}

// silentUpstream is a server that says what it is told, and hears nothing.
type silentUpstream struct {
	*io.PipeReader
	tells *io.PipeWriter

	mu     sync.Mutex // guards all below
	change *sync.Cond
	asked  int // bytes that were said to the relay
	noted  int // bytes of them that it has noted
	ended  bool
}

func newSilentUpstream() *silentUpstream {
	u := &silentUpstream{}
	u.change = sync.NewCond(&u.mu)
	u.PipeReader, u.tells = io.Pipe()
	return u
}

// await waits until the relay has noted so many bytes more.
func (u *silentUpstream) await(more int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked += more
	for u.noted < u.asked && !u.ended {
		u.change.Wait()
	}
}

// Write is called with what the relay has noted.
func (u *silentUpstream) Write(b []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.noted += len(b)
	u.change.Broadcast()
	return len(b), nil
}

// Stop ends it.
func (u *silentUpstream) Stop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = true
	u.change.Broadcast()
	u.tells.Close()
}

// oneLine puts JSON text on one line. The client's own goes on as it is.
func oneLine(text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\n"), []byte(" "))
}

// onlyReadable asks for no packing that the copy could not undo.
func onlyReadable(h http.Header) {
	accepted, said := h["Accept-Encoding"]
	switch {
	case !said:
	case strings.Contains(strings.Join(accepted, ","), "gzip"):
		h.Set("Accept-Encoding", "gzip")
	default:
		h.Set("Accept-Encoding", "identity")
	}
}
