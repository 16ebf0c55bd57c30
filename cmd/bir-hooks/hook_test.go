package main

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/client/post"
)

const payload = `{"session_id":"s","cwd":"/elsewhere","hook_event_name":"PreToolUse","tool_name":"Bash"}`

func TestAnswerIsPrintedAsItCame(t *testing.T) {
	t.Parallel()
	const says = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"n":1.0}}}`
	b := newBed(t)
	type request struct{ Path, Token, Body string }
	got := make(chan request, 1)
	b.announce(b.serve(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- request{r.URL.Path, r.Header.Get("Authorization"), string(body)}
		io.WriteString(w, says)
	}))
	if out := b.run("PreToolUse", payload); out != says {
		t.Errorf("printed %q", out)
	}
	if diff := cmp.Diff(request{"/tool/pre", "Bearer secret", payload}, only(t, got)); diff != "" {
		t.Error(diff)
	}
}

// only is what was sent meanwhile.
func only[T any](t *testing.T, sent <-chan T) T {
	t.Helper()
	select {
	case got := <-sent:
		return got
	default:
		t.Fatal("nothing was posted")
		panic("unreachable")
	}
}

func TestEveryEventGoesToItsPath(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.announce(b.serve(saying("{}")))
	var want []string
	for _, e := range event.All() {
		b.run(e.Name, payload)
		want = append(want, e.Path)
	}
	if diff := cmp.Diff(want, b.paths()); diff != "" {
		t.Error(diff)
	}
}

// TestPayloadNamesWhatIsNotSaid: without an argument and without CLAUDE_PROJECT_DIR.
func TestPayloadNamesWhatIsNotSaid(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.announce(b.serve(saying(`{"a":1}`)))
	text, err := json.Marshal(map[string]string{"hook_event_name": "Stop", "cwd": b.project})
	if err != nil {
		t.Fatal(err)
	}
	if out := b.run("", string(text), "CLAUDE_PROJECT_DIR="); out != `{"a":1}` {
		t.Errorf("printed %q", out)
	}
	if diff := cmp.Diff([]string{"/session/stop"}, b.paths()); diff != "" {
		t.Error(diff)
	}
}

func TestUselessAnswerIsNotPrinted(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"empty":          saying(""),
		"nothing to say": saying("{}"),
		"blank object":   saying(" { } \n"),
		"text":           saying("hello"),
		"an array":       saying(`[{"a":1}]`),
		"cut short":      saying(`{"decision":"block","reason":"x`),
		"two objects":    saying(`{"a":1}{"a":1}`),
		"an error": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"decision":"block"}`, http.StatusInternalServerError)
		},
		"refused": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"decision":"block"}`, http.StatusUnauthorized)
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) },
		"hung up":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"shorter than it says": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"decision":"block"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.announce(b.serve(answer))
			if out := b.run("PreToolUse", payload); out != "" {
				t.Errorf("printed %q", out)
			}
			if diff := cmp.Diff([]string{"/tool/pre"}, b.paths()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestServerThatIsNotThereIsNoFailure(t *testing.T) {
	t.Parallel()
	foreign := func(b *bed) {
		if os.Chown(locate.Path(b.home, b.project), 12345, -1) != nil {
			b.t.Skip("giving a file away takes more rights")
		}
	}
	for name, prepare := range map[string]func(b *bed){
		"no file":      func(b *bed) {},
		"no home":      func(b *bed) { b.home = filepath.Join(b.home, "none") },
		"refusing":     func(b *bed) { b.announce(locate.File{URL: "http://127.0.0.1:1", Token: "x", PID: os.Getpid()}) },
		"dead":         func(b *bed) { b.announce(locate.File{URL: "http://127.0.0.1:1", Token: "x", PID: 1 << 30}) },
		"exposed":      func(b *bed) { b.write(locate.Path(b.home, b.project), encode(b.t, b.serve(saying(`{"a":1}`))), 0o644) },
		"unreadable":   func(b *bed) { b.write(locate.Path(b.home, b.project), "{}", 0o000) },
		"a folder":     func(b *bed) { os.Mkdir(locate.Path(b.home, b.project), 0o700) },
		"damaged":      func(b *bed) { b.write(locate.Path(b.home, b.project), `{"url":`, 0o600) },
		"another's":    func(b *bed) { b.announce(b.serve(saying(`{"a":1}`))); foreign(b) },
		"not loopback": func(b *bed) { b.announce(locate.File{URL: "http://192.0.2.1:80", Token: "x", PID: os.Getpid()}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "exposed" && runtime.GOOS == "windows" {
				t.Skip("a file's mode says nothing on Windows")
			}
			b := newBed(t)
			prepare(b)
			if out := b.run("PreToolUse", payload); out != "" {
				t.Errorf("printed %q", out)
			}
			if len(b.paths()) > 0 {
				t.Error("it was posted all the same")
			}
		})
	}
}

func TestBadInputIsNoFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ event, payload string }{
		"nothing":          {"PreToolUse", ""},
		"spaces":           {"PreToolUse", " \n"},
		"text":             {"PreToolUse", "hello"},
		"an array":         {"PreToolUse", "[1]"},
		"too large":        {"PreToolUse", payload + strings.Repeat(" ", maxPayloadBytes)},
		"an unknown event": {"FutureEvent", payload},
		"no event":         {"", "{}"},
		"a path":           {"/shutdown", payload},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.announce(b.serve(saying(`{"a":1}`)))
			if out := b.run(c.event, c.payload); out != "" || len(b.paths()) > 0 {
				t.Errorf("printed %q, posted %v", out, b.paths())
			}
		})
	}
}

