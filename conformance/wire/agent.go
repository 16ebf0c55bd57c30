//go:build unix

package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The environment that makes this test binary something else.
const (
	agentVar      = "TRANSCRIPT_AGENT" // address of the test: be the upstream
	grandchildVar = "TRANSCRIPT_GRANDCHILD"
)

// Main runs the tests of a package that uses this one, or, in a process that a test
// started, is the upstream or its child.
func Main(m *testing.M) {
	switch {
	case os.Getenv(grandchildVar) != "":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		time.Sleep(time.Hour) // only SIGKILL ends it
	case os.Getenv(agentVar) != "":
		runAgent(os.Getenv(agentVar))
	default:
		code := m.Run()
		removeBinary()
		os.Exit(code)
	}
}

// What the upstream is told.
const (
	DoWrite      = 'o' // payload to standard output
	DoComplain   = 'r' // payload to standard error
	DoExit       = 'x' // with the code in the payload
	DoDie        = 'k' // of the signal in the payload
	DoGrandchild = 'g' // start one that ignores every signal
	DoCloseOut   = 'c'
	DoRepeat     = 'm' // to standard output: a count of 4 bytes, and what is written as often
)

// What it tells.
const (
	toldHello      = 'h' // pid
	toldInput      = 'i' // bytes of standard input
	toldEnd        = 'e' // of standard input
	toldSignal     = 's'
	toldGrandchild = 'p' // pid
)

type frame struct {
	kind    byte
	payload []byte
}

func writeFrame(w io.Writer, f frame) error {
	head := make([]byte, 5, 5+len(f.payload))
	head[0] = f.kind
	binary.BigEndian.PutUint32(head[1:], uint32(len(f.payload)))
	_, err := w.Write(append(head, f.payload...))
	return err
}

func readFrame(r io.Reader) (frame, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return frame{}, err
	}
	f := frame{kind: head[0], payload: make([]byte, binary.BigEndian.Uint32(head[1:]))}
	_, err := io.ReadFull(r, f.payload)
	return f, err
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
			a.tell(toldSignal, []byte(sig.String()))
		}
	}()
	a.tell(toldHello, fmt.Append(nil, os.Getpid()))
	go a.listen() // ends with the process
	for {
		f, err := readFrame(conn)
		if err != nil {
			select {} // the test has ended; whoever owns us must end us
		}
		a.do(f)
	}
}

func (a *agent) tell(kind byte, payload []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = writeFrame(a.conn, frame{kind, payload})
}

func (a *agent) listen() {
	buf := make([]byte, 64<<10)
	for {
		n, err := os.Stdin.Read(buf)
		if n > 0 {
			a.tell(toldInput, buf[:n])
		}
		if err != nil {
			a.tell(toldEnd, nil)
			return
		}
	}
}

func (a *agent) do(f frame) {
	switch f.kind {
	case DoWrite:
		_, _ = os.Stdout.Write(f.payload)
	case DoComplain:
		_, _ = os.Stderr.Write(f.payload)
	case DoExit:
		os.Exit(int(f.payload[0]))
	case DoDie:
		signal.Reset()
		_ = syscall.Kill(os.Getpid(), syscall.Signal(f.payload[0]))
	case DoRepeat:
		text := bytes.Repeat(f.payload[4:], 1024)
		for left := int(binary.BigEndian.Uint32(f.payload)); left > 0; left -= 1024 {
			_, _ = os.Stdout.Write(text[:min(left, 1024)*len(f.payload[4:])])
		}
	case DoCloseOut:
		os.Stdout.Close()
	case DoGrandchild:
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), grandchildVar+"=1")
		child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := child.Start(); err == nil {
			a.tell(toldGrandchild, fmt.Append(nil, child.Process.Pid))
		}
	}
}
