//go:build unix

package transcript

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bir-run/bir/conformance/wire"
	"github.com/bir-run/bir/relay/relaytest"
)

const callLine = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}` + "\n"

func TestTheServersStatusIsTheProxys(t *testing.T) {
	for _, code := range []byte{0, 3, 255} {
		w := wire.Proxied(t)
		w.Do(wire.DoExit, code)
		if got := w.Status(); got != int(code) {
			t.Errorf("status %d, want %d", got, code)
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP} {
		w := wire.Proxied(t)
		w.Do(wire.DoDie, byte(sig))
		if got := w.Status(); got != 128+int(sig) {
			t.Errorf("died of %v: status %d", sig, got)
		}
	}
}

func TestALateAnswerReachesAHostThatClosedItsEnd(t *testing.T) {
	w := wire.Proxied(t)
	w.HostSays(callLine, len(callLine))
	w.In.Close()
	wire.Await(t, "the end of the upstream's input", w.InputEnd)
	w.Do(wire.DoWrite, []byte(`{"jsonrpc":"2.0","id":1,"result":{"late":true}}`+"\n")...)
	w.Do(wire.DoExit, 6)
	if got := w.HostGets(); got != `{"jsonrpc":"2.0","id":1,"result":{"late":true}}`+"\n" {
		t.Errorf("the host got %q", got)
	}
	if got := w.Status(); got != 6 {
		t.Errorf("status %d", got)
	}
}

func TestASignalReachesTheServerAndStartsTheShutdown(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		w := wire.Proxied(t)
		w.HostSays(callLine, len(callLine))
		_ = w.Cmd.Process.Signal(sig)
		if got := wire.Await(t, "the signal", w.Signals); got != sig.String() {
			t.Errorf("the server got %s for %v", got, sig)
		}
		wire.Await(t, "the end of the upstream's input", w.InputEnd)
		w.Do(wire.DoWrite, []byte("answer\n")...)
		w.Do(wire.DoExit, 5)
		if got := w.HostGets(); got != "answer\n" {
			t.Errorf("the host got %q", got)
		}
		if got := w.Status(); got != 5 {
			t.Errorf("status %d", got)
		}
	}
}

func TestTheSameSignalAgainKillsAtOnce(t *testing.T) {
	w := wire.Proxied(t)
	_ = w.Cmd.Process.Signal(syscall.SIGINT)
	wire.Await(t, "the signal", w.Signals)
	_ = w.Cmd.Process.Signal(syscall.SIGINT)
	if got := w.Status(); got != 137 {
		t.Errorf("status %d", got)
	}
	wire.Gone(t, w.PID)
}

func TestAServerThatDoesNotEndIsKilledInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as a shutdown may")
	}
	t.Parallel()                                               // it waits most of the time
	relaytest.Within(t, 10*time.Second, func() time.Duration { // R11
		w := wire.Proxied(t)
		began := time.Now()
		w.In.Close()
		if got := wire.Await(t, "the signal", w.Signals); got != syscall.SIGTERM.String() {
			t.Errorf("first signal %s", got)
		}
		if got := w.Status(); got != 137 {
			t.Errorf("status %d", got)
		}
		took := time.Since(began)
		wire.Gone(t, w.PID)
		return took
	})
}

func TestAServerThatEndsOwesNoAnswer(t *testing.T) {
	w := wire.Proxied(t)
	ask := callLine + `{"jsonrpc":"2.0","id":"l","method":"resources/list"}` + "\n" + `{"jsonrpc":"2.0","id":"d","method":"server/discover"}` + "\n"
	w.HostSays(ask, len(ask))
	w.Do(wire.DoExit, 3)
	want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"MCP server \"fleet\" is not available"}],"isError":true}}` + "\n" +
		`{"jsonrpc":"2.0","id":"l","error":{"code":-32603,"message":"MCP server \"fleet\" is not available"}}` + "\n"
	if got := w.HostGets(); got != want {
		t.Errorf("the host got %q", got)
	}
	if got := w.Status(); got != 3 {
		t.Errorf("status %d", got)
	}
}

func TestAGrandchildDoesNotOutliveTheServer(t *testing.T) {
	w := wire.Proxied(t)
	w.Do(wire.DoGrandchild)
	grandchild := wire.Await(t, "the grandchild", w.Children)
	w.Do(wire.DoExit, 0)
	if got := w.Status(); got != 0 {
		t.Errorf("status %d", got)
	}
	wire.Gone(t, grandchild)
}

func TestKillingTheProxyLeavesNobody(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the end of standard input must do")
	}
	w := wire.Proxied(t)
	w.Do(wire.DoGrandchild)
	grandchild := wire.Await(t, "the grandchild", w.Children)
	_ = w.Cmd.Process.Kill()
	<-w.Exited
	wire.Gone(t, w.PID)
	wire.Gone(t, grandchild)
}

func TestAHostThatStopsReadingEndsTheServer(t *testing.T) {
	w := wire.Proxied(t)
	w.Out.Close()
	w.Do(wire.DoWrite, []byte("{}\n")...)
	wire.Await(t, "the end of the upstream's input", w.InputEnd)
	w.Do(wire.DoExit, 4)
	if got := w.Status(); got != 4 {
		t.Errorf("status %d", got)
	}
}

func TestAServerThatClosesItsOutputIsEnded(t *testing.T) {
	w := wire.Proxied(t)
	w.Do(wire.DoCloseOut)
	wire.Await(t, "the end of the upstream's input", w.InputEnd)
	w.Do(wire.DoExit, 0)
	if got := w.Status(); got != 0 {
		t.Errorf("status %d", got)
	}
}

func TestStandardErrorIsPrefixedAndStandardOutputIsNot(t *testing.T) {
	w := wire.Proxied(t)
	w.Do(wire.DoComplain, []byte("one\ntwo\n")...)
	w.Stderr.Await(t, "the complaint", func(got []byte, _ bool) bool {
		return strings.Contains(string(got), "[fleet] one\n[fleet] two\n")
	})
	w.Do(wire.DoExit, 0)
	if got := w.HostGets(); got != "" {
		t.Errorf("the host got %q", got)
	}
}

func TestACommandThatIsNotThere(t *testing.T) {
	binary := wire.Proxy(t)
	cmd := exec.Command(binary, "--", "no-such-command-anywhere")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize"}` + "\n")
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	_ = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != 127 {
		t.Errorf("status %d", got)
	}
	if strings.Count(errOut.String(), "\n") != 1 || !strings.Contains(errOut.String(), "no-such-command-anywhere") {
		t.Errorf("standard error: %q", errOut.String())
	}
	if !strings.HasPrefix(out.String(), `{"jsonrpc":"2.0","id":0,"error"`) {
		t.Errorf("standard output: %q", out.String())
	}
}

func TestTheHostsPipesAreGivenBackAsTheyWere(t *testing.T) {
	binary := wire.Proxy(t)
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "--no-record", "--", "sh", "-c", "echo ready; read x")
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	if !nonblocking(t, theirOut) {
		t.Error("the proxy does not poll its output, so this test shows nothing")
	}
	in.Close()
	_ = cmd.Wait()
	if nonblocking(t, theirIn) || nonblocking(t, theirOut) {
		t.Error("a pipe of the host was left non-blocking")
	}
}

// nonblocking asks without File.Fd, which would itself change the answer.
func nonblocking(t *testing.T, f *os.File) bool {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var flags int
	if err := raw.Control(func(fd uintptr) { flags, err = unix.FcntlInt(fd, unix.F_GETFL, 0) }); err != nil {
		t.Fatal(err)
	}
	return flags&unix.O_NONBLOCK != 0
}
