//go:build unix

// Command agent is a server that does what a test tells it over a socket, and tells the
// test what reaches it. It speaks no protocol of its own.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/bir-run/bir/conformance/wire"
)

// grandchild, in the place of the test's address, makes the process a child of the
// server.
const grandchild = "grandchild"

func main() {
	address := os.Args[1]
	if address == grandchild {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		time.Sleep(time.Hour) // only SIGKILL ends it
		return
	}
	runAgent(address)
}

// agent is an upstream that does what it is told. It never ends by itself, neither
// at the end of its input nor at a signal.
type agent struct {
	mu   sync.Mutex // guards writes to conn
	conn net.Conn
}

func runAgent(address string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(99)
	}
	a := &agent{conn: conn}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() { // ends with the process
		for sig := range signals {
			a.tell(wire.ToldSignal, []byte(sig.String()))
		}
	}()
	a.tell(wire.ToldHello, fmt.Append(nil, os.Getpid()))
	go a.listen() // ends with the process
	for {
		f, err := wire.ReadFrame(conn)
		if err != nil {
			select {} // the test has ended; whoever owns us must end us
		}
		a.do(f)
	}
}

func (a *agent) tell(kind byte, payload []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = wire.WriteFrame(a.conn, wire.Frame{Kind: kind, Payload: payload})
}

func (a *agent) listen() {
	buf := make([]byte, 64<<10)
	for {
		n, err := os.Stdin.Read(buf)
		if n > 0 {
			a.tell(wire.ToldInput, buf[:n])
		}
		if err != nil {
			a.tell(wire.ToldEnd, nil)
			return
		}
	}
}

func (a *agent) do(f wire.Frame) {
	switch f.Kind {
	case wire.DoWrite:
		_, _ = os.Stdout.Write(f.Payload)
	case wire.DoComplain:
		_, _ = os.Stderr.Write(f.Payload)
	case wire.DoExit:
		os.Exit(int(f.Payload[0]))
	case wire.DoDie:
		signal.Reset()
		_ = syscall.Kill(os.Getpid(), syscall.Signal(f.Payload[0]))
	case wire.DoRepeat:
		text := bytes.Repeat(f.Payload[4:], 1024)
		for left := int(binary.BigEndian.Uint32(f.Payload)); left > 0; left -= 1024 {
			_, _ = os.Stdout.Write(text[:min(left, 1024)*len(f.Payload[4:])])
		}
	case wire.DoCloseOut:
		os.Stdout.Close()
	case wire.DoGrandchild:
		child := exec.Command(os.Args[0], grandchild)
		child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := child.Start(); err == nil {
			a.tell(wire.ToldGrandchild, fmt.Append(nil, child.Process.Pid))
		}
	}
}
