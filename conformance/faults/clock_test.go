//go:build unix

package faults

import (
	"syscall"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/wire"
)

// pauseTime is longer than any wait inside the proxy that a jump could confuse: it
// looks at its switch each half second, and collects reports for some milliseconds.
const pauseTime = 1500 * time.Millisecond

// TestClocksThatJumpLoseNothing stops the proxy, as a machine that sleeps does: for
// the proxy every clock jumps, with calls in flight, between two of them, and while
// one half of a line has come.
func TestClocksThatJumpLoseNothing(t *testing.T) {
	t.Parallel() // it waits most of the time
	s := begin(t, wire.Options{})
	s.turn(1)
	s.sleep()
	s.turn(2)
	s.asks(call(3))
	s.sleep()
	s.answers(result(3))
	half := len(call(4)) / 2
	s.asks(call(4)[:half])
	s.sleep()
	s.asks(call(4)[half:])
	s.answers(result(4))
	s.finish()
	if n := s.recorded("answer", 1, 4); n != 4 {
		t.Errorf("%d of 4 answers are recorded", n)
	}
}

// sleep stops the proxy for a while. Time is what this is about, so it is waited for.
func (s *session) sleep() {
	s.Helper()
	signal(s.T, s.Cmd.Process.Pid, syscall.SIGSTOP)
	<-time.After(pauseTime)
	signal(s.T, s.Cmd.Process.Pid, syscall.SIGCONT)
}
