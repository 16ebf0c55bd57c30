package bench

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/built"
)

// target is a program that a host can start: the server, or something with the
// server behind it.
type target struct {
	name string
	role string   // of this test binary, where it is the program
	argv []string // what comes before the server's command
}

// targets are the server alone, the pump, and the proxy without and with recording.
func targets(b *testing.B) []target {
	b.Helper()
	dir, err := built.Dir()
	if err != nil {
		b.Fatal(err)
	}
	proxy := built.Path(dir, "bir-proxy")
	return []target{
		{name: "direct", role: roleServer},
		{name: "pump", role: rolePump, argv: []string{os.Args[0]}},
		{name: "relay", role: roleServer, argv: []string{proxy, "--no-record", "--"}},
		{name: "proxy", role: roleServer, argv: []string{proxy, "--"}},
	}
}

// session is one running target.
type session struct {
	b    *testing.B
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	id   int
	line []byte
}

// open starts the target and waits for the server's first line. What is recorded
// goes to the service of home.
func open(b *testing.B, t target, home string) *session {
	b.Helper()
	argv := append(t.argv[:len(t.argv):len(t.argv)], os.Args[0])
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), roleVar+"="+t.role, "BIR_HOME="+home)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	s := &session{b: b, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10)}
	s.read()
	return s
}

func (s *session) ask(size int) {
	s.id++
	s.line = appendAsk(s.line[:0], s.id, size)
	if _, err := s.in.Write(s.line); err != nil {
		s.b.Fatal(err)
	}
}

// read takes one line and returns its length.
func (s *session) read() (n int) {
	for {
		piece, err := s.out.ReadSlice('\n')
		n += len(piece)
		if err == nil {
			return n
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			s.b.Fatal(err)
		}
	}
}

// call makes one call and returns what it took.
func (s *session) call(size int) time.Duration {
	start := time.Now()
	s.ask(size)
	s.read()
	return time.Since(start)
}

// inFlight is how many calls are under way at once when the throughput is measured.
const inFlight = 16

// calls makes n of them and returns what they took.
func (s *session) calls(n, size int) time.Duration {
	start := time.Now()
	for i := range n + inFlight {
		if i >= inFlight {
			s.read()
		}
		if i < n {
			s.ask(size)
		}
	}
	return time.Since(start)
}

// check makes one call and compares every byte of the answer.
func (s *session) check(size int) {
	s.ask(size)
	want := appendAnswer(nil, s.id, size)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(s.out, got); err != nil {
		s.b.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		s.b.Fatalf("the answer of %d bytes came changed", size)
	}
}

// close ends the session and returns the CPU time of the program and of what it
// started.
func (s *session) close() time.Duration {
	s.b.Helper()
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		s.b.Fatal(err)
	}
	return s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
}

// service starts the service of a new home and stops it at the end.
func service(b *testing.B) (home string) {
	b.Helper()
	dir, err := built.Dir()
	if err != nil {
		b.Fatal(err)
	}
	home = b.TempDir()
	cmd := exec.Command(built.Path(dir, "bir"), "serve")
	cmd.Env = append(os.Environ(), "BIR_HOME="+home)
	log, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReader(log)
	if line, err := lines.ReadString('\n'); err != nil { // it says that it serves
		b.Fatalf("%q %v", line, err)
	}
	go io.Copy(io.Discard, lines) // ends with the service
	b.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return home
}
