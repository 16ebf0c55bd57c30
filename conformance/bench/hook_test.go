package bench

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/control/client/locate"
)

const (
	hookPayload = `{"session_id":"00000000-0000-4000-8000-000000000001","transcript_path":"/home/dev/.claude/x.jsonl",` +
		`"cwd":"/home/dev/fleet","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash",` +
		`"tool_input":{"command":"echo hi","description":"Say hi"},"tool_use_id":"toolu_000000000000000000000001"}`
	hookAnswer = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"echo hi"}}}`
	hookRounds = 200 // of one start of each program
)

// hookTarget is a program that a host could run at an event.
type hookTarget struct {
	name string
	argv []string
	env  []string
	want string // what it prints
}

// BenchmarkHook is the whole process of a hook, from its start to the end of its output
// and its end, against a Go program that only prints and one that only posts. One of
// each is started after the other, so that a bad moment of the machine hits them all.
// "away" is a hook where no control server runs.
func BenchmarkHook(b *testing.B) {
	targets := hookTargets(b)
	took := make([][]time.Duration, len(targets))
	for b.Loop() {
		for range hookRounds {
			for i, t := range targets {
				took[i] = append(took[i], t.run(b))
			}
		}
	}
	for _, times := range took {
		slices.Sort(times)
	}
	for i, t := range targets {
		n := len(took[i])
		p50, p99 := micros(took[i][n/2]), micros(took[i][n*99/100])
		b.ReportMetric(p50, t.name+":p50-µs")
		b.ReportMetric(p99, t.name+":p99-µs")
		if t.name != "hello" {
			b.ReportMetric(p50/micros(took[0][n/2]), t.name+"/hello:p50")
			b.ReportMetric(p50/micros(took[1][n/2]), t.name+"/post:p50")
		}
	}
	b.ReportMetric(0, "ns/op") // a round says nothing
}

// hookTargets are hello, post, and the hook over each way to a server that answers at
// once.
func hookTargets(b *testing.B) []hookTarget {
	b.Helper()
	bin, err := built.Dir()
	if err != nil {
		b.Fatal(err)
	}
	hook := []string{built.Path(bin, "bir-hooks"), "PreToolUse"}
	socket := filepath.Join(shortDir(b), "s")
	overSocket := locate.File{URL: "http://127.0.0.1:1", Socket: socket}
	serveHooks(b, "unix", socket)
	overTCP := locate.File{URL: "http://" + serveHooks(b, "tcp", "127.0.0.1:0")}
	return []hookTarget{
		{"hello", []string{compile(b, "hello")}, nil, "hello\n"},
		{"post", []string{compile(b, "post")}, []string{"BENCH_SOCKET=" + socket, "BENCH_TOKEN=secret"}, hookAnswer},
		{"hook", hook, project(b, &overSocket), hookAnswer},
		{"hook-tcp", hook, project(b, &overTCP), hookAnswer},
		{"away", hook, project(b, nil), ""},
	}
}

// run starts the program once, as a host does.
func (t hookTarget) run(b *testing.B) time.Duration {
	in, theirIn := pipe(b)
	theirOut, out := pipe(b)
	cmd := exec.Command(t.argv[0], t.argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout = t.env, in, out
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	in.Close()
	out.Close()
	io.WriteString(theirIn, hookPayload) // hello reads nothing, and may be gone
	theirIn.Close()
	said, err := io.ReadAll(theirOut)
	if err == nil {
		err = cmd.Wait()
	}
	took := time.Since(start)
	theirOut.Close()
	if err != nil || string(said) != t.want {
		b.Fatalf("%s: %v, printed %q", t.name, err, said)
	}
	return took
}

func pipe(b *testing.B) (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	return r, w
}

// compile builds one of the programs in testdata as the binaries are built.
func compile(b *testing.B, name string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./testdata/"+name)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("build %s: %v\n%s", name, err, text)
	}
	return path
}

// project is the environment of a hook in a new project, whose control server, if any,
// file describes.
func project(b *testing.B, file *locate.File) []string {
	b.Helper()
	home, root := b.TempDir(), locate.Root(b.TempDir())
	if file != nil {
		file.Token, file.PID, file.Version, file.Root = "secret", os.Getpid(), "dev", root
		text, err := json.Marshal(file)
		if err == nil {
			err = os.MkdirAll(locate.Dir(home), 0o700)
		}
		if err == nil {
			err = os.WriteFile(locate.Path(home, root), text, 0o600)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return []string{"BIR_HOME=" + home, "CLAUDE_PROJECT_DIR=" + root, "HOME=" + home}
}

// serveHooks answers every request at once.
func serveHooks(b *testing.B, network, address string) string {
	b.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		b.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.Copy(w, strings.NewReader(hookAnswer))
	})}}
	server.Start()
	b.Cleanup(server.Close)
	return l.Addr().String()
}

// shortDir is a folder whose path leaves room for a socket's.
func shortDir(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("", "hook")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
