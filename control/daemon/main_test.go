//go:build unix

package daemon

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/discover"
	"github.com/bir-run/bir/recorder/recordertest"
)

// The variables that turn the test binary into a control server, and say which.
const (
	serveEnv   = "BIR_TEST_SERVE"
	versionEnv = "BIR_TEST_VERSION"
	failEnv    = "BIR_TEST_FAIL"

	patience = recordertest.Patience
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(failEnv) != "":
		fmt.Fprintln(os.Stderr, "the disk is full")
		os.Exit(3)
	case os.Getenv(serveEnv) != "":
		os.Exit(serveAsChild())
	}
	goleak.VerifyTestMain(recordertest.Settle(m))
}

// serveAsChild is bir-control with a book that writes down what it is told.
func serveAsChild() int {
	root := flag.String("root", "", "")
	replace := flag.Bool("replace", false, "")
	flag.Parse()
	home := os.Getenv("BIR_HOME")
	err := Run(context.Background(), Config{
		Home: home, Root: *root, Version: os.Getenv(versionEnv), Replace: *replace,
		Open:   func(key string) (Book, error) { return openNotes(home, *root, key) },
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	switch {
	case errors.Is(err, ErrRunning):
		return 4
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// notes is a book: one line for each event, and for each opening and closing of it.
type notes struct {
	file *os.File
	root string
}

func openNotes(home, root, key string) (*notes, error) {
	f, err := os.OpenFile(discover.Journal(home, root), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	n := &notes{f, root}
	n.write("open " + strconv.Itoa(os.Getpid()) + " " + key)
	return n, nil
}

func (n *notes) write(line string) {
	if _, err := n.file.WriteString(line + "\n"); err != nil {
		panic(err)
	}
}

func (n *notes) Hook(_ context.Context, _ string, payload []byte) []byte {
	if string(payload) == "die" {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	n.write("event " + string(payload))
	return payload
}

func (n *notes) Register(client.Register) client.Registered { return client.Registered{} }
func (n *notes) Step(client.StepReport) error               { return nil }
func (n *notes) Idle(time.Time) bool                        { return false }
func (n *notes) Health() (int, []client.OpenRun, []client.Proxy, []client.Seen) {
	return 0, nil, nil, nil
}
func (n *notes) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (n *notes) Close(context.Context) error {
	n.write("close " + strconv.Itoa(os.Getpid()))
	return n.file.Close()
}

// project is a root in a home of its own. What runs for it is stopped with the test.
type project struct {
	*testing.T
	Starter
}

func newProject(t *testing.T) *project {
	t.Helper()
	home, err := os.MkdirTemp("", "bir") // a test's own would make the socket's path too long
	if err != nil {
		t.Fatal(err)
	}
	p := &project{T: t, Starter: Starter{Home: home, Root: t.TempDir(), Version: "v1.0.0", Command: []string{os.Args[0]}, Timeout: patience}}
	p.Environ = append(os.Environ(), serveEnv+"=1", versionEnv+"=v1.0.0", "GORACE=atexit_sleep_ms=0")
	t.Cleanup(func() {
		if _, err := Stop(context.Background(), home, p.Root, false); err != nil {
			t.Error(err)
		}
		os.RemoveAll(home)
	})
	return p
}

// as is the starter of another version.
func (p *project) as(version string) Starter {
	s := p.Starter
	s.Version, s.Environ = version, append(s.Environ[:len(s.Environ):len(s.Environ)], versionEnv+"="+version)
	return s
}

// ensure starts a server that must come to be.
func (p *project) ensure(s Starter, want Outcome) locate.File {
	p.Helper()
	file, outcome, err := s.Ensure(p.Context())
	if err != nil || outcome != want {
		log, _ := os.ReadFile(discover.LogPath(p.Home, p.Root))
		p.Fatalf("%s, %v, want %s\n%s", outcome, err, want, log)
	}
	return file
}

// lines are what the books have written, those with a prefix.
func (p *project) lines(prefix string) (found []string) {
	p.Helper()
	text, err := os.ReadFile(discover.Journal(p.Home, p.Root))
	if err != nil {
		p.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), prefix+" "); ok {
			found = append(found, rest)
		}
	}
	return found
}

// hook posts an event as a hook does: it finds the server anew, and dials once.
func (p *project) hook(payload string, overTCP bool) (string, error) {
	file, err := locate.Read(p.Home, p.Root)
	if err != nil {
		return "", err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	if file.Socket != "" && !overTCP {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", file.Socket)
		}
	}
	req, err := http.NewRequest(http.MethodPost, file.URL+"/tool/post", bytes.NewReader([]byte(payload)))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+file.Token)
	res, err := (&http.Client{Transport: transport, Timeout: patience}).Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", res.StatusCode)
	}
	return string(answer), err
}

// left are the files of the project that are still there, by their suffixes.
func (p *project) left() (found []string) {
	p.Helper()
	paths, err := filepath.Glob(filepath.Join(locate.Dir(p.Home), locate.Key(p.Root)+"*"))
	if err != nil {
		p.Fatal(err)
	}
	for _, path := range paths {
		found = append(found, strings.TrimPrefix(filepath.Base(path), locate.Key(p.Root)))
	}
	return found
}
