//go:build unix

package transcript

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

const patience = 20 * time.Second

var buildDir = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "transcript-*")
	if err != nil {
		panic(err)
	}
	return dir
})

// proxyBinary builds bir-proxy once.
var proxyBinary = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(buildDir(), "bir-proxy")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/bir-run/bir/cmd/bir-proxy").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return binary, nil
})

// wire is a running upstream, with or without a proxy before it, and both ends of
// the conversation.
type wire struct {
	*testing.T
	cmd      *exec.Cmd
	in       *os.File // the host's pen
	out      *os.File // the host's ear
	agent    net.Conn
	pid      int // of the upstream
	stderr   *growing
	host     *growing // what the host got
	upstream *growing // what the upstream got
	signals  chan string
	inputEnd chan struct{}
	children chan int
	exited   chan struct{}
}

// growing is a buffer that can be waited for.
type growing struct {
	mu    sync.Mutex
	bytes []byte
	ended bool
	news  chan struct{}
}

func newGrowing() *growing { return &growing{news: make(chan struct{}, 1)} }

func (g *growing) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bytes = append(g.bytes, b...)
	g.poke()
	return len(b), nil
}

func (g *growing) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	g.poke()
}

func (g *growing) poke() {
	select {
	case g.news <- struct{}{}:
	default:
	}
}

// await waits until enough holds of what has arrived.
func (g *growing) await(t *testing.T, what string, enough func(got []byte, ended bool) bool) []byte {
	t.Helper()
	deadline := time.After(patience)
	for {
		g.mu.Lock()
		got, ended := bytes.Clone(g.bytes), g.ended
		g.mu.Unlock()
		if enough(got, ended) {
			return got
		}
		select {
		case <-g.news:
		case <-deadline:
			t.Fatalf("%s did not come: %d bytes so far, the last %q", what, len(got), got[max(0, len(got)-200):])
		}
	}
}

// direct starts the upstream as a host would, proxied puts the proxy before it.
func direct(t *testing.T) *wire { return open(t, nil) }

func proxied(t *testing.T, flags ...string) *wire {
	binary, err := proxyBinary()
	if err != nil {
		t.Fatal(err)
	}
	return open(t, append(append([]string{binary, "--server-name", "fleet"}, flags...), "--"))
}

func open(t *testing.T, wrapper []string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	argv := append(wrapper, os.Args[0])
	w := &wire{T: t, cmd: exec.Command(argv[0], argv[1:]...), stderr: newGrowing(), host: newGrowing(), upstream: newGrowing(),
		signals: make(chan string, 16), inputEnd: make(chan struct{}), children: make(chan int, 4), exited: make(chan struct{})}
	// Nothing listens on port 9: what is recorded stays in this folder.
	w.cmd.Env = append(os.Environ(), agentVar+"="+listener.Addr().String(), "BIR_HOME="+t.TempDir(), "BIR_AUTH_URL=http://127.0.0.1:9")
	w.start()
	if err := listener.(*net.TCPListener).SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if w.agent, err = listener.Accept(); err != nil {
		t.Fatalf("the upstream did not start: %v", err)
	}
	hello, err := readFrame(w.agent)
	if err != nil {
		t.Fatal(err)
	}
	w.pid, _ = strconv.Atoi(string(hello.payload))
	go w.watch() // ends with the agent
	return w
}

func (w *wire) start() {
	w.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = inR, outW, w.stderr
	w.cmd.WaitDelay = time.Second
	if err := w.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	inR.Close()
	outW.Close()
	w.in, w.out = inW, outR
	go func() { // ends with the last process that holds the pipe
		_, _ = io.Copy(w.host, outR)
		w.host.end()
	}()
	go func() { _ = w.cmd.Wait(); close(w.exited) }() // ends with the process
	w.Cleanup(w.clean)
}

func (w *wire) clean() {
	_ = w.cmd.Process.Kill()
	<-w.exited
	if w.pid != 0 {
		_ = syscall.Kill(w.pid, syscall.SIGKILL)
	}
	if w.agent != nil {
		w.agent.Close()
	}
	w.in.Close()
	w.out.Close()
}

func (w *wire) watch() {
	for {
		f, err := readFrame(w.agent)
		if err != nil {
			w.upstream.end()
			return
		}
		switch f.kind {
		case toldInput:
			_, _ = w.upstream.Write(f.payload)
		case toldEnd:
			close(w.inputEnd)
		case toldSignal:
			w.signals <- string(f.payload)
		case toldGrandchild:
			pid, _ := strconv.Atoi(string(f.payload))
			w.children <- pid
		}
	}
}

// do tells the upstream what to do.
func (w *wire) do(kind byte, payload ...byte) {
	w.Helper()
	if err := writeFrame(w.agent, frame{kind, payload}); err != nil {
		w.Fatal(err)
	}
}

// hostSays writes for the host, and waits until n bytes have reached the upstream.
func (w *wire) hostSays(text string, n int) {
	w.Helper()
	if _, err := io.WriteString(w.in, text); err != nil {
		w.Fatal(err)
	}
	w.upstream.await(w.T, "the host's text", func(got []byte, _ bool) bool { return len(got) >= n })
}

// upstreamSays writes for the upstream, and waits until n bytes have reached the host.
func (w *wire) upstreamSays(text string, n int) {
	w.Helper()
	w.do(doWrite, []byte(text)...)
	w.host.await(w.T, "the upstream's text", func(got []byte, _ bool) bool { return len(got) >= n })
}

// hostGets waits for the end of what the host gets, and returns all of it.
func (w *wire) hostGets() string {
	w.Helper()
	return string(w.host.await(w.T, "the end of the upstream's output", func(_ []byte, ended bool) bool { return ended }))
}

// status waits for the end of the process that the host started.
func (w *wire) status() int {
	w.Helper()
	select {
	case <-w.exited:
	case <-time.After(patience):
		w.Fatal("the process did not end")
	}
	ws := w.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

func await[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
	}
	panic("unreachable")
}
