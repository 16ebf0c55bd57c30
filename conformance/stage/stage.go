//go:build unix

package stage

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/hosts/journal"
	"github.com/bir-run/bir/recorder/launch"
	"github.com/bir-run/bir/recorder/process"
	"github.com/bir-run/bir/relay/relaytest"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
)

// Patience is how long a suite waits for what must come. It is for machines that are
// busy with much else: a test that waits so long has failed.
const Patience = 2 * time.Minute

// pause is between two looks at what another process does.
const pause = 2 * time.Millisecond

var upstream = sync.OnceValues(func() (string, error) {
	dir, err := built.Dir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "stage-upstream")
	cmd := exec.Command("go", "build", "-o", path, "github.com/bir-run/bir/conformance/stage/upstream")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the upstream: %w\n%s", err, out)
	}
	return path, nil
})

// Run runs the tests of a package that uses this one, and cleans up.
func Run(m *testing.M) int {
	relaytest.HeedSignals()
	// These tests wait for other processes most of the time. The command line may say
	// otherwise.
	_ = flag.Set("test.parallel", "6")
	code := m.Run()
	built.Remove()
	return code
}

// Project is a root and a home. What runs for it is stopped with the test.
type Project struct {
	testing.TB
	Home, Root string
	bin        string
	env        []string
}

// New makes a project into which bir is installed, so that proxies bring a control
// server that died back to life. The service is not started.
func New(t testing.TB) *Project {
	t.Helper()
	bin, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "bir-stage-") // a test's own would make the socket's path too long
	if err != nil {
		t.Fatal(err)
	}
	p := &Project{TB: t, Home: home, Root: locate.Root(t.TempDir()), bin: bin}
	// Level wasm takes ten seconds to compile, and nothing here evaluates anything.
	p.env = append(withoutOurs(new(exec.Cmd).Environ()), "BIR_HOME="+home, "CLAUDE_PROJECT_DIR="+p.Root, "BIR_SANDBOX=process")
	t.Cleanup(p.clean)
	p.share()
	p.install()
	return p
}

func withoutOurs(environ []string) (kept []string) {
	for _, kv := range environ {
		if !strings.HasPrefix(kv, "BIR_") && !strings.HasPrefix(kv, "CLAUDE") {
			kept = append(kept, kv)
		}
	}
	return kept
}

// install notes that bir was installed into the project, as far as proxies ask.
func (p *Project) install() {
	p.Helper()
	settings := journal.File{
		Path: filepath.Join(p.Root, ".claude", "settings.local.json"), Host: "claude-code", Format: "json",
		Changes: []journal.Change{{Kind: journal.Add, Path: []string{"hooks", "Stop"}}},
	}
	j := journal.Journal{Version: 1, Projects: map[string]*journal.Project{p.Root: {Hooks: "command", Files: []*journal.File{&settings}}}}
	if err := j.Save(p.Home); err != nil {
		p.Fatal(err)
	}
}

// share puts the cache of compiled guards into the home. They are compiled once for all
// tests.
func (p *Project) share() {
	p.Helper()
	cache := guardtest.CacheDir()
	if err := errors.Join(
		os.MkdirAll(cache, 0o700),
		os.MkdirAll(filepath.Join(p.Home, "cache"), 0o700),
		os.Symlink(cache, filepath.Join(p.Home, "cache", "wazero")),
	); err != nil {
		p.Fatal(err)
	}
}

// clean stops what runs, and shows its logs where the test failed.
func (p *Project) clean() {
	built.AwaitNone(p, p.Home, p.down)
	if p.Failed() {
		logs, _ := filepath.Glob(filepath.Join(p.Home, "logs", "*.log"))
		for _, log := range logs {
			text, _ := os.ReadFile(log)
			p.Logf("%s:\n%s", filepath.Base(log), text)
		}
	}
	os.RemoveAll(p.Home)
}

func (p *Project) down() {
	for _, what := range []string{"--all", "--service"} {
		if out, err := p.command(context.Background(), "bir", "down", what).CombinedOutput(); err != nil {
			p.Errorf("bir down %s: %v\n%s", what, err, out)
		}
	}
}

