//go:build unix

package stdio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bir-run/bir/relay/relaytest"
)

func TestMain(m *testing.M) {
	relaytest.HeedSignals()
	goleak.VerifyTestMain(relaytest.Settle(m))
}

// shell starts a shell script as the server.
func shell(t *testing.T, script string, change func(*Config)) *Process {
	t.Helper()
	cfg := Config{Command: []string{"sh", "-c", script}, Name: "fleet"}
	if change != nil {
		change(&cfg)
	}
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(); p.Close() })
	return p
}

func TestTheChildIsReadAndWritten(t *testing.T) {
	p := shell(t, "cat", nil)
	if _, err := p.Write([]byte("a\nb")); err != nil {
		t.Fatal(err)
	}
	p.CloseWrite()
	got, err := io.ReadAll(p)
	if string(got) != "a\nb" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestTheChildsStatusIsItsOwn(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 3": 3, "kill -TERM $$": 143, "kill -KILL $$": 137} {
		p := shell(t, script, nil)
		<-p.Exited()
		if p.Status() != want {
			t.Errorf("%s: status %d, want %d", script, p.Status(), want)
		}
	}
}

func TestOutputWrittenBeforeTheEndIsRead(t *testing.T) {
	p := shell(t, "printf last", nil)
	<-p.Exited()
	if got, err := io.ReadAll(p); string(got) != "last" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

// TestOutputWrittenBeforeTheEndIsReadHoweverLate has a machine that is so busy that the
// time for what is left has passed before it is read.
func TestOutputWrittenBeforeTheEndIsReadHoweverLate(t *testing.T) {
	p := shell(t, "printf last", nil)
	<-p.Exited()
	if err := p.out.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Skip("no deadlines here")
	}
	if got, err := io.ReadAll(p); string(got) != "last" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

// TestOneWhoWritesForEverDoesNotHoldTheEnd reads late what a process that left the group
// goes on to write.
func TestOneWhoWritesForEverDoesNotHoldTheEnd(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip("no setsid here")
	}
	p := shell(t, setsid+` sh -c 'echo $$; exec yes' & read gone`, nil)
	pid := readPID(t, p)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	p.CloseWrite()
	<-p.Exited()
	if got, err := io.Copy(io.Discard, p); err != nil {
		t.Errorf("%d bytes, %v", got, err)
	}
}

func TestStandardErrorIsPrefixedByLine(t *testing.T) {
	var mu sync.Mutex
	var out bytes.Buffer
	p := shell(t, `printf 'one\ntwo' >&2`, func(c *Config) { c.Stderr = locked{&mu, &out} })
	<-p.Exited()
	mu.Lock()
	defer mu.Unlock()
	if got, want := out.String(), "[fleet] one\n[fleet] two\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func TestAChildThatHeedsItsInputsEndIsNotSignalled(t *testing.T) {
	p := shell(t, `trap 'exit 9' TERM; while read line; do :; done; exit 4`, nil)
	p.Stop()
	if p.Status() != 4 {
		t.Errorf("status %d", p.Status())
	}
}

func TestASignalReachesTheWholeGroup(t *testing.T) {
	p := shell(t, `trap 'exit 7' INT; sleep 600 & echo ready; wait`, nil)
	readLine(t, p)
	p.Signal(syscall.SIGINT)
	<-p.Exited()
	if p.Status() != 7 {
		t.Errorf("status %d", p.Status())
	}
}

func TestAGrandchildDoesNotSurviveTheChild(t *testing.T) {
	p := shell(t, `sleep 600 >/dev/null 2>&1 </dev/null & echo $!`, nil)
	grandchild := readPID(t, p)
	<-p.Exited()
	if p.Status() != 0 {
		t.Errorf("status %d", p.Status())
	}
	gone(t, grandchild)
}

func TestAProcessThatLeftTheGroupDoesNotHoldTheEnd(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip("no setsid here")
	}
	p := shell(t, setsid+` sleep 600 & echo $!`, nil)
	pid := readPID(t, p)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	<-p.Exited()
	if _, err := io.ReadAll(p); err != nil {
		t.Errorf("read to the end: %v", err)
	}
}

func TestEndingTheContextKillsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, Config{Command: []string{"sh", "-c", `trap '' TERM INT; echo ready; while :; do sleep 600; done`}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	readLine(t, p)
	cancel()
	<-p.Exited()
	if p.Status() != 137 {
		t.Errorf("status %d", p.Status())
	}
}

func TestACommandThatIsNotThereIsAnError(t *testing.T) {
	_, err := Start(t.Context(), Config{Command: []string{"no-such-command-anywhere"}})
	if !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := Start(t.Context(), Config{}); err == nil {
		t.Error("no command was started")
	}
	if _, err := Start(t.Context(), Config{Command: []string{"sh"}, Dir: "/no/such/folder"}); err == nil {
		t.Error("started in a folder that is not there")
	}
}

func readLine(t *testing.T, p *Process) string {
	t.Helper()
	var line []byte
	one := make([]byte, 1)
	for {
		if _, err := p.Read(one); err != nil {
			t.Fatal(err)
		}
		if one[0] == '\n' {
			return string(line)
		}
		line = append(line, one[0])
	}
}

func readPID(t *testing.T, p *Process) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(readLine(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// gone waits until no process has this pid, or only one that nobody has reaped.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(relaytest.Patience)
	for time.Now().Before(deadline) {
		if err := syscall.Kill(pid, 0); err != nil {
			return
		}
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && bytes.Contains(stat, []byte(") Z ")) {
			return
		}
	}
	t.Errorf("process %d still runs", pid)
}
