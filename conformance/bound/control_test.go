//go:build unix

package bound

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/wire"
	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/locate"
)

const (
	roleVar = "BIR_BOUND_ROLE"
	token   = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	key     = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		serve(role == "call-ids")
		return
	}
	os.Exit(wire.Run(m))
}

// told is one request, as the control server says it on its standard output.
type told struct {
	Path string          `json:"path"`
	Body json.RawMessage `json:"body"`
}

// serve is the control server. What it reads on its standard input it answers polls
// with.
func serve(callIDs bool) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	work := make(chan string)
	go func() {
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			work <- lines.Text()
		}
		os.Exit(0) // the test has ended
	}()
	var saying sync.Mutex
	say := func(v any) {
		text, _ := json.Marshal(v)
		saying.Lock()
		defer saying.Unlock()
		fmt.Printf("%s\n", text)
	}
	say(told{Path: "http://" + l.Addr().String()})
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		say(told{r.URL.Path, body})
		switch r.URL.Path {
		case client.PathRegister:
			fmt.Fprintf(w, `{"version":"test","callIds":%v,"fingerprintKey":%q}`, callIDs, key)
		case client.PathPoll:
			select {
			case text := <-work:
				_, _ = io.WriteString(w, text)
			case <-r.Context().Done():
			case <-time.After(20 * time.Second):
			}
		}
	}))
}

// control is a running control server.
type control struct {
	*testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	told chan told
	file locate.File
}

// home is a BIR_HOME, and the root that the proxy finds itself in.
type home struct{ dir, root string }

func newHome(t *testing.T) home {
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	h := home{t.TempDir(), locate.Root(cwd)}
	if err := os.MkdirAll(locate.Dir(h.dir), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// write puts a file into the home.
func (h home) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (h home) install(t *testing.T) {
	root, _ := json.Marshal(h.root)
	h.write(t, filepath.Join(h.dir, "installed.json"), `{"version":1,"projects":{`+string(root)+`:{}}}`)
}

// spooled is what was left to be sent to the service.
func (h home) spooled(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.dir, "spool", "*", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// start starts a control server that nobody knows of yet.
func start(t *testing.T, role string) *control {
	t.Helper()
	c := &control{T: t, cmd: exec.Command(os.Args[0]), told: make(chan told, 4096)}
	c.cmd.Env = append(os.Environ(), roleVar+"="+role)
	c.cmd.Stderr = os.Stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	go func() { // ends with the process
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var one told
			if json.Unmarshal(lines.Bytes(), &one) == nil {
				c.told <- one
			}
		}
	}()
	hello := wire.Await(t, "the control server", c.told)
	c.file = locate.File{URL: hello.Path, Token: token, PID: c.cmd.Process.Pid}
	return c
}

// announce writes the discovery file.
func (c *control) announce(h home) {
	c.Helper()
	c.file.Root = h.root
	text, err := json.Marshal(c.file)
	if err != nil {
		c.Fatal(err)
	}
	path := locate.Path(h.dir, h.root)
	h.write(c.T, path+".new", string(text))
	if err := os.Rename(path+".new", path); err != nil {
		c.Fatal(err)
	}
}

// kill ends it as kill -9 does. It is called again at the end.
func (c *control) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// next waits for a request to a route, and decodes it.
func next[T any](c *control, path string) T {
	c.Helper()
	for {
		one := wire.Await(c.T, "a request to "+path, c.told)
		if one.Path != path {
			continue
		}
		var v T
		if err := json.Unmarshal(one.Body, &v); err != nil {
			c.Fatal(err)
		}
		return v
	}
}

// drain returns what it was told that nobody has looked at.
func (c *control) drain() string {
	var all strings.Builder
	for len(c.told) > 0 {
		all.Write((<-c.told).Body)
	}
	return all.String()
}

// dispatch answers the next poll with a call.
func (c *control) dispatch(d client.Dispatch) {
	c.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		c.Fatal(err)
	}
	if _, err := fmt.Fprintf(c.in, "%s\n", text); err != nil {
		c.Fatal(err)
	}
}
