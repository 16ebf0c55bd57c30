//go:build unix

package faults

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/wire"
)

func TestMain(m *testing.M) { os.Exit(wire.Run(m)) }

func call(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"n":"call-%d."}}}`+"\n", n, n)
}

func result(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"answer-%d."}]}}`+"\n", n, n)
}

func unavailable(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"MCP server \"fleet\" is not available"}],"isError":true}}`+"\n", n)
}

// session is a wire with a conversation on it.
type session struct {
	*wire.Wire
	toUpstream, toHost string
}

func begin(t *testing.T, o wire.Options) *session {
	t.Helper()
	return &session{Wire: wire.Start(t, o)}
}

// asks sends from the host and waits until the upstream has it.
func (s *session) asks(text string) {
	s.Helper()
	s.toUpstream += text
	s.HostSays(text, len(s.toUpstream))
}

// answers sends from the upstream and waits until the host has it.
func (s *session) answers(text string) {
	s.Helper()
	s.toHost += text
	s.UpstreamSays(text, len(s.toHost))
}

// finish ends the conversation in order, and holds that both sides got all of what
// the other said and that nobody stays.
func (s *session) finish() {
	s.Helper()
	s.In.Close()
	wire.Await(s.T, "the end of the upstream's input", s.InputEnd)
	s.Do(wire.DoExit, 0)
	s.ended(0)
}

func (s *session) ended(status int) {
	s.Helper()
	if got := s.HostGets(); got != s.toHost {
		s.Errorf("the host got %d bytes, not %d: %.200q", len(got), len(s.toHost), got)
	}
	if got := s.Status(); got != status {
		s.Errorf("status %d, want %d", got, status)
	}
	wire.Gone(s.T, s.PID)
	s.calm()
}

// calm holds that the proxy did not panic.
func (s *session) calm() {
	s.Helper()
	text := string(s.Stderr.Await(s.T, "standard error", func([]byte, bool) bool { return true }))
	for _, sign := range []string{"panic", "fatal error", "goroutine ", "recording stopped"} {
		if strings.Contains(text, sign) {
			s.Errorf("standard error has %q:\n%s", sign, text)
		}
	}
}

// recorded is how many of the marks are in what the proxy has left to be sent.
func (s *session) recorded(mark string, from, to int) (n int) {
	s.Helper()
	var all bytes.Buffer
	files, err := filepath.Glob(filepath.Join(s.Home, "spool", "*", "*.log"))
	if err != nil {
		s.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			s.Fatal(err)
		}
		all.Write(text)
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(mark+`-(\d+)\.`).FindAllSubmatch(all.Bytes(), -1) {
		seen[string(m[1])] = true
	}
	for i := from; i <= to; i++ {
		if seen[strconv.Itoa(i)] {
			n++
		}
	}
	return n
}

// awaitRecorded waits until a mark is in what the proxy has left to be sent.
func (s *session) awaitRecorded(mark string, i int) {
	s.Helper()
	for until := time.Now().Add(wire.Patience); s.recorded(mark, i, i) == 0; runtime.Gosched() {
		if time.Now().After(until) {
			s.Fatalf("%s-%d is not recorded", mark, i)
		}
	}
}

// turn is one call and its answer.
func (s *session) turn(n int) {
	s.Helper()
	s.asks(call(n))
	s.answers(result(n))
}

// flood has the upstream write a text n times, as fast as it can.
func (s *session) flood(n int, text string) {
	s.Helper()
	count := binary.BigEndian.AppendUint32(nil, uint32(n))
	s.Do(wire.DoRepeat, append(count, text...)...)
}

// peakMiB is the most memory that the proxy has had resident.
func (s *session) peakMiB() int {
	s.Helper()
	if runtime.GOOS != "linux" {
		return 0 // not measured elsewhere
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(s.Cmd.Process.Pid) + "/status")
	if err != nil {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				s.Fatal(err)
			}
			return kib >> 10
		}
	}
	s.Fatal("no peak in " + string(text))
	return 0
}

// descriptors is how many the proxy holds.
func (s *session) descriptors() int {
	files, err := os.ReadDir("/proc/" + strconv.Itoa(s.Cmd.Process.Pid) + "/fd")
	if err != nil {
		s.Skip("no /proc here")
	}
	return len(files)
}

// limited runs the proxy under a limit of the shell's ulimit.
func limited(limit string) []string {
	return []string{"sh", "-c", "ulimit " + limit + ` && exec "$@"`, "sh"}
}

func signal(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}
