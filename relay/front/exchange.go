package front

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/bir-run/bir/relay/jsonrpc"
	"github.com/bir-run/bir/relay/sse"
)

const (
	// maxCopyBytes is the largest answer of which a copy is kept for the record.
	maxCopyBytes = 8 << 20
	// maxEnding bounds the answers that are read for the record after the client has
	// them. One more is read before its handler returns.
	maxEnding = 32
)

// exchange is one HTTP request in which calls are answered. Its methods are called
// by the request's handler, and do nothing on nil.
type exchange struct {
	tap     *tap
	session string
	client  context.Context // of the request; the exchange ends with it
	modern  bool
	status  int
	gone    bool // the client, before the answer's end
	// A plain body is kept in whole, up to the limit.
	body []byte
	over jsonrpc.Pieces // names a larger one
	size int
	// A stream, or what is packed, is read by a goroutine of its own.
	copy    *io.PipeWriter
	reading sync.WaitGroup

	mu    sync.Mutex     // guards all below
	calls map[string]int // our ids of what is owed, by the client's
}

// headers begins to read a copy of the answer.
func (e *exchange) headers(res *http.Response) {
	if e == nil {
		return
	}
	e.status = res.StatusCode
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	streamed := strings.EqualFold(strings.TrimSpace(kind), "text/event-stream")
	packed := strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip")
	if !streamed && !packed {
		e.body = make([]byte, 0, min(max(res.ContentLength, 0), maxCopyBytes))
		return
	}
	from, to := io.Pipe()
	e.copy = to
	// Ends with end.
	e.reading.Go(func() { e.read(from, streamed, packed) })
}

func (e *exchange) read(from io.Reader, streamed, packed bool) {
	defer func() {
		_ = recover() // a fault of ours costs the record, not the conversation
		_, _ = io.Copy(io.Discard, from)
	}()
	body := from
	if packed {
		plain, err := gzip.NewReader(from)
		if err != nil {
			return
		}
		body = plain
	}
	if streamed {
		e.readEvents(body)
		return
	}
	buf := make([]byte, chunkBytes)
	for {
		n, err := body.Read(buf)
		if e.keep(buf[:n]); err != nil {
			if !errors.Is(err, io.EOF) {
				e.body = nil
			}
			return
		}
	}
}

// take copies a piece of the answer, which the client has by now.
func (e *exchange) take(piece []byte) {
	switch {
	case e == nil:
	case e.copy != nil:
		_, _ = e.copy.Write(piece) // its reader reads on to the end
	default:
		e.keep(piece)
	}
}

func (e *exchange) keep(piece []byte) {
	e.size += len(piece)
	if e.size <= maxCopyBytes {
		e.body = append(e.body, piece...)
		return
	}
	e.over.Add(e.body)
	e.over.Add(piece)
	e.body = nil
}

// fail ends the calls of a request that did not reach the server.
func (e *exchange) fail() {
	if e != nil {
		e.status = http.StatusBadGateway
	}
}

func (e *exchange) readEvents(body io.Reader) {
	var over jsonrpc.Pieces
	r := sse.Reader{Source: body, MaxBytes: maxCopyBytes, Over: over.Add}
	for {
		event, err := r.Next()
		switch {
		case err != nil:
			return
		case event.Cut:
			e.truncated(over.Message())
		case event.Type == "":
			e.message(jsonrpc.Head(event.Data))
		}
	}
}

// message looks at a message of the server.
func (e *exchange) message(m jsonrpc.Message) {
	switch m.Kind {
	case jsonrpc.Response:
		if id := e.settle(m.ID); id > 0 {
			e.tap.tell(m, id)
		}
	case jsonrpc.Batch:
		for _, element := range m.Elements() {
			if element.Kind == jsonrpc.Response {
				e.message(element)
			}
		}
	}
}

// truncated plays an answer that was too large to copy.
func (e *exchange) truncated(m jsonrpc.Message) {
	id := 0
	if m.Kind == jsonrpc.Response {
		id = e.settle(m.ID)
	}
	if id == 0 {
		return
	}
	member := "error"
	if m.HasResult() {
		member = "result"
	}
	e.tap.tell(jsonrpc.Classify(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":0,%q:{"truncated":true,"originalBytes":%d}}`, member, m.Size)), id)
}

// settle finds the call that an answer belongs to, of this exchange or of another in
// its session, and takes it off what is owed; 0 when there is none.
func (e *exchange) settle(rawID []byte) int {
	key, ok := jsonrpc.Key(rawID)
	if !ok {
		return 0
	}
	other := e.tap.take(e.session, key)
	e.mu.Lock()
	defer e.mu.Unlock()
	id, own := e.calls[key]
	delete(e.calls, key)
	if !own {
		return other
	}
	return id
}

// end reads what is to be recorded, after the client has it and beside its next
// request.
func (e *exchange) end() {
	if e == nil {
		return
	}
	e.gone = e.client.Err() != nil // which it will be when the handler has returned
	if e.copy != nil {
		e.copy.Close()
	}
	select {
	case e.tap.slots <- struct{}{}:
		// Ends with the reading.
		e.tap.ending.Go(func() {
			defer func() { <-e.tap.slots }()
			e.finish()
		})
	default:
		e.finish()
	}
}

// finish ends what the exchange left open. In a session the answer may still come on
// another stream; a call that was refused has none.
func (e *exchange) finish() {
	defer func() { _ = recover() }() // a fault of ours costs the record only
	e.reading.Wait()
	if e.size > maxCopyBytes {
		e.truncated(e.over.Message())
	} else if len(e.body) > 0 {
		e.message(jsonrpc.Head(e.body))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, id := range e.calls {
		switch {
		case e.gone && e.modern && e.status/100 == 2:
			e.tap.cancel(id) // on the modern wire that is how a client cancels
		case e.status/100 != 2:
			e.tap.take(e.session, key)
			e.tap.fail(id, e.status, fmt.Sprintf("HTTP %d", e.status))
		case e.session == "":
			e.tap.fail(id, 0, "the stream ended before the answer")
		}
	}
}
