//go:build unix

package transcript

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const callLine = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}` + "\n"

func TestTheServersStatusIsTheProxys(t *testing.T) {
	for _, code := range []byte{0, 3, 255} {
		w := proxied(t)
		w.do(doExit, code)
		if got := w.status(); got != int(code) {
			t.Errorf("status %d, want %d", got, code)
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP} {
		w := proxied(t)
		w.do(doDie, byte(sig))
		if got := w.status(); got != 128+int(sig) {
			t.Errorf("died of %v: status %d", sig, got)
		}
	}
}

func TestALateAnswerReachesAHostThatClosedItsEnd(t *testing.T) {
	w := proxied(t)
	w.hostSays(callLine, len(callLine))
	w.in.Close()
	await(t, "the end of the upstream's input", w.inputEnd)
	w.do(doWrite, []byte(`{"jsonrpc":"2.0","id":1,"result":{"late":true}}`+"\n")...)
	w.do(doExit, 6)
	if got := w.hostGets(); got != `{"jsonrpc":"2.0","id":1,"result":{"late":true}}`+"\n" {
		t.Errorf("the host got %q", got)
	}
	if got := w.status(); got != 6 {
		t.Errorf("status %d", got)
	}
}

func TestASignalReachesTheServerAndStartsTheShutdown(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		w := proxied(t)
		w.hostSays(callLine, len(callLine))
		_ = w.cmd.Process.Signal(sig)
		if got := await(t, "the signal", w.signals); got != sig.String() {
			t.Errorf("the server got %s for %v", got, sig)
		}
		await(t, "the end of the upstream's input", w.inputEnd)
		w.do(doWrite, []byte("answer\n")...)
		w.do(doExit, 5)
		if got := w.hostGets(); got != "answer\n" {
			t.Errorf("the host got %q", got)
		}
		if got := w.status(); got != 5 {
			t.Errorf("status %d", got)
		}
	}
}

func TestTheSameSignalAgainKillsAtOnce(t *testing.T) {
	w := proxied(t)
	_ = w.cmd.Process.Signal(syscall.SIGINT)
	await(t, "the signal", w.signals)
	_ = w.cmd.Process.Signal(syscall.SIGINT)
	if got := w.status(); got != 137 {
		t.Errorf("status %d", got)
	}
	gone(t, w.pid)
}

func TestAServerThatDoesNotEndIsKilledInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as a shutdown may")
	}
	w := proxied(t)
	begun := time.Now()
	w.in.Close()
	if got := await(t, "the signal", w.signals); got != syscall.SIGTERM.String() {
		t.Errorf("first signal %s", got)
	}
	if got := w.status(); got != 137 {
		t.Errorf("status %d", got)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	gone(t, w.pid)
}

func TestAServerThatEndsOwesNoAnswer(t *testing.T) {
	w := proxied(t)
	ask := callLine + `{"jsonrpc":"2.0","id":"l","method":"resources/list"}` + "\n" + `{"jsonrpc":"2.0","id":"d","method":"server/discover"}` + "\n"
	w.hostSays(ask, len(ask))
	w.do(doExit, 3)
	want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"MCP server \"fleet\" is not available"}],"isError":true}}` + "\n" +
		`{"jsonrpc":"2.0","id":"l","error":{"code":-32603,"message":"MCP server \"fleet\" is not available"}}` + "\n"
	if got := w.hostGets(); got != want {
		t.Errorf("the host got %q", got)
	}
	if got := w.status(); got != 3 {
		t.Errorf("status %d", got)
	}
}

func TestAGrandchildDoesNotOutliveTheServer(t *testing.T) {
	w := proxied(t)
	w.do(doGrandchild)
	grandchild := await(t, "the grandchild", w.children)
	w.do(doExit, 0)
	if got := w.status(); got != 0 {
		t.Errorf("status %d", got)
	}
	gone(t, grandchild)
}

func TestKillingTheProxyLeavesNobody(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the end of standard input must do")
	}
	w := proxied(t)
	w.do(doGrandchild)
	grandchild := await(t, "the grandchild", w.children)
	_ = w.cmd.Process.Kill()
	<-w.exited
	gone(t, w.pid)
	gone(t, grandchild)
}

func TestAHostThatStopsReadingEndsTheServer(t *testing.T) {
	w := proxied(t)
	w.out.Close()
	w.do(doWrite, []byte("{}\n")...)
	await(t, "the end of the upstream's input", w.inputEnd)
	w.do(doExit, 4)
	if got := w.status(); got != 4 {
		t.Errorf("status %d", got)
	}
}

func TestAServerThatClosesItsOutputIsEnded(t *testing.T) {
	w := proxied(t)
	w.do(doCloseOut)
	await(t, "the end of the upstream's input", w.inputEnd)
	w.do(doExit, 0)
	if got := w.status(); got != 0 {
		t.Errorf("status %d", got)
	}
}

func TestStandardErrorIsPrefixedAndStandardOutputIsNot(t *testing.T) {
	w := proxied(t)
	w.do(doComplain, []byte("one\ntwo\n")...)
	w.stderr.await(t, "the complaint", func(got []byte, _ bool) bool {
		return strings.Contains(string(got), "[fleet] one\n[fleet] two\n")
	})
	w.do(doExit, 0)
	if got := w.hostGets(); got != "" {
		t.Errorf("the host got %q", got)
	}
}

func TestACommandThatIsNotThere(t *testing.T) {
	binary, err := proxyBinary()
	if err != nil {
		t.Fatal(err)
	}
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
	binary, err := proxyBinary()
	if err != nil {
		t.Fatal(err)
	}
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

// gone waits until a process has ended; one that waits to be reaped has.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if syscall.Kill(pid, 0) != nil || isZombie(pid) {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("process %d still runs", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func isZombie(pid int) bool {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	defer f.Close()
	stat, _ := io.ReadAll(f)
	return strings.Contains(string(stat), ") Z ")
}
