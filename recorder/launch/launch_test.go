package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/recorder/client"
	"github.com/bir-run/bir/recorder/recordertest"
)

const patience = recordertest.Patience

// serveEnv and failEnv turn the test binary into a service, or into one that
// cannot start.
const (
	serveEnv = "BIR_TEST_SERVE"
	failEnv  = "BIR_TEST_FAIL"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(serveEnv) != "":
		serve(os.Getenv(serveEnv))
	case os.Getenv(failEnv) != "":
		fmt.Fprintln(os.Stderr, "the database is damaged")
		os.Exit(3)
	default:
		goleak.VerifyTestMain(recordertest.Settle(m))
	}
}

// serve is a service with two routes. It notes that it was started.
func serve(home string) {
	lock := ServeLock(home)
	if held, err := lock.TryLock(); err != nil || !held {
		panic(fmt.Sprint("another service runs: ", err))
	}
	defer lock.Close()
	starts, err := os.OpenFile(filepath.Join(home, "starts"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(starts, os.Getpid())
	starts.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	stop := make(chan struct{})
	server := &http.Server{Handler: routes("secret", os.Getpid(), stop)}
	go server.Serve(listener)
	if err := Write(home, File{URL: "http://" + listener.Addr().String(), Token: "secret", PID: os.Getpid()}); err != nil {
		panic(err)
	}
	select {
	case <-stop:
	case <-time.After(5 * patience): // the test that started us is gone
	}
	server.Close() // a spare connection of a client must not keep the process
	Remove(home, os.Getpid())
}

func routes(token string, pid int, stop chan struct{}) http.Handler {
	var once sync.Once
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/healthz":
			json.NewEncoder(w).Encode(client.Health{OK: true, PID: pid})
		case r.URL.Path == "/shutdown":
			w.Header().Set("Content-Length", "0")
			w.WriteHeader(http.StatusAccepted)
			_ = http.NewResponseController(w).Flush() // the whole answer, before the server is closed under it
			once.Do(func() { close(stop) })
		}
	})
}

// config starts the test binary as the service, and stops it with the test.
func config(t *testing.T) Config {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	transport := &http.Transport{}
	t.Cleanup(func() {
		if _, err := Stop(context.Background(), home); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		http.DefaultClient.CloseIdleConnections()
	})
	return Config{
		Home:         home,
		ServeCommand: []string{os.Args[0]},
		Env:          append(os.Environ(), serveEnv+"="+home, "GORACE=atexit_sleep_ms=0"), // to end at once
		HTTP:         &http.Client{Transport: transport},
		StartTimeout: patience,
	}
}

func starts(t *testing.T, home string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, "starts"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func TestTenAtOnceStartOneService(t *testing.T) {
	cfg := config(t)
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			<-begin
			c, err := Connect(t.Context(), cfg)
			if err != nil {
				t.Error(err)
				return
			}
			if h, err := c.Health(t.Context()); err != nil || !h.OK {
				t.Errorf("Health: %+v, %v", h, err)
			}
		})
	}
	close(begin)
	wg.Wait()
	if n := starts(t, cfg.Home); n != 1 {
		t.Errorf("%d services were started, want 1", n)
	}
}

func TestRunningServiceIsFoundAndADeadOneReplaced(t *testing.T) {
	cfg := config(t)
	for range 2 {
		if _, err := Connect(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	if n := starts(t, cfg.Home); n != 1 {
		t.Fatalf("%d services were started, want 1", n)
	}
	dead, err := Read(cfg.Home)
	if err != nil {
		t.Fatal(err)
	}
	if stopped, err := Stop(t.Context(), cfg.Home); !stopped || err != nil {
		t.Fatalf("Stop: %v, %v", stopped, err)
	}
	if stopped, err := Stop(t.Context(), cfg.Home); stopped || err != nil {
		t.Errorf("a second Stop: %v, %v", stopped, err)
	}
	if err := Write(cfg.Home, dead); err != nil { // as after a crash
		t.Fatal(err)
	}
	if _, err := Connect(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if n := starts(t, cfg.Home); n != 2 {
		t.Errorf("%d services were started, want 2", n)
	}
}

func TestAnotherProgramOnThePortIsNotTheService(t *testing.T) {
	for _, c := range []struct {
		name string
		pid  int
		body string
	}{
		{"another service", 1, `{"ok":true,"pid":2}`},
		{"a web page", 1, `<html>`},
		{"an empty object", 1, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(t)
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.body) }))
			defer other.Close()
			if err := Write(cfg.Home, File{URL: other.URL, Token: "t", PID: c.pid}); err != nil {
				t.Fatal(err)
			}
			found, err := Connect(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if found.BaseURL() == other.URL {
				t.Error("the other program was taken for the service")
			}
		})
	}
}

