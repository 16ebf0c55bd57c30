//go:build unix

package faults

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/wire"
	"github.com/bir-run/bir/relay/relaytest"
)

// maxEnd bounds a shutdown (R11).
const maxEnd = 10 * time.Second

// TestWithoutTheMeansToRecordTheConversationIsTheSame takes away what recording
// needs, one thing at a time.
func TestWithoutTheMeansToRecordTheConversationIsTheSame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	silent := listen(t)
	for name, o := range map[string]wire.Options{
		"no home to write to":          {Env: []string{"BIR_HOME=" + filepath.Join(file, "home")}},
		"a full disk":                  {Prefix: limited("-f 0")},
		"a disk that fills up":         {Prefix: limited("-f 8")},
		"18 descriptors":               {Prefix: limited("-n 18")},
		"20 descriptors":               {Prefix: limited("-n 20")},
		"64 descriptors":               {Prefix: limited("-n 64")},
		"a service that is dead":       {Env: []string{"BIR_AUTH_URL=http://127.0.0.1:9"}},
		"a service that never answers": {Env: []string{"BIR_AUTH_URL=http://" + silent}},
		"no embedded service to start": {Env: []string{"BIR_AUTH_URL=", "PATH=/nonexistent"}},
		"values that are not allowed":  {Env: []string{"BIR_OFF=maybe", "BIR_UPSTREAM_HEADERS={", "BIR_UPSTREAM_MAX_MESSAGE_BYTES=-1", "BIR_CORRELATION=guess"}},
		"no home at all":               {Env: []string{"BIR_HOME=", "HOME="}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			relaytest.Within(t, maxEnd, func() time.Duration {
				s := begin(t, o)
				for n := range 300 { // more than the queue holds
					s.turn(n)
				}
				began := time.Now()
				s.finish()
				return time.Since(began)
			})
			if _, err := os.Stat("spool"); err == nil {
				t.Error("something was recorded into the working folder")
			}
		})
	}
}

// listen makes a listener that accepts and never says anything.
func listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String() // the kernel accepts
}

// TestALongSessionHoldsWhatAShortOneDoes looks for what grows with the calls.
func TestALongSessionHoldsWhatAShortOneDoes(t *testing.T) {
	s := begin(t, wire.Options{})
	for n := range 50 {
		s.turn(n)
	}
	before, peak := s.descriptors(), s.peakMiB()
	for n := range 3000 {
		s.turn(50 + n)
	}
	if after := s.descriptors(); after > before+2 {
		t.Errorf("%d descriptors, and %d at the start", after, before)
	}
	if grown := s.peakMiB() - peak; grown > 8 {
		t.Errorf("%d MiB more than at the start", grown)
	}
	s.finish()
	if n := s.recorded("answer", 0, 3049); n != 3050 {
		t.Errorf("%d of 3050 answers are recorded", n)
	}
}

// TestAServiceThatDiesInTheMiddleLosesNothing lets the service go while calls are
// made: what it did not take waits on disk.
func TestAServiceThatDiesInTheMiddleLosesNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close() // in the middle of the request
		}
	}()
	s := begin(t, wire.Options{Env: []string{"BIR_AUTH_URL=http://" + l.Addr().String()}})
	for n := range 100 {
		s.turn(n)
	}
	l.Close()
	for n := range 100 {
		s.turn(100 + n)
	}
	s.finish()
	if n := s.recorded("answer", 0, 199); n != 200 {
		t.Errorf("%d of 200 answers are recorded", n)
	}
}
