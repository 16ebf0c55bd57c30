package client

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
)

func TestServiceThatIsDownIsCaughtUpWith(t *testing.T) {
	f := newFake(t)
	cfg := f.config(t)
	var up atomic.Bool
	cfg.Connect = func(ctx context.Context) (*Client, error) {
		if !up.Load() {
			return nil, errors.New("not yet")
		}
		return f.connect(ctx)
	}
	s := open(t, cfg)
	s.StartRun(recorder.Run{ID: "run_1"})
	recordCalls(s, 0, 5)
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !s.chain.spool.Has("run_1") {
		t.Fatal("what was flushed is nowhere")
	}
	up.Store(true)
	recordCalls(s, 5, 8)
	s.FinishRun("run_1", recorder.Finish{})
	f.waitFinished(t)
	if diff := cmp.Diff(wanted(8, "finish run_1"), f.taken()); diff != "" {
		t.Error(diff)
	}
	closeNow(t, s)
	if s.chain.spool.Has("run_1") {
		t.Error("the spool was not removed")
	}
}

// TestFailuresLoseNothing has the service fail some of its writes in different
// ways. What arrives in the end is whole and in order.
func TestFailuresLoseNothing(t *testing.T) {
	every := func(n int64, status int) func() func(string) int {
		return func() func(string) int {
			var count atomic.Int64
			return func(string) int {
				if count.Add(1)%n == 0 {
					return status
				}
				return 0
			}
		}
	}
	for _, c := range []struct {
		name string
		fail func() func(string) int
	}{
		{"500", every(3, http.StatusInternalServerError)},
		{"429", every(4, http.StatusTooManyRequests)},
		{"401", every(3, http.StatusUnauthorized)},
		{"connection cut", func() func(string) int {
			var count atomic.Int64
			return func(string) int {
				if count.Add(1)%5 == 0 {
					panic(http.ErrAbortHandler)
				}
				return 0
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			f.setFail(c.fail())
			s := open(t, f.config(t))
			s.StartRun(recorder.Run{ID: "run_1"})
			recordCalls(s, 0, 12)
			s.FinishRun("run_1", recorder.Finish{})
			f.waitFinished(t)
			if diff := cmp.Diff(wanted(12, "finish run_1"), f.taken()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnknownTokenIsLookedUpOnceAndSentAtOnce(t *testing.T) {
	f := newFake(t)
	var failed atomic.Bool
	f.setFail(func(write string) int {
		if write == "step run_1 0" && !failed.Swap(true) {
			return http.StatusUnauthorized
		}
		return 0
	})
	cfg := f.config(t)
	cfg.RetryMin, cfg.SpoolDir = time.Hour, "" // no second chance
	s := open(t, cfg)
	s.StartRun(recorder.Run{ID: "run_1"})
	recordCalls(s, 0, 1)
	s.FinishRun("run_1", recorder.Finish{})
	f.waitFinished(t)
	if diff := cmp.Diff(wanted(1, "finish run_1"), f.taken()); diff != "" || f.connects != 2 {
		t.Errorf("%d connects %s", f.connects, diff)
	}
}

func TestRestartInTheMiddleLosesNothing(t *testing.T) {
	f := newFake(t)
	s := open(t, f.config(t))
	s.StartRun(recorder.Run{ID: "run_1"})
	for n := range 6 {
		recordCalls(s, 10*n, 10*n+10)
		f.restart()
	}
	s.FinishRun("run_1", recorder.Finish{})
	f.waitFinished(t)
	if diff := cmp.Diff(wanted(60, "finish run_1"), f.taken()); diff != "" {
		t.Error(diff)
	}
}

// TestCallerDoesNotWaitForTheService has a service that answers only once the caller
// has gone on.
func TestCallerDoesNotWaitForTheService(t *testing.T) {
	f := newFake(t)
	release := make(chan struct{})
	f.setFail(func(string) int { <-release; return 0 })
	s := open(t, f.config(t))
	s.StartRun(recorder.Run{ID: "run_1"})
	recordCalls(s, 0, 100)
	close(release)
	s.FinishRun("run_1", recorder.Finish{})
	f.waitFinished(t)
	if diff := cmp.Diff(wanted(100, "finish run_1"), f.taken()); diff != "" {
		t.Error(diff)
	}
}

func TestSlowServiceLosesNothing(t *testing.T) {
	f := newFake(t)
	release := make(chan struct{})
	f.setFail(func(string) int { <-release; return 0 })
	cfg := f.config(t)
	cfg.SendTimeout = 50 * time.Millisecond
	s := open(t, cfg)
	s.StartRun(recorder.Run{ID: "run_1"})
	recordCalls(s, 0, 100)
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !s.chain.spool.Has("run_1") {
		t.Error("nothing was spooled")
	}
	close(release)
	s.FinishRun("run_1", recorder.Finish{})
	f.waitFinished(t)
	if diff := cmp.Diff(wanted(100, "finish run_1"), f.taken()); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedWriteIsDroppedAndMarksTheRun(t *testing.T) {
	for _, spooled := range []bool{false, true} {
		f := newFake(t)
		refuse := func(write string) int {
			if write == "step run_1 2" {
				return http.StatusUnprocessableEntity
			}
			return 0
		}
		f.setFail(refuse)
		if spooled {
			f.setFail(func(string) int { return http.StatusBadGateway })
		}
		s := open(t, f.config(t))
		s.StartRun(recorder.Run{ID: "run_1"})
		recordCalls(s, 0, 3)
		s.FinishRun("run_1", recorder.Finish{})
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.setFail(refuse)
		f.waitFinished(t)
		want := slices.DeleteFunc(wanted(3, "finish run_1 lossy"), func(w string) bool { return w == "step run_1 2" })
		if diff := cmp.Diff(want, f.taken()); diff != "" {
			t.Errorf("spooled %v: %s", spooled, diff)
		}
	}
}

func TestServiceThatTakesNoListsIsAskedOnce(t *testing.T) {
	f := newFake(t)
	f.noLists = true
	s := open(t, f.config(t))
	s.StartRun(recorder.Run{ID: "run_1"})
	for n := range 3 {
		recordCalls(s, 10*n, 10*n+10)
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.FinishRun("run_1", recorder.Finish{})
	f.waitFinished(t)
	if diff := cmp.Diff(wanted(30, "finish run_1"), f.taken()); diff != "" {
		t.Error(diff)
	}
	if f.tries != f.requests+1 {
		t.Errorf("%d requests for %d that were taken", f.tries, f.requests)
	}
}

// TestFullDiskKeepsWhatMatters has a spool that takes next to nothing. The run
// arrives with its start and its end, and says that it is not whole.
func TestFullDiskKeepsWhatMatters(t *testing.T) {
	for name, spoil := range map[string]func(*RecorderConfig){
		"full spool": func(cfg *RecorderConfig) { cfg.SpoolMaxBytes = 1 },
		"no spool":   func(cfg *RecorderConfig) { cfg.SpoolDir = "" },
		"no folder": func(cfg *RecorderConfig) {
			file := filepath.Join(cfg.SpoolDir, "file")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				panic(err)
			}
			cfg.SpoolDir = filepath.Join(file, "spool")
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.setFail(func(string) int { return http.StatusInternalServerError })
			cfg := f.config(t)
			spoil(&cfg)
			s := open(t, cfg)
			s.StartRun(recorder.Run{ID: "run_1"})
			recordCalls(s, 0, 3)
			s.FinishRun("run_1", recorder.Finish{})
			if err := s.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			f.setFail(nil)
			f.waitFinished(t)
			if diff := cmp.Diff([]string{"start run_1", "finish run_1 lossy"}, f.taken()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// refusing is a transport on which nobody listens.
type refusing struct{ at []time.Time }

func (r *refusing) RoundTrip(*http.Request) (*http.Response, error) {
	r.at = append(r.at, time.Now())
	return nil, errors.New("broken pipe")
}

func TestBreakerDoublesItsPauses(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		transport := &refusing{}
		s := NewRecorder(RecorderConfig{SpoolDir: dir, Connect: func(context.Context) (*Client, error) {
			return New(Config{BaseURL: "http://127.0.0.1:1", HTTP: &http.Client{Transport: transport}}), nil
		}})
		s.StartRun(recorder.Run{ID: "run_1"})
		time.Sleep(5 * time.Minute) // of the bubble's clock
		recordCalls(s, 0, 3)        // none of them makes a request of its own
		synctest.Wait()
		closeNow(t, s)
		want := []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 60 * time.Second, 60 * time.Second}
		for i, pause := range want {
			got := transport.at[i+1].Sub(transport.at[i])
			if got < pause*4/5 || got > pause*6/5+time.Second {
				t.Errorf("pause %d was %v, want about %v", i, got, pause)
			}
		}
		if len(transport.at) > 9 {
			t.Errorf("%d requests in five minutes", len(transport.at))
		}
	})
}

func recordForever(dir string) {
	s := NewRecorder(RecorderConfig{SpoolDir: dir, Connect: func(context.Context) (*Client, error) { return nil, errors.New("down") }})
	s.StartRun(recorder.Run{ID: "run_1"})
	out := bufio.NewWriter(os.Stdout)
	for n := 0; ; n++ {
		recordCalls(s, n, n+1)
		if err := s.Flush(context.Background()); err != nil {
			os.Exit(1)
		}
		out.WriteString(strconv.Itoa(n) + "\n")
		out.Flush()
	}
}

func TestKilledProcessLosesNothingThatWasFlushed(t *testing.T) {
	f := newFake(t)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), recordEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	flushed := 0
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if flushed++; flushed == 20 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd.Wait()
	c, _ := f.connect(t.Context())
	if err := Drain(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	got := f.taken()
	if len(got) < 1+2*flushed {
		t.Fatalf("%d writes arrived for %d flushed calls", len(got), flushed)
	}
	if diff := cmp.Diff(wanted(len(got), "")[:len(got)], got); diff != "" {
		t.Error(diff)
	}
}
