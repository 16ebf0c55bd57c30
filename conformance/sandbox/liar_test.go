package sandbox_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/sandbox/corpus"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/wire"
)

// asLiar makes this test binary a worker that does not keep to the protocol.
const asLiar = "-as-liar"

// lies are how. Each begins where a good worker would have read its setup.
var lies = map[string]func(in io.Reader, out io.Writer){
	"garbage for a greeting":  func(_ io.Reader, out io.Writer) { _, _ = out.Write([]byte("hello, world\n")) },
	"nothing":                 func(io.Reader, io.Writer) {},
	"another version":         func(_ io.Reader, out io.Writer) { put(out, wire.Hello{Version: wire.Version + 1}) },
	"a greeting without end":  func(_ io.Reader, out io.Writer) { forever(out, "\x00\x0f\xff\xff") },
	"half a greeting":         func(_ io.Reader, out io.Writer) { _, _ = out.Write([]byte("\x00\x00\x00\x09{}")) },
	"garbage for an answer":   answering(func(out io.Writer) { _, _ = out.Write([]byte("\x00\x00\x00\x02no")) }),
	"half an answer":          answering(func(out io.Writer) { _, _ = out.Write([]byte("\x00\x00\xff\x00{\"value\":")) }),
	"half a header":           answering(func(out io.Writer) { _, _ = out.Write([]byte("\x00\x00")) }),
	"an answer of four GB":    answering(func(out io.Writer) { forever(out, "\xff\xff\xff\xff") }),
	"a panic":                 answering(func(io.Writer) { panic("on purpose") }),
	"a value that is no JSON": answering(func(out io.Writer) { _, _ = out.Write([]byte("\x00\x00\x00\x0b{\"value\":a}")) }),
}

func put(out io.Writer, v any) {
	if frame, err := wire.Encode(v); err == nil {
		_, _ = out.Write(frame)
	}
}

// forever ends with the reader.
func forever(out io.Writer, first string) {
	_, err := out.Write([]byte(first))
	for err == nil {
		_, err = out.Write(make([]byte, 1<<16))
	}
}

// answering greets as it should and lies to the first question.
func answering(lie func(io.Writer)) func(io.Reader, io.Writer) {
	return func(in io.Reader, out io.Writer) {
		var setup wire.Setup
		if wire.Read(in, 1<<20, &setup) != nil {
			return
		}
		put(out, wire.Hello{Version: wire.Version})
		var req wire.Request
		if wire.Read(in, 1<<20, &req) == nil {
			lie(out)
		}
	}
}

// lieIfAsked is for TestMain.
func lieIfAsked(args []string) bool {
	if len(args) != 3 || args[1] != asLiar {
		return false
	}
	lies[args[2]](os.Stdin, os.Stdout)
	return true
}

// Whatever a worker says that is not an answer never reaches the caller as data, and
// never keeps it waiting.
func TestWorkersThatLieAreNotBelieved(t *testing.T) {
	for name := range lies {
		t.Run(name, func(t *testing.T) {
			pool := sandbox.NewPool(sandbox.Config{Command: []string{os.Args[0], asLiar, name}, Size: 1, Timeout: corpus.Patience, StartTimeout: corpus.Patience})
			defer pool.Close()
			for range 2 {
				result, err := pool.Eval(t.Context(), corpus.Raw("return 1"), sandbox.Args{})
				var fault *sandbox.Error
				if !errors.As(err, &fault) || fault.Type != sandbox.TypeSandbox {
					t.Errorf("gave %s, %v", result.Value, err)
				}
			}
		})
	}
}

func TestASilentWorkerIsNotWaitedFor(t *testing.T) {
	if _, err := os.Stat("/bin/sleep"); err != nil {
		t.Skip("no program here that says nothing")
	}
	pool := sandbox.NewPool(sandbox.Config{Command: []string{"/bin/sleep", "600"}, Size: 1, StartTimeout: 300 * time.Millisecond})
	defer pool.Close()
	_, err := pool.Eval(t.Context(), corpus.Raw("return 1"), sandbox.Args{})
	var fault *sandbox.Error
	if !errors.As(err, &fault) || fault.Type != sandbox.TypeSandbox || !strings.Contains(fault.Message, "start an evaluator") {
		t.Errorf("got %v", err)
	}
}