func TestServiceThatCannotStartIsReportedAtOnce(t *testing.T) {
	cfg := config(t)
	cfg.Env = append(os.Environ(), failEnv+"=1")
	_, err := Connect(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "service.log") || errors.Is(err, context.DeadlineExceeded) { // which is all that waiting gives
		t.Errorf("Connect: %v", err)
	}
	log, err := os.ReadFile(filepath.Join(cfg.Home, "logs", "service.log"))
	if err != nil || !strings.Contains(string(log), "the database is damaged") {
		t.Errorf("the log has %q, %v", log, err)
	}
}

func TestServiceThatNeverAnswersIsWaitedForWithinABound(t *testing.T) {
	cfg := config(t)
	elsewhere := t.TempDir()
	t.Cleanup(func() { Stop(context.Background(), elsewhere) })
	cfg.Env = append(os.Environ(), serveEnv+"="+elsewhere, "GORACE=atexit_sleep_ms=0")
	cfg.StartTimeout = 200 * time.Millisecond
	if _, err := Connect(t.Context(), cfg); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Connect: %v", err)
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); { // it must be there to be stopped
		if _, err := Read(elsewhere); err == nil {
			break
		}
		runtime.Gosched()
	}
}

func TestAnotherServiceIsTakenAsItIs(t *testing.T) {
	c, err := Connect(t.Context(), Config{AuthURL: "https://team.example/", Token: "t"})
	if err != nil || c.BaseURL() != "https://team.example" {
		t.Errorf("Connect: %v, %v", c, err)
	}
}

func TestFileOthersCouldReadIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	for name, spoil := range map[string]func(path string) error{
		"readable": func(path string) error { return os.Chmod(path, 0o644) },
		"writable": func(path string) error { return os.Chmod(path, 0o620) },
		"folder":   func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Home: t.TempDir(), ServeCommand: []string{"/does/not/exist"}}
			if err := Write(cfg.Home, File{URL: "http://127.0.0.1:1", PID: 1}); err != nil {
				t.Fatal(err)
			}
			if err := spoil(Path(cfg.Home)); err != nil {
				t.Fatal(err)
			}
			if _, err := Connect(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "refuse service file") {
				t.Errorf("Connect: %v", err)
			}
		})
	}
}

func TestAddressElsewhereIsRefused(t *testing.T) {
	for _, address := range []string{"http://10.0.0.1:80", "https://127.0.0.1", "http://example.com", "", "http://127.0.0.1.example.com"} {
		cfg := Config{Home: t.TempDir()}
		if err := Write(cfg.Home, File{URL: address, PID: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := Connect(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "not on this machine") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestFileIsWrittenForItsOwnerAndRemovedByIt(t *testing.T) {
	home := filepath.Join(t.TempDir(), "new")
	want := File{URL: "http://127.0.0.1:1", Token: "t", PID: 7, Version: "1.0", StartedAt: time.Unix(1, 0).UTC()}
	if err := Write(home, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(home)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if info, err := os.Stat(Path(home)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := Remove(home, 8); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(home); err != nil {
		t.Errorf("another process removed the file: %v", err)
	}
	for range 2 {
		if err := Remove(home, 7); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestEachServiceHasItsOwnSpool(t *testing.T) {
	embedded, team, other := SpoolDir("/h", ""), SpoolDir("/h", "https://team.example/a"), SpoolDir("/h", "https://team.example/b")
	if embedded == team || team == other || filepath.Dir(team) != embedded {
		t.Errorf("%s %s %s", embedded, team, other)
	}
}
