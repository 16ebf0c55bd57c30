//go:build unix

package stage

import (
	"net"
	"testing"
	"time"
)

// Held is where calls of hold are waited for and let go.
type Held struct {
	testing.TB
	listener *net.TCPListener
	conn     net.Conn
}

// NewHeld listens for a held call.
func (p *Project) NewHeld() *Held {
	p.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.Fatal(err)
	}
	h := &Held{TB: p.TB, listener: l.(*net.TCPListener)}
	p.Cleanup(func() {
		l.Close()
		h.Release()
	})
	return h
}

// Address is what the call's argument says.
func (h *Held) Address() string { return h.listener.Addr().String() }

// Await waits until the call is at the server.
func (h *Held) Await() {
	h.Helper()
	_ = h.listener.SetDeadline(time.Now().Add(Patience))
	conn, err := h.listener.Accept()
	if err != nil {
		h.Fatalf("the call did not come: %v", err)
	}
	h.conn = conn
}

// Release lets the server answer.
func (h *Held) Release() {
	if h.conn != nil {
		_, _ = h.conn.Write([]byte("!")) // a server that was killed has no need of it
		h.conn.Close()
		h.conn = nil
	}
}
