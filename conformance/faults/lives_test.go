//go:build unix

package faults

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/wire"
	"github.com/bir-run/bir/control/off"
)

func TestARestartedServerGoesOnWithTheConversation(t *testing.T) {
	s := begin(t, wire.Options{Flags: []string{"--restart"}})
	s.asks(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"x":1.0}}` + "\n")
	s.answers(`{"jsonrpc":"2.0","id":0,"result":{}}` + "\n")
	s.asks(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	s.asks(call(1))
	old := s.PID
	s.Do(wire.DoExit, 3)
	s.Accept()
	s.toHost += unavailable(1)
	handshake := `{"jsonrpc":"2.0","id":"bir:restart","method":"initialize","params":{"x":1.0}}` + "\n"
	s.Upstream.Await(t, "the handshake", func(got []byte, _ bool) bool { return string(got) == handshake })
	s.Do(wire.DoWrite, []byte(`{"jsonrpc":"2.0","id":"bir:restart","result":{}}`+"\n")...)
	s.toUpstream = handshake + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	s.turn(2)
	wire.Gone(t, old)
	s.asks(call(3))
	s.Do(wire.DoExit, 4) // only once
	s.toHost += unavailable(3)
	s.ended(4)
	if n := s.recorded("call", 1, 3); n != 3 {
		t.Errorf("%d of 3 calls are recorded", n)
	}
}

func TestAProxyThatStaysUpAnswersUntilTheHostLeaves(t *testing.T) {
	s := begin(t, wire.Options{Env: []string{"BIR_PROXY_STAY_UP=1"}})
	s.turn(1)
	s.Do(wire.DoExit, 3)
	for n := 2; n < 5; n++ {
		if _, err := s.In.WriteString(call(n)); err != nil {
			t.Fatal(err)
		}
		s.toHost += unavailable(n)
		s.Host.Await(t, "the answer", func(got []byte, _ bool) bool { return len(got) >= len(s.toHost) })
	}
	s.In.Close()
	s.ended(3)
}

func TestALazyServerIsStartedByTheFirstWord(t *testing.T) {
	s := begin(t, wire.Options{Flags: []string{"--lazy"}, Lazy: true})
	if _, err := s.In.WriteString(call(1)); err != nil {
		t.Fatal(err)
	}
	s.toUpstream = call(1)
	s.Accept()
	s.answers(result(1))
	s.turn(2)
	s.finish()
}

func TestALazyServerNobodySpeaksToIsNeverStarted(t *testing.T) {
	s := begin(t, wire.Options{Flags: []string{"--lazy"}, Lazy: true})
	s.In.Close()
	if got := s.Status(); got != 0 {
		t.Errorf("status %d", got)
	}
	if text := s.HostGets(); text != "" {
		t.Errorf("the host got %q", text)
	}
}

func TestSwitchedOffTheProxyIsTheServer(t *testing.T) {
	home := t.TempDir()
	if _, err := off.Set(home, "", true); err != nil {
		t.Fatal(err)
	}
	for _, env := range [][]string{{"BIR_OFF=1"}, {"BIR_HOME=" + home}} {
		s := begin(t, wire.Options{Env: env})
		if s.PID != s.Cmd.Process.Pid {
			t.Errorf("the server is process %d and the proxy was %d", s.PID, s.Cmd.Process.Pid)
		}
		s.turn(1)
		s.Do(wire.DoExit, 5)
		s.ended(5)
		if n := s.recorded("call", 1, 1); n != 0 {
			t.Error("the call was recorded")
		}
	}
}

func TestSwitchedOffMidwayTheProxyRelaysAndDoesNotRecord(t *testing.T) {
	t.Parallel() // it waits most of the time
	s := begin(t, wire.Options{})
	s.turn(1)
	// The switch is looked at once more when the answer is noted, behind the host's back.
	s.awaitRecorded("answer", 1)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	throw := func(thrown bool) {
		if _, err := off.Set(s.Home, filepath.Dir(dir), thrown); err != nil {
			t.Fatal(err)
		}
		// The switch is looked at when there is a call, and is to be heeded within a second.
		for n, until := 50, time.Now().Add(time.Second); time.Now().Before(until); n++ {
			s.turn(n)
		}
	}
	throw(true)
	s.turn(2)
	throw(false)
	s.turn(3)
	s.finish()
	for n, want := range map[int]int{1: 1, 2: 0, 3: 1} {
		if got := s.recorded("call", n, n); got != want {
			t.Errorf("call %d: recorded %d times", n, got)
		}
	}
}

func TestACommandThatIsNotThereIsReportedLikeOne(t *testing.T) {
	s := begin(t, wire.Options{Prefix: nil, Flags: []string{"--", "no-such-command-anywhere"}, Lazy: true})
	if _, err := s.In.WriteString(strings.Replace(call(1), "tools/call", "initialize", 1)); err != nil {
		t.Fatal(err)
	}
	if got := s.Status(); got != 127 {
		t.Errorf("status %d", got)
	}
	if got := s.HostGets(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603`) {
		t.Errorf("the host got %q", got)
	}
}
