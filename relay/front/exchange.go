package front

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/bir-run/bir/relay/jsonrpc"
	"github.com/bir-run/bir/relay/sse"
)

// maxCopyBytes is the largest answer of which a copy is kept for the record.
const maxCopyBytes = 8 << 20

// exchange is one HTTP request in which calls are answered. Its methods are called
// by the request's handler, and do nothing on nil.
type exchange struct {
	tap     *tap
	session string
	client  context.Context // of the request; the exchange ends with it
	modern  bool
	copy    *io.PipeWriter // to the goroutine below; nil where nothing is copied
	reading sync.WaitGroup
	status  int

	mu    sync.Mutex     // guards all below
	calls map[string]int // our ids of what is owed, by the client's
}

// headers begins to read a copy of the answer.
func (e *exchange) headers(res *http.Response) {
	if e == nil {
		return
	}
	e.status = res.StatusCode
	from, to := io.Pipe()
	e.copy = to
	// Ends with end.
	e.reading.Go(func() {
		defer func() {
			_ = recover() // a fault of ours costs the record, not the conversation
			_, _ = io.Copy(io.Discard, from)
		}()
		var body io.Reader = from
		if strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip") {
			plain, err := gzip.NewReader(from)
			if err != nil {
				return
			}
			body = plain
		}
		if kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
			e.readEvents(body)
		} else {
			e.readBody(body)
		}
	})
}

// take copies a piece of the answer, which the client has by now.
func (e *exchange) take(piece []byte) {
	if e != nil {
		_, _ = e.copy.Write(piece) // its reader reads on to the end
	}
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
			m := over.Message()
			e.answered(m.ID, m.HasResult(), truncated(event.Size))
		case event.Type == "":
			e.message(jsonrpc.Classify(event.Data))
		}
	}
}

func (e *exchange) readBody(body io.Reader) {
	text, err := io.ReadAll(io.LimitReader(body, maxCopyBytes))
	if err != nil {
		return
	}
	if len(text) < maxCopyBytes {
		e.message(jsonrpc.Classify(text))
		return
	}
	var over jsonrpc.Pieces
	over.Add(text)
	size := len(text)
	for buf := make([]byte, chunkBytes); err == nil; {
		var n int
		n, err = body.Read(buf)
		over.Add(buf[:n])
		size += n
	}
	if m := over.Message(); m.Kind == jsonrpc.Response {
		e.answered(m.ID, m.HasResult(), truncated(size))
	}
}

// truncated stands for a payload that was too large to copy.
func truncated(size int) []byte {
	return fmt.Appendf(nil, `{"truncated":true,"originalBytes":%d}`, size)
}

func (e *exchange) message(m jsonrpc.Message) {
	switch m.Kind {
	case jsonrpc.Response:
		if m.HasResult() {
			e.answered(m.ID, true, m.Result())
		} else {
			e.answered(m.ID, false, m.Error())
		}
	case jsonrpc.Batch:
		for _, element := range m.Elements() {
			if element.Kind == jsonrpc.Response {
				e.message(element)
			}
		}
	}
}

// answered plays the answer to a call, of this exchange or of another of its session.
func (e *exchange) answered(rawID []byte, ok bool, payload []byte) {
	key, valid := jsonrpc.Key(rawID)
	if !valid {
		return
	}
	e.mu.Lock()
	id := e.calls[key]
	delete(e.calls, key)
	e.mu.Unlock()
	if other := e.tap.take(e.session, key); id == 0 {
		id = other
	}
	if id == 0 {
		return
	}
	member := "result"
	if !ok {
		member = "error"
	}
	e.tap.tell(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,%q:%s}`, id, member, oneLine(bytes.TrimSpace(payload))))
}

// end ends what the exchange left open. In a session the answer may still come on
// another stream; a call that was refused has none.
func (e *exchange) end() {
	if e == nil {
		return
	}
	if e.copy != nil {
		e.copy.Close()
	}
	e.reading.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	refused := e.status/100 != 2
	for key, id := range e.calls {
		switch {
		case e.client.Err() != nil && e.modern:
			e.tap.cancel(id) // on the modern wire that is how a client cancels
		case refused:
			e.tap.take(e.session, key)
			e.tap.tell(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":"HTTP %d"}}`, id, e.status, e.status))
		case e.session == "":
			e.tap.tell(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"error":{"code":0,"message":"the stream ended before the answer"}}`, id))
		}
	}
}
