//go:build unix

package faults

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/wire"
)

// maxPeakMiB is what the proxy may have resident however much passes: what it keeps
// of a message is at most 8 MiB, which takes a buffer of twice that to read.
const maxPeakMiB = 72

func TestOddBytesOfTheServer(t *testing.T) {
	for name, odd := range map[string]func(s *session){
		"noise":                  func(s *session) { s.answers("Listening on stdio\n\x1b[1mwarn\x1b[0m\n\x00\xff\n") },
		"noise without an end":   func(s *session) { s.answers("Loading..."); s.answers("\n") },
		"half a line, then more": func(s *session) { s.answers(`{"jsonrpc":"2.0","method":"notific`); s.answers(`ations/x"}` + "\n") },
		"an answer twice":        func(s *session) { s.answers(result(1)) },
		"an answer to nothing":   func(s *session) { s.answers(result(99)) },
		"an answer under null": func(s *session) {
			s.answers(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}` + "\n")
		},
		"blank lines": func(s *session) { s.answers("\n\r\n \n") },
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, wire.Options{})
			s.turn(1)
			odd(s)
			s.turn(2)
			s.finish()
			if n := s.recorded("answer", 1, 2); n != 2 {
				t.Errorf("%d of 2 answers are recorded", n)
			}
		})
	}
}

func TestOneByteAtATime(t *testing.T) {
	s := begin(t, wire.Options{})
	for _, b := range []byte(call(1)) {
		s.asks(string(b))
	}
	for _, b := range []byte(result(1)) {
		s.answers(string(b))
	}
	s.finish()
	if n := s.recorded("answer", 1, 1); n != 1 {
		t.Error("the answer is not recorded")
	}
}

func TestALineOf64MiBTakesNoMoreMemoryThanASmallerOne(t *testing.T) {
	const size = 64 << 20
	s := begin(t, wire.Options{})
	s.asks(call(1))
	s.answers(`{"jsonrpc":"2.0","id":1,"result":"`)
	s.flood(size/16, "0123456789abcdef")
	s.Host.Await(t, "the line", func(got []byte, _ bool) bool { return len(got) >= len(s.toHost)+size })
	s.toHost += strings.Repeat("0123456789abcdef", size/16)
	s.answers(`"}` + "\n")
	s.turn(2)
	if peak := s.peakMiB(); peak > maxPeakMiB {
		t.Errorf("%d MiB at the peak", peak)
	}
	s.finish()
	if n := s.recorded("answer", 2, 2); n != 1 {
		t.Error("the answer after it is not recorded")
	}
}

func TestAnAnswerOverTheLimitEndsTheCall(t *testing.T) {
	const size = 200 << 20
	s := begin(t, wire.Options{Env: []string{"BIR_UPSTREAM_MAX_MESSAGE_BYTES=1048576"}})
	s.asks(call(1))
	s.Do(wire.DoWrite, []byte(`{"jsonrpc":"2.0","id":1,"result":"`)...)
	s.flood(size/16, "0123456789abcdef")
	s.Do(wire.DoWrite, []byte(`"}`+"\n")...)
	got := string(s.Host.Await(t, "the answer", func(got []byte, _ bool) bool { return strings.Count(string(got), "\n") == 2 }))
	lines := strings.SplitAfter(got, "\n")
	if len(lines[0]) != 1<<20+1 {
		t.Errorf("of the large answer %d bytes came", len(lines[0]))
	}
	if !strings.HasPrefix(lines[1], `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"The result was too large to deliver (209715`) {
		t.Errorf("the host got %q", lines[1])
	}
	if peak := s.peakMiB(); peak > maxPeakMiB {
		t.Errorf("%d MiB at the peak", peak)
	}
	s.toHost = got
	s.turn(2)
	s.finish()
}

func TestAHundredLargeAnswersTakeNoMoreMemoryThanOne(t *testing.T) {
	const count, size = 100, 2 << 20
	s := begin(t, wire.Options{})
	for n := range count {
		s.asks(call(n))
	}
	var toHost strings.Builder
	for n := range count {
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"`, n) + strings.Repeat("x", size) + `"}` + "\n"
		toHost.WriteString(answer)
		s.UpstreamSays(answer, toHost.Len())
	}
	s.toHost = toHost.String()
	if peak := s.peakMiB(); peak > maxPeakMiB {
		t.Errorf("%d MiB at the peak", peak)
	}
	s.finish()
}

// A side that does not read must stop the other: what waits is in the pipes, not in
// the proxy.
func TestAHostThatDoesNotReadStopsTheServer(t *testing.T) {
	const lines = 1 << 20 // 32 MiB
	line := `{"jsonrpc":"2.0","method":"flo"}` + "\n"
	s := begin(t, wire.Options{Deaf: true})
	s.asks(call(1))
	s.flood(lines, line)
	s.Do(wire.DoWrite, []byte(result(1))...)
	settle(t, s)
	if peak := s.peakMiB(); peak > 32 {
		t.Errorf("%d MiB at the peak while the host does not read", peak)
	}
	s.Listen()
	s.toHost = strings.Repeat(line, lines) + result(1)
	s.Host.Await(t, "all of it", func(got []byte, _ bool) bool { return len(got) >= len(s.toHost) })
	s.finish()
	if n := s.recorded("answer", 1, 1); n != 1 {
		t.Error("the answer behind it is not recorded")
	}
}

func TestAServerThatDoesNotReadStopsTheHost(t *testing.T) {
	const size = 32 << 20
	text := strings.Repeat(strings.Repeat("x", 1023)+"\n", size>>10)
	s := begin(t, wire.Options{})
	signal(t, s.PID, syscall.SIGSTOP)
	wrote := make(chan error, 1)
	go func() { _, err := io.WriteString(s.In, text); wrote <- err }() // ends when the server reads
	settle(t, s)
	select {
	case <-wrote:
		t.Error("the host could write everything")
	default:
	}
	if peak := s.peakMiB(); peak > 32 {
		t.Errorf("%d MiB at the peak while the server does not read", peak)
	}
	// The other direction does not wait for this one.
	signal(t, s.PID, syscall.SIGCONT)
	if err := <-wrote; err != nil {
		t.Error(err)
	}
	s.Upstream.Await(t, "all of it", func(got []byte, _ bool) bool { return len(got) >= size })
	s.toUpstream = text
	s.turn(1)
	s.finish()
}

// settle waits until the proxy has stopped taking memory, which is when the pipes are
// full. There is no event for that: its bytes are counted until they stand still.
func settle(t *testing.T, s *session) {
	t.Helper()
	last, same := -1, 0
	for deadline := time.Now().Add(wire.Patience); same < 20 && time.Now().Before(deadline); {
		now := moved(t, s.Cmd.Process.Pid)
		if now == last {
			same++
		} else {
			last, same = now, 0
		}
		<-time.After(10 * time.Millisecond)
	}
}
