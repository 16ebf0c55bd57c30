package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/launch"
	"github.com/bir-run/bir/recorder/recordertest"
	"github.com/bir-run/bir/recorder/store"
)

// exitAlreadyRunning is how a test service says that another one serves.
const exitAlreadyRunning = 3

const patience = recordertest.Patience

// serveForTest is the process of a test. It needs no evaluator.
func serveForTest(home string) int {
	err := Run(context.Background(), Config{Home: home, OpenStore: at(home), Evaluator: noEvaluator{}, Version: "test"})
	switch {
	case errors.Is(err, ErrAlreadyRunning):
		return exitAlreadyRunning
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// process starts the test binary as a service.
func process(t *testing.T, home string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), homeVariable+"="+home, "GORACE=atexit_sleep_ms=0") // or it would take a second more to end
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// found waits until a service of home answers.
func found(t *testing.T, home string) caller {
	t.Helper()
	client := &http.Client{Timeout: patience}
	t.Cleanup(client.CloseIdleConnections)
	for deadline := time.Now().Add(patience); ; {
		if file, err := launch.Read(home); err == nil {
			a := caller{t, file.URL, file.Token, client}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+"/healthz", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+a.token)
			if resp, err := client.Do(req); err == nil {
				resp.Body.Close()
				return a
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("no service was found")
		}
		runtime.Gosched()
	}
}

// running is a service in this process, and what ends it.
type running struct {
	caller
	cancel context.CancelFunc
	ended  chan error
}

func run(t *testing.T, cfg Config) running {
	t.Helper()
	if cfg.OpenStore == nil {
		cfg.OpenStore = at(cfg.Home)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	r := running{cancel: cancel, ended: make(chan error, 1)}
	go func() { r.ended <- Run(ctx, cfg) }() // ends with cancel, at the latest in the cleanup
	t.Cleanup(func() {
		cancel()
		if err := r.wait(t); err != nil {
			t.Error(err)
		}
	})
	r.caller = found(t, cfg.Home)
	return r
}

// wait gives what Run returned, also when asked again.
func (r running) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		r.ended <- err
		return err
	case <-time.After(patience):
		t.Fatal("the service does not end")
		return nil
	}
}