func TestLargePayloadArrivesWhole(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	length := make(chan int, 1)
	b.announce(b.serve(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		length <- len(body)
	}))
	text := payload + strings.Repeat(" ", maxPayloadBytes-len(payload))
	b.run("PostToolUse", text)
	if got := only(t, length); got != len(text) {
		t.Errorf("%d bytes of %d", got, len(text))
	}
}

func TestOffIsOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		vars []string
		file func(b *bed) string
		want bool // posted
	}{
		"by BIR_OFF":       {vars: []string{"BIR_OFF=1"}},
		"BIR_OFF=0 is on":  {vars: []string{"BIR_OFF=0"}, want: true},
		"everywhere":       {file: func(*bed) string { return `{"everywhere":true}` }},
		"here":             {file: func(b *bed) string { return `{"everywhere":false,"folders":["/x",` + quote(b.project) + `]}` }},
		"above":            {file: func(b *bed) string { return `{"folders":[` + quote(filepath.Dir(b.project)) + `]}` }},
		"beside":           {file: func(b *bed) string { return `{"folders":[` + quote(b.project+"-two") + `]}` }, want: true},
		"below":            {file: func(b *bed) string { return `{"folders":[` + quote(filepath.Join(b.project, "x")) + `]}` }, want: true},
		"a damaged switch": {file: func(*bed) string { return `{"everywhere":true` }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			b.install("bir-control")
			b.announce(b.serve(saying("{}")))
			if c.file != nil {
				b.write(filepath.Join(b.home, "off.json"), c.file(b), 0o600)
			}
			b.run("PreToolUse", payload, c.vars...)
			if posted := len(b.paths()) > 0; posted != c.want {
				t.Errorf("posted %v, want %v", posted, c.want)
			}
			if os.Remove(locate.Path(b.home, b.project)); !c.want {
				b.run("SessionStart", payload, c.vars...)
				if len(b.starts()) > 0 {
					t.Error("it started a control server")
				}
			}
		})
	}
}

func quote(text string) string {
	quoted, _ := json.Marshal(text) // a string always can be
	return string(quoted)
}

