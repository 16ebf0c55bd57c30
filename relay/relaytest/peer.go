// Package relaytest has a scripted host, a scripted upstream and a recorder that
// remembers, for tests in one process. A test says what each side writes and waits
// for what the other side reads; nothing happens by itself.
package relaytest

import (
	"bufio"
	"io"
	"sync"
	"testing"
	"time"
)

// Patience is how long a test waits for something that must come. It is for machines
// that are busy with much else: a test that waits so long has failed.
const Patience = 2 * time.Minute

// Nobody is the address of a server that is not there. A port that was free once may be
// another program's by now; nobody but root can listen on this one.
const Nobody = "http://127.0.0.1:1"

// peer is one scripted end of a wire.
type peer struct {
	t     testing.TB
	out   *io.PipeWriter // what the test says
	heard chan string    // lines said to the test, their ends included
}

// newPeer returns a peer and the other end of its wire.
func newPeer(t testing.TB) (peer, *io.PipeReader, *io.PipeWriter) {
	theirIn, out := io.Pipe()
	in, theirOut := io.Pipe()
	p := peer{t: t, out: out, heard: make(chan string, 4096)}
	// Ends when the other end is closed, which the cleanup makes sure of.
	go p.listen(in)
	t.Cleanup(func() { out.Close(); theirOut.Close(); in.Close() })
	return p, theirIn, theirOut
}

func (p peer) listen(in io.Reader) {
	defer close(p.heard)
	lines := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			p.heard <- line
		}
		if err != nil {
			return
		}
	}
}

// Say writes text as it is.
func (p peer) Say(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.out, text); err != nil {
		p.t.Fatalf("say %.60q: %v", text, err)
	}
}

// Hear waits for the next line, and returns it with its end.
func (p peer) Hear() string {
	p.t.Helper()
	select {
	case line, ok := <-p.heard:
		if !ok {
			p.t.Fatal("the other side has ended")
		}
		return line
	case <-time.After(Patience):
		p.t.Fatal("nothing was said in time")
	}
	return ""
}

// HearEnd waits until the other side ends, and fails if it says something first.
func (p peer) HearEnd() {
	p.t.Helper()
	select {
	case line, ok := <-p.heard:
		if ok {
			p.t.Fatalf("said %q instead of ending", line)
		}
	case <-time.After(Patience):
		p.t.Fatal("the other side did not end in time")
	}
}

// End ends what this side says.
func (p peer) End() { p.out.Close() }

// Host is a scripted MCP client.
type Host struct {
	peer
	In  io.ReadCloser // for the relay to read
	Out io.Writer     // for the relay to write
}

// NewHost makes a host.
func NewHost(t testing.TB) *Host {
	p, in, out := newPeer(t)
	return &Host{peer: p, In: in, Out: out}
}

// Upstream is a scripted server. It is a relay.Upstream and a call.Upstream; the
// test says what it writes.
type Upstream struct {
	peer
	in      *io.PipeReader
	out     *io.PipeWriter
	stopped sync.Once
	// OnStop is called at the first Stop; nil ends what the server says, as a server
	// does whose input has ended.
	OnStop func()
}

// NewUpstream makes an upstream.
func NewUpstream(t testing.TB) *Upstream {
	p, in, out := newPeer(t)
	return &Upstream{peer: p, in: in, out: out}
}

// Read reads what the server said.
func (u *Upstream) Read(b []byte) (int, error) { return u.in.Read(b) }

// Write says something to the server.
func (u *Upstream) Write(b []byte) (int, error) { return u.out.Write(b) }

// CloseWrite ends the server's input.
func (u *Upstream) CloseWrite() error { return u.out.Close() }

// Stop ends the server's input, and the server.
func (u *Upstream) Stop() {
	u.stopped.Do(func() {
		u.out.Close()
		if u.OnStop != nil {
			u.OnStop()
		} else {
			u.End()
		}
	})
}