func TestServiceIsFoundThroughItsFile(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	r := run(t, Config{Home: home, Version: "1.2.3"})
	file, err := launch.Read(home)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Token) != 2*tokenBytes || file.PID != os.Getpid() || file.Version != "1.2.3" || file.StartedAt.IsZero() {
		t.Errorf("%+v", file)
	}
	var got health
	r.call("GET", "/healthz", nil, http.StatusOK, &got)
	if want := (health{OK: true, PID: os.Getpid(), Version: "1.2.3", StartedAt: file.StartedAt}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	r.cancel()
	if err := r.wait(t); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(launch.Path(home)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestFilesOfTheServiceArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	home := filepath.Join(t.TempDir(), "home")
	run(t, Config{Home: home})
	for _, name := range []string{"", "service.json", "service.serve.lock", "bir.db"} {
		info, err := os.Stat(filepath.Join(home, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestShutdownEndsTheService(t *testing.T) {
	home := t.TempDir()
	r := run(t, Config{Home: home})
	r.call("POST", "/shutdown", nil, http.StatusAccepted, nil)
	if err := r.wait(t); err != nil {
		t.Error(err)
	}
	run(t, Config{Home: home}) // the lock is free again
}

// slowStore holds a run back until it is let go.
type slowStore struct {
	store.Store
	arrived, letGo chan struct{}
}

func (s slowStore) CreateRun(ctx context.Context, run recorder.Run) (bool, error) {
	close(s.arrived)
	<-s.letGo
	return s.Store.CreateRun(ctx, run)
}

func TestRequestUnderWayIsFinished(t *testing.T) {
	home := t.TempDir()
	slow := slowStore{arrived: make(chan struct{}), letGo: make(chan struct{})}
	r := run(t, Config{Home: home, OpenStore: func(ctx context.Context) (store.Store, error) {
		var err error
		slow.Store, err = at(home)(ctx)
		return slow, err
	}})
	status := make(chan int, 1)
	go func() { // ends with its answer; awaited below
		resp, _ := r.send("POST", "/recordings/runs", `{"id":"run_1"}`)
		status <- resp.StatusCode
	}()
	<-slow.arrived
	r.cancel()
	select {
	case err := <-r.ended:
		r.ended <- err
		t.Fatalf("ended over a request: %v", err)
	default:
	}
	close(slow.letGo)
	if got := <-status; got != http.StatusCreated {
		t.Errorf("status %d", got)
	}
	if err := r.wait(t); err != nil {
		t.Error(err)
	}
	run(t, Config{Home: home}).call("GET", "/recordings/runs/run_1", nil, http.StatusOK, nil)
}

// stuckStore never answers while its caller waits.
type stuckStore struct {
	store.Store
	arrived chan struct{}
}

func (s stuckStore) CreateRun(ctx context.Context, _ recorder.Run) (bool, error) {
	close(s.arrived)
	<-ctx.Done()
	return false, ctx.Err()
}

// TestStuckRequestIsCutOff takes drainTimeout.
func TestStuckRequestIsCutOff(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	stuck := stuckStore{arrived: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { // ends with cancel
		ended <- Run(ctx, Config{Home: home, OpenStore: func(ctx context.Context) (store.Store, error) {
			var err error
			stuck.Store, err = at(home)(ctx)
			return stuck, err
		}})
	}()
	a := found(t, home)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.url+"/recordings/runs", strings.NewReader(`{"id":"run_1"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	cut := make(chan error, 1)
	go func() { // ends when the service cuts the connection
		resp, err := a.client.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		cut <- err
	}()
	<-stuck.arrived
	cancel()
	if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended with %v", err)
	}
	if err := <-cut; err == nil {
		t.Error("the stuck request was answered")
	}
}

func TestServiceStopsWhenNobodyAsks(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	home := t.TempDir()
	if err := Run(ctx, Config{Home: home, OpenStore: at(home), Idle: time.Millisecond}); err != nil || ctx.Err() != nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
}

func TestRequestsKeepTheServiceAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idle := newIdleTimer(time.Minute)
		handler := idle.track(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(5 * time.Minute) }))
		expired := func() bool {
			select {
			case <-idle.expired():
				return true
			default:
				return false
			}
		}
		time.Sleep(59 * time.Second)
		handler.ServeHTTP(nil, nil)
		time.Sleep(59 * time.Second)
		if expired() {
			t.Error("expired within a minute of a request")
		}
		time.Sleep(2 * time.Second)
		if !expired() {
			t.Error("not expired a minute after the last request")
		}
	})
}

func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "example.com:80"} {
		home := t.TempDir()
		if err := Run(t.Context(), Config{Home: home, OpenStore: at(home), Addr: addr}); err == nil {
			t.Errorf("served on %s", addr)
		}
	}
}

func TestStoreThatCannotBeOpenedIsNamed(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "bir.db")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), Config{Home: home, OpenStore: at(home)}); err == nil {
		t.Error("served without a store")
	}
	if _, err := os.Stat(launch.Path(home)); !errors.Is(err, os.ErrNotExist) {
		t.Error("a service file was left")
	}
}

func TestFullStoreIsToldApart(t *testing.T) {
	st, err := at(t.TempDir())(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for cause, code := range map[error]api.Code{store.ErrFull: CodeStoreFull, store.ErrDamaged: CodeStoreDamaged, errors.ErrUnsupported: api.Internal} {
		a := servingOn(t, failingStore{st, fmt.Errorf("insert: %w", cause)}, pool)
		if doc := a.refused("POST", "/recordings/runs", `{"id":"run_1"}`, code); code == api.Internal && doc.Detail != "" {
			t.Errorf("tells %q", doc.Detail)
		}
	}
}

type failingStore struct {
	store.Store
	err error
}

func (s failingStore) CreateRun(context.Context, recorder.Run) (bool, error) { return false, s.err }

func TestOneOfTenProcessesServes(t *testing.T) {
	const processes = 10
	home := filepath.Join(t.TempDir(), "home")
	exits := make(chan int, processes)
	for range processes {
		cmd := process(t, home)
		go func() { // ends with the process; all are awaited below
			_ = cmd.Wait() // the exit code says it all
			exits <- cmd.ProcessState.ExitCode()
		}()
	}
	for range processes - 1 {
		if code := <-exits; code != exitAlreadyRunning {
			t.Errorf("a process that may not serve ended with %d", code)
		}
	}
	found(t, home).call("POST", "/shutdown", nil, http.StatusAccepted, nil)
	if code := <-exits; code != 0 {
		t.Errorf("the serving process ended with %d", code)
	}
}

// TestKilledServiceLeavesWholeSteps kills the process while 8 writers are at it.
// What was answered is there, and every step that is there is whole.
func TestKilledServiceLeavesWholeSteps(t *testing.T) {
	const writers, enough = 8, 200
	home := t.TempDir()
	cmd := process(t, home)
	a := found(t, home)
	a.call("POST", "/recordings/runs", `{"id":"run_1"}`, http.StatusCreated, nil)

	answered, done := make(chan string, 64), make(chan struct{})
	for range writers {
		go func() { // ends when the service is dead
			defer func() { done <- struct{}{} }()
			for a.book(answered) {
			}
		}()
	}
	kept := map[string]bool{}
	for running := writers; running > 0; {
		select {
		case id := <-answered:
			if kept[id] = true; len(kept) == enough {
				if err := cmd.Process.Kill(); err != nil {
					t.Error(err)
				}
			}
		case <-done:
			running--
		}
	}
	for len(answered) > 0 {
		kept[<-answered] = true
	}
	_ = cmd.Wait() // killed, as was meant

	var got recorder.RunWithSteps
	run(t, Config{Home: home}).call("GET", "/recordings/runs/run_1", nil, http.StatusOK, &got)
	for _, step := range got.Steps {
		delete(kept, step.ID)
		if step.ToolOutput != killedOutput {
			t.Errorf("%s is cut", step.ID)
		}
	}
	if len(kept) > 0 || len(got.Steps) < enough {
		t.Errorf("%d answered steps are lost, %d are there", len(kept), len(got.Steps))
	}
}

var killedOutput = fmt.Sprintf("%020000d", 7)

// book sends one step and says whether the service still answers.
func (a caller) book(answered chan<- string) bool {
	step := rows(0, "restart", `{}`, killedOutput)[1]
	data, err := json.Marshal(step)
	if err != nil {
		a.Error(err)
		return false
	}
	req, err := http.NewRequestWithContext(a.Context(), http.MethodPost, a.url+"/recordings/runs/run_1/steps", bytes.NewReader(data))
	if err != nil {
		a.Error(err)
		return false
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	resp, err := a.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusCreated {
		answered <- step.ID
	}
	return true
}
