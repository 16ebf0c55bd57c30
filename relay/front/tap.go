package front

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
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

	asking sync.Mutex // one line at a time

	mu   sync.Mutex // guards all below
	next int
	open map[string]int // our id, by the session's and the client's
}

func newTap(name string, record relay.Record, log *slog.Logger) *tap {
	t := &tap{ended: make(chan struct{}), open: map[string]int{}, up: newSilentUpstream()}
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
		t.asks.Close()
	}
}

// ask plays a line of the host, and returns when the relay has noted it: the answer
// may come at once.
func (t *tap) ask(line []byte) {
	t.asking.Lock()
	defer t.asking.Unlock()
	if _, err := t.asks.Write(append(line, '\n')); err != nil {
		return
	}
	for noted := 0; noted <= len(line); {
		select {
		case n := <-t.up.noted:
			noted += n
		case <-t.ended:
			return
		}
	}
}

// tell plays a line of the server.
func (t *tap) tell(line []byte) {
	_, _ = t.up.tells.Write(append(line, '\n')) // fails when the relay has ended
}

// call notes a tools/call and returns our id of it.
func (t *tap) call(session, key string, params []byte) int {
	t.mu.Lock()
	t.next++
	id := t.next
	if session != "" {
		t.open[session+"\n"+key] = id
	}
	t.mu.Unlock()
	t.ask(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, methodCall, oneLine(params)))
	return id
}

// greet lets the relay know who the client says it is.
func (t *tap) greet(params []byte) {
	t.mu.Lock()
	t.next++
	id := t.next
	t.mu.Unlock()
	t.ask(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":%s}`, id, oneLine(params)))
	t.tell(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`, id))
}

// cancel notes that the client gave up on a call.
func (t *tap) cancel(id int) {
	t.ask(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"requestId":%d}}`, methodCancelled, id))
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
		e.tap.greet(m.Params())
	case m.Kind == jsonrpc.Request && m.Method == methodCall && m.Params() != nil:
		if key, ok := jsonrpc.Key(m.ID); ok {
			e.modern = gjson.GetBytes(m.Params(), metaVersion).Exists()
			e.calls[key] = e.tap.call(e.session, key, m.Params())
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
	noted chan int // bytes of the host's lines that the relay has noted
	once  sync.Once
	ended chan struct{}
}

func newSilentUpstream() *silentUpstream {
	u := &silentUpstream{noted: make(chan int), ended: make(chan struct{})}
	u.PipeReader, u.tells = io.Pipe()
	return u
}

// Write is called with what the relay has noted.
func (u *silentUpstream) Write(b []byte) (int, error) {
	select {
	case u.noted <- len(b):
		return len(b), nil
	case <-u.ended:
		return 0, io.ErrClosedPipe
	}
}

// Stop ends it.
func (u *silentUpstream) Stop() {
	u.once.Do(func() {
		close(u.ended)
		u.tells.Close()
	})
}

// oneLine puts JSON text on one line. The text is copied: the client's goes on as it
// is.
func oneLine(text []byte) []byte {
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