func (p *Project) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, built.Path(p.bin, name), args...)
	cmd.Dir, cmd.Env = p.Root, p.env
	return cmd
}

// Setenv sets a variable for what is started from now on.
func (p *Project) Setenv(name, value string) { p.env = append(p.env, name+"="+value) }

// Bir runs a command of bir and returns what it prints.
func (p *Project) Bir(args ...string) string {
	p.Helper()
	out, err := p.command(p.Context(), "bir", args...).Output()
	if err != nil {
		var exit *exec.ExitError
		errors.As(err, &exit)
		p.Fatalf("bir %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out)
}

// StartControl starts the control server, as a hook or a proxy would.
func (p *Project) StartControl() locate.File {
	p.Helper()
	if out, err := p.command(p.Context(), "bir-control", "--root", p.Root, "--detach").CombinedOutput(); err != nil {
		p.Fatalf("start the control server: %v\n%s", err, out)
	}
	return p.Control()
}

// ServeControl is the control server as its own program, until it ends.
func (p *Project) ServeControl() {
	p.Helper()
	if out, err := p.command(p.Context(), "bir-control", "--root", p.Root).CombinedOutput(); err != nil {
		p.Fatalf("run the control server: %v\n%s", err, out)
	}
}

// Control is the discovery file, which must be there.
func (p *Project) Control() locate.File {
	p.Helper()
	file, err := locate.Read(p.Home, p.Root)
	if err != nil {
		p.Fatal(err)
	}
	return file
}

// Health asks the control server.
func (p *Project) Health() (client.Health, error) {
	file, err := locate.Read(p.Home, p.Root)
	if err != nil {
		return client.Health{}, err
	}
	c, err := client.New(file)
	if err != nil {
		return client.Health{}, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(p.Context(), Patience)
	defer cancel()
	return c.Health(ctx)
}

// Await waits until the control server answers with what is hoped for.
func (p *Project) Await(what string, hoped func(client.Health) bool) client.Health {
	p.Helper()
	for until := time.Now().Add(Patience); ; time.Sleep(pause) {
		h, err := p.Health()
		if err == nil && hoped(h) {
			return h
		}
		if time.Now().After(until) {
			p.Fatalf("%s did not come: %+v, %v", what, h, err)
		}
	}
}

// Resident is how much memory a process has, in bytes, and the most that it had. It
// is 0 where that is not told.
func (p *Project) Resident(pid int) (now, peak int64) {
	p.Helper()
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		var kib int64
		_, _ = fmt.Sscan(value, &kib)
		switch name {
		case "VmRSS":
			now = kib << 10
		case "VmHWM":
			peak = kib << 10
		}
	}
	return now, peak
}

// CPU is the time that a process has computed, and 0 where that is not told.
func (p *Project) CPU(pid int) time.Duration {
	p.Helper()
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := bytes.Cut(text, []byte(") ")) // the name before it may hold anything
	fields := bytes.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	var user, system int64 // in hundredths of a second
	_, _ = fmt.Sscan(string(fields[11]), &user)
	_, _ = fmt.Sscan(string(fields[12]), &system)
	return time.Duration(user+system) * 10 * time.Millisecond
}

// KillControl kills the control server, as nothing else does.
func (p *Project) KillControl() {
	p.Helper()
	p.kill(p.Control().PID)
}

// KillService kills the service, if it runs, and says whether it did.
func (p *Project) KillService() bool {
	p.Helper()
	file, err := launch.Read(p.Home)
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	if err != nil {
		p.Fatal(err)
	}
	p.kill(file.PID)
	return true
}

// kill kills a process of ours and waits for its end.
func (p *Project) kill(pid int) {
	p.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		p.Fatalf("kill %d: %v", pid, err)
	}
	p.AwaitEnd(pid)
}

// AwaitEnd waits for the end of a process.
func (p *Project) AwaitEnd(pid int) {
	p.Helper()
	for until := time.Now().Add(Patience); process.Alive(pid); time.Sleep(pause) {
		if time.Now().After(until) {
			p.Fatalf("process %d lives on", pid)
		}
	}
}
