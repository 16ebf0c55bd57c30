package worker

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pool is the other side of Serve.
type pool struct {
	t     *testing.T
	in    *io.PipeWriter
	out   *io.PipeReader
	ended chan error
}

func serve(t *testing.T, setup wire.Setup) (*pool, wire.Hello) {
	t.Helper()
	workerIn, in := io.Pipe()
	out, workerOut := io.Pipe()
	p := &pool{t: t, in: in, out: out, ended: make(chan error, 1)}
	go func() { // ends when in is closed
		p.ended <- Serve(workerIn, workerOut, func(wire.Setup) []string { return []string{"a test"} })
	}()
	p.send(setup)
	var hello wire.Hello
	p.receive(&hello)
	return p, hello
}

func (p *pool) send(v any) {
	p.t.Helper()
	frame, err := wire.Encode(v)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.in.Write(frame); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pool) receive(v any) {
	p.t.Helper()
	if err := wire.Read(p.out, 1<<20, v); err != nil {
		p.t.Fatal(err)
	}
}

var testSetup = wire.Setup{Version: wire.Version, MemoryBytes: 64 << 20, ResultBytes: 1 << 20, FrameBytes: 1 << 20}

func TestServeAnswersInOrderUntilItsInputEnds(t *testing.T) {
	p, hello := serve(t, testSetup)
	if diff := cmp.Diff(wire.Hello{Version: wire.Version, Confinement: []string{"a test"}}, hello); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The second takes long enough for the next to be read ahead.
	slow := raw("let n = 0; while (n < 3e5) n++; return n")
	slow.Timeout = time.Minute // under the race detector, on a busy machine
	for _, step := range []struct {
		req  *wire.Request
		want string
	}{{raw("return 1"), "1"}, {slow, "300000"}, {raw("return 2"), "2"}} {
		p.send(step.req)
		var resp wire.Response
		p.receive(&resp)
		if diff := cmp.Diff(json.RawMessage(step.want), resp.Value); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", resp.Failure, diff)
		}
	}
	p.in.Close()
	if err := <-p.ended; err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestServeEndsDuringABodyWhenItsInputDoes(t *testing.T) {
	p, _ := serve(t, testSetup)
	req := raw("for(;;);")
	req.Timeout = time.Second // so that the test's own process gets rid of it
	p.send(req)
	p.in.Close()
	// Nobody reads the answer yet, so a Serve that waited for it would not end.
	if err := <-p.ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	p.receive(new(wire.Response)) // the loop still answers here; a process would be gone
}

func TestServeRefusesAnotherVersion(t *testing.T) {
	setup := testSetup
	setup.Version++
	p, hello := serve(t, setup)
	if hello.Version != wire.Version {
		t.Errorf("hello is of version %d", hello.Version)
	}
	if err := <-p.ended; err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("ended with %v", err)
	}
}
