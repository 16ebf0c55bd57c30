package web

import (
	"context"
	"io"
	"net/http"

	"github.com/bir-run/bir/relay/budget"
	"github.com/bir-run/bir/relay/jsonrpc"
	"github.com/bir-run/bir/relay/origin"
	"github.com/bir-run/bir/relay/sse"
)

const (
	firstBytes = 32 << 10
	// keptBytes is how large a buffer may be to be used again.
	keptBytes = 2 << 20
)

// buffer holds one answer, with room for one more byte.
type buffer struct {
	data  []byte
	lease budget.Lease
	limit int
}

func (u *Upstream) buffer() *buffer {
	b, ok := u.buffers.Get().(*buffer)
	if !ok {
		b = &buffer{}
	}
	b.data, b.limit, b.lease = b.data[:0], u.limit, budget.Lease{Of: u.memory}
	return b
}

func (u *Upstream) free(b *buffer) {
	b.lease.End()
	if cap(b.data) <= keptBytes {
		u.buffers.Put(b)
	}
}

// fill reads a whole body.
func (b *buffer) fill(ctx context.Context, res *http.Response) error {
	if res.ContentLength > int64(b.limit) {
		return tooLarge()
	}
	if err := b.room(ctx, max(int(res.ContentLength)+1, firstBytes)); err != nil {
		return err
	}
	for {
		n, err := res.Body.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		switch {
		case len(b.data) > b.limit:
			return tooLarge()
		case err == io.EOF && len(b.data) < cap(b.data):
			return nil
		case err != nil && err != io.EOF:
			return origin.Failure(ctx, err)
		}
		if len(b.data) == cap(b.data) {
			if err := b.room(ctx, min(2*cap(b.data), b.limit+2)); err != nil {
				return err
			}
		}
	}
}

// room makes the buffer so large, once it may be.
func (b *buffer) room(ctx context.Context, size int) error {
	if err := b.lease.Grow(ctx, size); err != nil {
		return err
	}
	if size > cap(b.data) {
		grown := make([]byte, len(b.data), size)
		copy(grown, b.data)
		b.data = grown
	}
	return nil
}

// events reads a stream until take says that it is enough, or until it ends: that
// is a failure then, or the context's error.
func (u *Upstream) events(ctx context.Context, body io.Reader, at *place, take func(sse.Event) (enough bool)) error {
	r, ok := u.readers.Get().(*sse.Reader)
	if !ok {
		r = &sse.Reader{MaxBytes: u.limit}
	}
	l := budget.Lease{Of: u.memory}
	var over jsonrpc.Pieces
	r.Reset(body)
	r.Grow = func(bytes int) error { return l.Grow(ctx, bytes) }
	r.Over = over.Add
	defer func() {
		l.End()
		r.Reset(nil)
		u.readers.Put(r)
	}()
	for {
		e, err := r.Next()
		at.note(r, err == nil)
		if err == io.EOF {
			return failf(origin.CodeLost, "upstream ended its stream before the answer")
		}
		if err != nil {
			return origin.Failure(ctx, err)
		}
		if e.Cut {
			u.oversized(ctx, over.Message())
		} else if take(e) {
			return nil
		}
		l.End()
	}
}

// oversized ends what a message over the limit was for. Its name is all that is left
// of it.
func (u *Upstream) oversized(ctx context.Context, m jsonrpc.Message) {
	switch m.Kind {
	case jsonrpc.Response:
		key, _ := jsonrpc.Key(m.ID)
		if f := u.flights.find(key); f != nil && f.settle(key) && !f.isCancelled() {
			u.emit(errorLine(m.ID, tooLarge()))
		}
	case jsonrpc.Request:
		refusal := errorLine(m.ID, failf(codeInvalidRequest, "message too large"))
		u.send(ctx, message{kind: jsonrpc.Response, raw: refusal})
	default:
		u.log.Warn("upstream message too large; dropped", "method", m.Method, "bytes", m.Size)
	}
}

// codeInvalidRequest is JSON-RPC's own code for a request that cannot be taken (R6).
const codeInvalidRequest = -32600
