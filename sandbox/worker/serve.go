package worker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

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
	// warmBytes is more than the body takes that nobody asked for.
	warmBytes = 16 << 20
)

// Serve answers requests from in on out until in ends, which is how a pool stops
// its workers and how a dead pool's workers end, whatever a body is doing.
// confine is called once, with the limits, before the first body; it returns what
// it put in place.
func Serve(in io.Reader, out io.Writer, confine func(wire.Setup) []string) error {
	e := New(Limits{})
	warm := e.warmUp()
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
	// The loop is not waited for: a body may never return and a read may never end,
	// but the process does when Serve returns.
	ended := make(chan error, 3) // one for each that may send
	in = bufio.NewReader(in)     // one read of the pipe takes a small request whole, and none before confine
	requests := &input{in: in, maxBytes: setup.FrameBytes, ended: func(err error) { ended <- err }}
	<-warm
	e.limits = Limits{MemoryBytes: setup.MemoryBytes, ResultBytes: setup.ResultBytes}
	if runtime.GOOS != "wasip1" { // there a read stops everything; the host reads ahead
		e.onLong = requests.readAhead
	}
	e.onRunaway = func() { ended <- ErrMemory }
	go func() { ended <- answer(e, out, requests) }()
	if err := <-ended; !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// warmUp runs a body of ours and prepares for the next, beside what confines the process:
// most of the first evaluation is memory that is touched for the first time. A guest
// has one thread, where there is nothing beside.
func (e *Evaluator) warmUp() (done chan struct{}) {
	done = make(chan struct{})
	if runtime.GOOS == "wasip1" {
		close(done)
		return done
	}
	const zone = "UTC"
	_ = e.enter(zone) // before others read it beside the body, which then leaves it alone
	go func() {       // ends with the body, which has no loop
		defer close(done)
		e.limits = Limits{MemoryBytes: warmBytes, ResultBytes: warmBytes}
		frame, _ := wire.Encode(wire.Request{ // no error: all of it is ours
			Source:  "return {text: JSON.stringify(params)}",
			Args:    []wire.Arg{{Name: "params", JSON: json.RawMessage("{}")}, {Name: "respParams", JSON: json.RawMessage("{}")}},
			Plain:   true,
			Zone:    zone,
			Timeout: time.Second,
		})
		requests := &input{in: bytes.NewReader(frame), maxBytes: warmBytes}
		if req, err := requests.next(); err == nil {
			_ = reply(io.Discard, e.Eval(req))
		}
		e.prepare()
	}()
	return done
}

func answer(e *Evaluator, out io.Writer, requests *input) error {
	rest := new(rest)
	for {
		req, err := requests.next()
		if err != nil {
			return err
		}
		resp := e.Eval(req)
		if err := reply(out, resp); err != nil {
			return err
		}
		if heapBytes() > collectAbove {
			runtime.GC()
		}
		e.prepare()
		if runtime.GOOS != "wasip1" { // there no timer runs while a read waits
			rest.answered()
		}
	}
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
