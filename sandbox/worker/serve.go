package worker

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/bir-run/bir/sandbox/wire"
)

// ErrMemory is what Serve returns when a body went over its memory where nothing
// could interrupt it: the process has to end, with wire.ExitMemory.
var ErrMemory = errors.New("a body went over its memory inside a builtin")

const (
	setupBytes = 1 << 12
	// collectAbove is the heap left over from an evaluation from which a
	// collection between two evaluations pays: the next one starts with room.
	collectAbove = 16 << 20
)

// Serve answers requests from in on out until in ends, which is how a pool stops
// its workers and how a dead pool's workers end, whatever a body is doing.
// confine is called once, with the limits, before the first body; it returns what
// it put in place.
func Serve(in io.Reader, out io.Writer, confine func(wire.Setup) []string) error {
	var setup wire.Setup
	if err := wire.Read(in, setupBytes, &setup); err != nil {
		return fmt.Errorf("read setup: %w", err)
	}
	if err := reply(out, wire.Hello{Version: wire.Version, Confinement: confine(setup)}); err != nil {
		return err
	}
	if setup.Version != wire.Version {
		return fmt.Errorf("setup is of version %d, this worker of %d", setup.Version, wire.Version)
	}
	// Neither goroutine is waited for: a body may never return and a read may
	// never end, and the process does when Serve returns.
	ended := make(chan error, 3)
	requests := make(chan *wire.Request)
	e := New(Limits{MemoryBytes: setup.MemoryBytes, ResultBytes: setup.ResultBytes})
	e.onRunaway = func() { ended <- ErrMemory }
	go func() { ended <- receive(in, setup.FrameBytes, requests) }()
	go func() { ended <- answer(e, out, requests) }()
	if err := <-ended; !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// receive reads ahead of the evaluation, so that the end of in is seen during one.
func receive(in io.Reader, maxBytes int64, requests chan<- *wire.Request) error {
	for {
		req := new(wire.Request)
		if err := wire.Read(in, maxBytes, req); err != nil {
			return err
		}
		requests <- req
	}
}

func answer(e *Evaluator, out io.Writer, requests <-chan *wire.Request) error {
	for req := range requests {
		resp := e.Eval(req)
		if err := reply(out, resp); err != nil {
			return err
		}
		if heapBytes() > collectAbove {
			runtime.GC()
		}
	}
	return nil
}

func reply(out io.Writer, v any) error {
	frame, err := wire.Encode(v)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	if _, err := out.Write(frame); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}
