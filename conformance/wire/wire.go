//go:build unix

package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bir-run/bir/relay/relaytest"
)

// Patience is how long a test waits for something that must come. It is for machines
// that are busy with much else: a test that waits so long has failed.
const Patience = 2 * time.Minute

// programs is a folder with the programs, made once for each process.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "bir-wire-*")
	if err != nil {
		return "", err
	}
	for name, pkg := range map[string]string{"bir-proxy": "cmd/bir-proxy", "agent": "conformance/wire/agent"} {
		out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), "github.com/bir-run/bir/"+pkg).CombinedOutput()
		if err != nil {
			os.RemoveAll(dir)
			return "", errors.New(string(out))
		}
	}
	return dir, nil
})

// Run runs the tests of a package that uses this one, and cleans up.
func Run(m *testing.M) int {
	relaytest.HeedSignals()
	code := m.Run()
	if dir, err := programs(); err == nil {
		os.RemoveAll(dir)
	}
	return code
}

// Proxy is the path of bir-proxy, freshly built.
func Proxy(t testing.TB) string { return program(t, "bir-proxy") }

// GoServer is the path of the official Go SDK's server, which speaks every revision.
func GoServer(t testing.TB) string {
	t.Helper()
	path, err := goServer()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// goServer is built for those who ask for it.
var goServer = sync.OnceValues(func() (string, error) {
	dir, err := programs()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "go-server")
	out, err := exec.Command("go", "build", "-o", path, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

func program(t testing.TB, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// Wire is a running upstream, with or without a proxy before it, and both ends of
// the conversation.
type Wire struct {
	*testing.T
	Cmd      *exec.Cmd
	In       *os.File // the host's pen
	Out      *os.File // the host's ear
	Home     string   // the proxy's BIR_HOME
	agent    net.Conn
	listener *net.TCPListener
	deaf     bool
	PID      int // of the upstream
	Stderr   *Growing
	Host     *Growing // what the host got
	Upstream *Growing // what the upstream got
	Signals  chan string
	InputEnd chan struct{}
	Children chan int
	Exited   chan struct{}
}

// Growing is a buffer that can be waited for.
type Growing struct {
	mu    sync.Mutex
	bytes []byte
	ended bool
	news  chan struct{}
}

func newGrowing() *Growing { return &Growing{news: make(chan struct{}, 1)} }

func (g *Growing) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bytes = append(g.bytes, b...)
	g.poke()
	return len(b), nil
}

func (g *Growing) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	g.poke()
}

func (g *Growing) poke() {
	select {
	case g.news <- struct{}{}:
	default:
	}
}

// Await waits until enough holds of what has arrived.
func (g *Growing) Await(t *testing.T, what string, enough func(got []byte, ended bool) bool) []byte {
	t.Helper()
	deadline := time.After(Patience)
	for {
		got, ok := g.look(enough)
		if ok {
			return got
		}
		select {
		case <-g.news:
		case <-deadline:
			t.Fatalf("%s did not come: %d bytes so far, the last %q", what, len(got), got[max(0, len(got)-200):])
		}
	}
}

// look returns what there is, and whether it is enough. What is there is never written
// to again, so that no copy is made of it.
func (g *Growing) look(enough func(got []byte, ended bool) bool) (got []byte, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	got = g.bytes[:len(g.bytes):len(g.bytes)]
	return got, enough(got, g.ended)
}

// Options say how the proxy is started.
type Options struct {
	Flags  []string
	Env    []string
	Prefix []string // a command that runs the rest, such as one that sets a limit
	// Deaf keeps the host from reading until Listen, and Lazy from waiting for the
	// upstream until Accept.
	Deaf, Lazy bool
}

// Direct starts the upstream as a host would, Proxied puts the proxy before it.
func Direct(t *testing.T) *Wire { return open(t, nil, Options{}) }

// Proxied starts the proxy with flags.
func Proxied(t *testing.T, flags ...string) *Wire { return Start(t, Options{Flags: flags}) }

// Start starts the proxy, with the upstream behind it.
func Start(t *testing.T, o Options) *Wire {
	wrapper := append(slices.Clone(o.Prefix), Proxy(t), "--server-name", "fleet")
	return open(t, append(append(wrapper, o.Flags...), "--"), o)
}

func open(t *testing.T, wrapper []string, o Options) *Wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	argv := append(wrapper, program(t, "agent"), listener.Addr().String())
	w := &Wire{T: t, Cmd: exec.Command(argv[0], argv[1:]...), Stderr: newGrowing(), Host: newGrowing(), Exited: make(chan struct{}),
		Home: t.TempDir(), listener: listener.(*net.TCPListener), deaf: o.Deaf}
	// Nothing listens on port 9: what is recorded stays in this folder.
	w.Cmd.Env = append(w.Cmd.Environ(), "BIR_HOME="+w.Home, "BIR_AUTH_URL=http://127.0.0.1:9")
	w.Cmd.Env = append(w.Cmd.Env, o.Env...)
	w.start()
	if !o.Lazy {
		w.Accept()
	}
	return w
}

// Accept waits for the upstream, or, when one has ended, for another after it.
func (w *Wire) Accept() {
	w.Helper()
	if err := w.listener.SetDeadline(time.Now().Add(Patience)); err != nil {
		w.Fatal(err)
	}
	agent, err := w.listener.Accept()
	if err != nil {
		w.Fatalf("the upstream did not start: %v", err)
	}
	if w.agent != nil {
		w.agent.Close()
	}
	hello, err := ReadFrame(agent)
	if err != nil {
		w.Fatal(err)
	}
	w.agent, w.Upstream, w.InputEnd = agent, newGrowing(), make(chan struct{})
	w.Signals, w.Children = make(chan string, 16), make(chan int, 4)
	w.PID, _ = strconv.Atoi(string(hello.Payload))
	go watch(agent, w.Upstream, w.InputEnd, w.Signals, w.Children) // ends with the agent
}

func (w *Wire) start() {
	w.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	w.Cmd.Stdin, w.Cmd.Stdout, w.Cmd.Stderr = inR, outW, w.Stderr
	w.Cmd.WaitDelay = Patience // for the end of standard error, which its last holder brings
	if err := w.Cmd.Start(); err != nil {
		w.Fatal(err)
	}
	inR.Close()
	outW.Close()
	w.In, w.Out = inW, outR
	if !w.deaf {
		w.Listen()
	}
	go func() { _ = w.Cmd.Wait(); close(w.Exited) }() // ends with the process
	w.Cleanup(w.clean)
}

// Listen begins to read for the host.
func (w *Wire) Listen() {
	go func() { // ends with the last process that holds the pipe
		_, _ = io.Copy(w.Host, w.Out)
		w.Host.end()
	}()
}

func (w *Wire) clean() {
	w.listener.Close()
	_ = w.Cmd.Process.Kill()
	<-w.Exited
	if w.PID != 0 {
		_ = syscall.Kill(w.PID, syscall.SIGKILL)
	}
	if w.agent != nil {
		w.agent.Close()
	}
	w.In.Close()
	w.Out.Close()
}

func watch(agent net.Conn, input *Growing, inputEnd chan<- struct{}, signals chan<- string, children chan<- int) {
	for {
		f, err := ReadFrame(agent)
		if err != nil {
			input.end()
			return
		}
		switch f.Kind {
		case ToldInput:
			_, _ = input.Write(f.Payload)
		case ToldEnd:
			close(inputEnd)
		case ToldSignal:
			signals <- string(f.Payload)
		case ToldGrandchild:
			pid, _ := strconv.Atoi(string(f.Payload))
			children <- pid
		}
	}
}

// Do tells the upstream what to do.
func (w *Wire) Do(kind byte, payload ...byte) {
	w.Helper()
	if err := WriteFrame(w.agent, Frame{kind, payload}); err != nil {
		w.Fatal(err)
	}
}

// HostSays writes for the host, and waits until n bytes have reached the upstream.
func (w *Wire) HostSays(text string, n int) {
	w.Helper()
	if _, err := io.WriteString(w.In, text); err != nil {
		w.Fatal(err)
	}
	w.Upstream.Await(w.T, "the host's text", func(got []byte, _ bool) bool { return len(got) >= n })
}

// UpstreamSays writes for the upstream, and waits until n bytes have reached the host.
func (w *Wire) UpstreamSays(text string, n int) {
	w.Helper()
	w.Do(DoWrite, []byte(text)...)
	w.Host.Await(w.T, "the upstream's text", func(got []byte, _ bool) bool { return len(got) >= n })
}

// HostGets waits for the end of what the host gets, and returns all of it.
func (w *Wire) HostGets() string {
	w.Helper()
	return string(w.Host.Await(w.T, "the end of the upstream's output", func(_ []byte, ended bool) bool { return ended }))
}

// Status waits for the end of the process that the host started.
func (w *Wire) Status() int {
	w.Helper()
	select {
	case <-w.Exited:
	case <-time.After(Patience):
		w.Fatal("the process did not end")
	}
	ws := w.Cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// Await waits for a value, or for a channel to be closed.
func Await[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(Patience):
		t.Fatalf("%s did not come", what)
	}
	panic("unreachable")
}

// Gone waits until a process has ended; one that waits to be reaped has.
func Gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(Patience)
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
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.Contains(stat, []byte(") Z "))
}
