package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a host over two empty folders, and its log.
type rig struct {
	*guard.Host
	home, project string
	pins, counts  string
	callTimeout   time.Duration
	trace         bool
	log           *logBuffer
}

// newRig is patient, so that a busy machine changes no verdict.
func newRig(t *testing.T) *rig { return newRigWith(t, patience) }

const patience = 2 * time.Minute

// timeoutFor is the default where the module is to be stopped by it.
func timeoutFor(code string) time.Duration {
	if code == guard.CodeTimeout {
		return 0
	}
	return patience
}

func newRigWith(t *testing.T, callTimeout time.Duration) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{
		home:    filepath.Join(dir, "home", "guards"),
		project: filepath.Join(dir, "project", ".bir", "guards"),
		pins:    filepath.Join(dir, "home", "guards.json"),
		counts:  filepath.Join(dir, "home", "guard-counts.json"),
		log:     &logBuffer{},

		callTimeout: callTimeout,
	}
	for _, folder := range []string{r.home, r.project} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.Host = r.host(t)
	return r
}

// host is another process's view of the same folders.
func (r *rig) host(t *testing.T) *guard.Host {
	t.Helper()
	h := guard.New(guard.Config{
		HomeDir: r.home, ProjectDir: r.project, PinFile: r.pins, CountsFile: r.counts,
		CacheDir: guardtest.CacheDir(), CompileWait: patience, CallTimeout: r.callTimeout, Trace: r.trace,
		Logger: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	t.Cleanup(func() {
		if err := h.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (r *rig) drop(t *testing.T, folder, file string, module guardtest.Module) string {
	t.Helper()
	return put(t, filepath.Join(folder, file), module.Bytes())
}

// put writes a file so that its time differs from that of any file it replaces.
func put(t *testing.T, path string, data []byte) string {
	t.Helper()
	var before time.Time
	if info, err := os.Stat(path); err == nil {
		before = info.ModTime()
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if !before.IsZero() {
		later := before.Add(time.Second)
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// step is a request of the kind step whose arguments hold the text.
func step(text string) guardsdk.Request {
	args, err := json.Marshal(map[string]string{"path": text})
	if err != nil {
		panic(err)
	}
	return guardsdk.Request{Kind: guardsdk.KindStep, Server: "fleet", Tool: "read_text_file", Args: args}
}

// mustDeny checks the code of the denial and gives it.
func mustDeny(t *testing.T, d guard.Decision, code string) guard.ModuleVerdict {
	t.Helper()
	v, denied := d.Denial()
	if !denied || v.Verdict.Allow {
		t.Fatalf("allowed, want a denial with %s: %+v", code, d)
	}
	if v.Verdict.Code != code {
		t.Fatalf("denied with %s (%s), want %s", v.Verdict.Code, v.Verdict.Reason, code)
	}
	if v.Verdict.Reason == "" {
		t.Errorf("the denial %s gives no reason", code)
	}
	return v
}

func mustAllow(t *testing.T, d guard.Decision) {
	t.Helper()
	if v, denied := d.Denial(); denied || !d.Allow {
		t.Fatalf("denied by %s: %s %s (%s)", v.Module, v.Verdict.Code, v.Verdict.Reason, v.Failure)
	}
}

// module is the one that Modules shows under the name.
func module(t *testing.T, h *guard.Host, name string) guard.Module {
	t.Helper()
	for _, m := range h.Modules() {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no module %s in %+v", name, h.Modules())
	return guard.Module{}
}

// logBuffer is written to by every job of a host.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
