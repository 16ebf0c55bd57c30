//go:build unix

package faults

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"github.com/bir-run/bir/conformance/wire"
)

// deaths are who ends, and how; the host's end is that of both its pipes.
var deaths = map[string]func(s *session, grandchild int){
	"host by EOF":         func(s *session, _ int) { s.In.Close() },
	"host gone":           func(s *session, _ int) { s.In.Close(); s.Out.Close() },
	"proxy by TERM":       func(s *session, _ int) { signal(s.T, s.Cmd.Process.Pid, syscall.SIGTERM) },
	"proxy by KILL":       func(s *session, _ int) { signal(s.T, s.Cmd.Process.Pid, syscall.SIGKILL) },
	"server by exit":      func(s *session, _ int) { s.Do(wire.DoExit, 3) },
	"server by TERM":      func(s *session, _ int) { s.Do(wire.DoDie, byte(syscall.SIGTERM)) },
	"server by KILL":      func(s *session, _ int) { signal(s.T, s.PID, syscall.SIGKILL) },
	"grandchild by KILL":  func(s *session, grandchild int) { signal(s.T, grandchild, syscall.SIGKILL) },
	"server's output end": func(s *session, _ int) { s.Do(wire.DoCloseOut) },
}

// TestNobodyOutlivesAnyDeath lets each die, with a call in flight, and then whoever is
// left by the host's end. The server and its child ignore what they can ignore.
func TestNobodyOutlivesAnyDeath(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a server whose proxy is killed must heed the end of its input")
	}
	for name, die := range deaths {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits most of the time
			s := begin(t, wire.Options{})
			s.Do(wire.DoGrandchild)
			grandchild := wire.Await(t, "the grandchild", s.Children)
			s.asks(call(1))
			die(s, grandchild)
			s.In.Close()
			s.Status()
			wire.Gone(t, s.PID)
			wire.Gone(t, grandchild)
			s.calm()
		})
	}
}

// TestTwoDeathsInEitherOrder kills two at once, in both orders.
func TestTwoDeathsInEitherOrder(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere a server whose proxy is killed must heed the end of its input")
	}
	pids := map[string]func(s *session, grandchild int) int{
		"proxy":      func(s *session, _ int) int { return s.Cmd.Process.Pid },
		"server":     func(s *session, _ int) int { return s.PID },
		"grandchild": func(_ *session, grandchild int) int { return grandchild },
	}
	for first := range pids {
		for second := range pids {
			if first == second {
				continue
			}
			t.Run(fmt.Sprintf("%s then %s", first, second), func(t *testing.T) {
				t.Parallel()
				s := begin(t, wire.Options{})
				s.Do(wire.DoGrandchild)
				grandchild := wire.Await(t, "the grandchild", s.Children)
				a, b := pids[first](s, grandchild), pids[second](s, grandchild)
				signal(t, a, syscall.SIGKILL)
				_ = syscall.Kill(b, syscall.SIGKILL) // the first may have taken it along
				s.In.Close()
				s.Status()
				wire.Gone(t, s.PID)
				wire.Gone(t, grandchild)
			})
		}
	}
}

func TestAServerThatDiesMidCallIsAFailedToolAndItsStatusTheProxys(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGHUP, syscall.SIGTERM} {
		s := begin(t, wire.Options{})
		s.turn(1)
		s.asks(call(2) + call(3))
		s.answers(result(2))
		s.Do(wire.DoDie, byte(sig))
		s.toHost += unavailable(3)
		s.ended(128 + int(sig))
		if n := s.recorded("answer", 1, 2); n != 2 {
			t.Errorf("%d of 2 answers are recorded", n)
		}
		if n := s.recorded("call", 3, 3); n != 1 {
			t.Error("the call without an answer is not recorded")
		}
	}
}

func TestAHostThatLeavesWithCallsInFlightStillGetsTheirAnswers(t *testing.T) {
	s := begin(t, wire.Options{})
	s.asks(call(1) + call(2) + call(3))
	s.In.Close()
	wire.Await(t, "the end of the upstream's input", s.InputEnd)
	s.answers(result(2))
	s.answers(result(1))
	s.Do(wire.DoExit, 0)
	s.ended(0)
	if n := s.recorded("answer", 1, 3); n != 2 {
		t.Errorf("%d answers are recorded, want 2", n)
	}
	if n := s.recorded("call", 1, 3); n != 3 {
		t.Errorf("%d of 3 calls are recorded", n)
	}
}

func TestAServerThatNeverAnswersIsStillEnded(t *testing.T) {
	s := begin(t, wire.Options{})
	s.asks(call(1))
	s.finish()
	if n := s.recorded("call", 1, 1); n != 1 {
		t.Error("the call without an answer is not recorded")
	}
}
