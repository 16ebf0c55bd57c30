package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/control/client/locate"
)

// Variables of the fake bir-control.
const (
	startsVar   = "FAKE_STARTS"   // where it notes how it was started
	announceVar = "FAKE_ANNOUNCE" // the discovery file that it writes
	hangVar     = "FAKE_HANG"     // a socket: it does not end before the connection does
)

// TestMain lets the test binary be bir-hooks, or the bir-control beside it, by the name
// under which it is started.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "bir-hooks": // this machine may be busy
		runAfter(time.Minute)
	case "bir-late": // with half a second left, for most events
		runAfter(-4 * time.Second)
	case "bir-fatal":
		endBySignal()
		go panic("nobody recovers this")
		select {}
	case "bir-control":
		os.Exit(fakeControl())
	}
	os.Exit(m.Run())
}

// runAfter is main, whose time counts from another moment than now.
func runAfter(d time.Duration) {
	version = "v2"
	h := process()
	h.began, h.startWait = h.began.Add(d), time.Minute
	run(h)
}

func fakeControl() int {
	notes, err := os.OpenFile(os.Getenv(startsVar), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	fmt.Fprintln(notes, strings.Join(os.Args[1:], " "))
	notes.Close()
	if text := os.Getenv(announceVar); text != "" {
		path := locate.Path(os.Getenv("BIR_HOME"), os.Args[2])
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil || os.WriteFile(path, []byte(text), 0o600) != nil {
			return 1
		}
	}
	if path := os.Getenv(hangVar); path != "" {
		c, err := net.Dial("unix", path)
		if err != nil {
			return 1
		}
		io.Copy(io.Discard, c)
	}
	return 0
}

// bed is where a test's bir-hooks lives: its folder, its home, its project.
type bed struct {
	t                   *testing.T
	dir, home, project  string
	socketDir, startLog string

	mu     sync.Mutex // guards posted
	posted []string   // event paths, in the order they came
}

func newBed(t *testing.T) *bed {
	t.Helper()
	socketDir, err := os.MkdirTemp("", "hook") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(socketDir) })
	base := real(t.TempDir())
	b := &bed{t: t, dir: filepath.Join(base, "bin"), home: filepath.Join(base, "home"), project: filepath.Join(base, "project"),
		socketDir: socketDir, startLog: filepath.Join(base, "starts")}
	for _, dir := range []string{b.dir, locate.Dir(b.home), b.project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.install("bir-hooks")
	return b
}

// install puts this test binary into the bed's folder under another name.
func (b *bed) install(name string) {
	b.t.Helper()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	own, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	if os.Link(own, filepath.Join(b.dir, name)) == nil {
		return
	}
	text, err := os.ReadFile(own) // on another volume
	if err == nil {
		err = os.WriteFile(filepath.Join(b.dir, name), text, 0o700)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// serve starts a control server that answers every event so, and returns what its
// discovery file would say.
func (b *bed) serve(answer http.HandlerFunc) locate.File {
	b.t.Helper()
	path := filepath.Join(b.socketDir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		b.t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.posted = append(b.posted, r.URL.Path)
		b.mu.Unlock()
		answer(w, r)
	})}}
	server.Start()
	b.t.Cleanup(server.Close)
	return locate.File{URL: "http://127.0.0.1:1", Socket: path, Token: "secret", PID: os.Getpid(), Version: "v2", Root: b.project}
}

func (b *bed) paths() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.posted...)
}

// announce writes the discovery file.
func (b *bed) announce(file locate.File) {
	b.t.Helper()
	b.write(locate.Path(b.home, b.project), encode(b.t, file), 0o600)
}

func encode(t *testing.T, file locate.File) string {
	t.Helper()
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (b *bed) write(path, text string, mode os.FileMode) {
	b.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		b.t.Fatal(err)
	}
}

// starts are the command lines of the bir-controls that were started.
func (b *bed) starts() []string {
	text, _ := os.ReadFile(b.startLog)
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

func (b *bed) command(event string, vars ...string) *exec.Cmd {
	var args []string
	if event != "" {
		args = []string{event}
	}
	cmd := exec.Command(filepath.Join(b.dir, "bir-hooks"), args...)
	cmd.Env = append([]string{
		"BIR_HOME=" + b.home, "CLAUDE_PROJECT_DIR=" + b.project, "HOME=" + b.home,
		"SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), startsVar + "=" + b.startLog,
		"GORACE=atexit_sleep_ms=0", // or each process would take a second more
	}, vars...)
	return cmd
}

// run runs bir-hooks as a host does, and fails the test where it would fail the host.
func (b *bed) run(event, payload string, vars ...string) (stdout string) {
	b.t.Helper()
	cmd := b.command(event, vars...)
	cmd.Stdin = strings.NewReader(payload)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil || complaint.Len() > 0 {
		b.t.Fatalf("the host saw: %v, %q", err, complaint.String())
	}
	return out.String()
}

func saying(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, text)
	}
}

// TestHomeIsTheOneOfPackageEnv holds the reading here against package env.
func TestHomeIsTheOneOfPackageEnv(t *testing.T) {
	for _, value := range []string{"", "~", "~/x", "/a/../b", "rel/ative"} {
		e, err := env.Read([]string{"BIR_HOME=" + value})
		if got := home(value); got != e.Home || err != nil {
			t.Errorf("%q: home %q, package env says %q, %v", value, got, e.Home, err)
		}
	}
}
