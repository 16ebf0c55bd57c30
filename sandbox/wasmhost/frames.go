package wasmhost

import (
	"bytes"
	"fmt"
	"io"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/bir-run/bir/sandbox/worker"
)

// questions is the guest's standard input: frames that were read and lowered ahead.
type questions struct {
	frames chan []byte
	now    []byte // the rest of what the guest is reading
}

// Read is called by the guest. It waits as the guest would: nothing else runs there.
func (q *questions) Read(p []byte) (int, error) {
	if len(q.now) == 0 {
		frame, more := <-q.frames
		if !more {
			return 0, io.EOF
		}
		q.now = frame
	}
	n := copy(p, q.now)
	q.now = q.now[n:]
	return n, nil
}

// relay reads requests until in ends, also while a body runs: that is how the end of
// the pool is seen. A body that no evaluator would take is answered here.
func (q *questions) relay(in io.Reader, out io.Writer, maxBytes int64) error {
	defer close(q.frames)
	lowerer := worker.NewLowerer()
	for {
		req := new(wire.Request)
		if err := wire.Read(in, maxBytes, req); err != nil {
			return err
		}
		if failure := lowerer.Lower(req); failure != nil {
			if err := send(out, wire.Response{Failure: failure}); err != nil {
				return err
			}
			continue
		}
		frame, err := wire.Encode(req)
		if err != nil {
			return fmt.Errorf("encode frame: %w", err)
		}
		q.frames <- frame
	}
}

func send(out io.Writer, v any) error {
	frame, err := wire.Encode(v)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	if _, err := out.Write(frame); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}

// answers is the guest's standard output. The first frame is its greeting, to which
// the host adds what holds the process; the others pass as they are, since the pool
// believes none of them.
type answers struct {
	out     io.Writer
	held    []string
	hello   []byte // as much of it as has come
	greeted bool
}

func (a *answers) Write(p []byte) (int, error) {
	if a.greeted {
		return a.out.Write(p)
	}
	a.hello = append(a.hello, p...)
	var hello wire.Hello
	switch err := wire.Read(bytes.NewReader(a.hello), helloBytes, &hello); err {
	case nil:
	case io.EOF, io.ErrUnexpectedEOF:
		return len(p), nil
	default:
		return 0, fmt.Errorf("read the guest's greeting: %w", err)
	}
	a.greeted = true
	hello.Confinement = a.held
	return len(p), send(a.out, hello)
}