func TestOutputThatCannotBeWrittenIsNoFailure(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no such pipes")
	}
	b := newBed(t)
	b.announce(b.serve(saying(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`)))
	broken, nobodyReads, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	broken.Close()
	defer nobodyReads.Close()
	outputs := map[string]*os.File{"a broken pipe": nobodyReads}
	if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
		defer full.Close()
		outputs["a full disk"] = full
	}
	for name, out := range outputs {
		cmd := b.command("PreToolUse", "BIR_HOOKS_DEBUG=1")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(payload), out, out
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStreamsThatAreClosedAreNoFailure(t *testing.T) {
	t.Parallel()
	shell, err := os.Stat("/bin/sh")
	if err != nil || shell.IsDir() {
		t.Skip("no shell here")
	}
	b := newBed(t)
	b.announce(b.serve(saying(`{"a":1}`)))
	cmd := b.command("PreToolUse")
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `"$0" PreToolUse <&- >&- 2>&-`, filepath.Join(b.dir, "bir-hooks")}
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
}

// TestInputThatNeverEndsIsNoFailure: the host is let go before it loses patience.
func TestInputThatNeverEndsIsNoFailure(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.install("bir-late")
	cmd := b.command("Stop")
	cmd.Path = filepath.Join(b.dir, "bir-late")
	cmd.Args[0] = cmd.Path
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
}

func TestPatienceIsLessThanTheHosts(t *testing.T) {
	for _, e := range event.All() {
		h := hook{name: e.Name}
		if p := h.patience(); p <= e.Answer || p >= e.Timeout || (e.Answer+e.Timeout)/2 >= p {
			t.Errorf("%s: patience %v, the server may take %v, the host waits %v", e.Name, p, e.Answer, e.Timeout)
		}
		h = hook{}
		if h.patience() >= e.Timeout {
			t.Errorf("%s: unnamed, its patience is %v", e.Name, h.patience())
		}
	}
}

func TestSlowServerIsNotWaitedForBeyondTheDeadline(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	l, err := net.Listen("unix", filepath.Join(b.socketDir, "s")) // connects by itself, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b.announce(locate.File{URL: "http://127.0.0.1:1", Socket: l.Addr().String(), Token: "x", PID: os.Getpid()})
	h := hook{name: "PreToolUse", home: b.home, project: b.project, began: time.Now().Add(-13400 * time.Millisecond)}
	if answer, err := h.run(strings.NewReader(payload)); !errors.Is(err, post.ErrLate) || answer != nil {
		t.Errorf("answer %q, error %v", answer, err)
	}
}

// TestFatalErrorIsNoOrderToBlock: what the host does at status 2.
func TestFatalErrorIsNoOrderToBlock(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no such signals")
	}
	b := newBed(t)
	b.install("bir-fatal")
	cmd := b.command("Stop")
	cmd.Path = filepath.Join(b.dir, "bir-fatal")
	cmd.Args[0] = cmd.Path
	var ended *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &ended) || ended.ExitCode() != -1 {
		t.Errorf("it ended with %v, want a signal", err)
	}
}

func TestDebugSaysWhatWentWrong(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.announce(locate.File{URL: "http://127.0.0.1:1", Token: "secret", PID: 1 << 30})
	cmd := b.command("Stop", "BIR_HOOKS_DEBUG=1")
	cmd.Stdin = strings.NewReader(payload)
	text, err := cmd.CombinedOutput()
	if err != nil || string(text) != "bir-hooks: Stop: the control server is away\n" {
		t.Errorf("error %v, said %q", err, text)
	}
}

func FuzzHook(f *testing.F) {
	f.Add([]byte(payload))
	f.Add([]byte(`{"cwd":"/"}`))
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		h := hook{home: home, began: time.Now()}
		if answer, err := h.run(strings.NewReader(string(text))); answer != nil || err == nil {
			t.Fatalf("answer %q, error %v, without a control server", answer, err)
		}
	})
}
