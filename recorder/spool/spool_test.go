package spool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/recorder/recordertest"
)

// writerEnv turns the test binary into a process that appends until it is killed.
const writerEnv = "BIR_TEST_SPOOL_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		writeForever(dir)
	}
	goleak.VerifyTestMain(recordertest.Settle(m))
}

func writeForever(dir string) {
	s := New(Config{Dir: dir})
	filler := strings.Repeat("x", 30_000)
	for n := 0; ; n++ {
		if err := s.Append("run_1", [][]byte{fmt.Appendf(nil, "%d %s", n, filler)}, false); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

// collect drains everything and returns "run record" in the order it came.
func collect(t *testing.T, s *Spool) []string {
	t.Helper()
	var got []string
	err := s.Drain(t.Context(), func(_ context.Context, run string, record []byte) error {
		if record == nil {
			record = []byte("damaged")
		}
		got = append(got, run+" "+string(record))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func add(t *testing.T, s *Spool, run string, records ...string) {
	t.Helper()
	var batch [][]byte
	for _, r := range records {
		batch = append(batch, []byte(r))
	}
	if err := s.Append(run, batch, false); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsComeBackInOrderAndTheFileGoes(t *testing.T) {
	s := New(Config{Dir: filepath.Join(t.TempDir(), "spool")})
	if got := collect(t, s); got != nil {
		t.Errorf("an unused spool drains %v", got)
	}
	add(t, s, "run_2", "c")
	add(t, s, "run_1", "a", "b")
	add(t, s, "run_2", "d")
	info, err := os.Stat(s.path("run_1", logExt))
	if err != nil || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if diff := cmp.Diff([]string{"run_1 a", "run_1 b", "run_2 c", "run_2 d"}, collect(t, s)); diff != "" {
		t.Error(diff)
	}
	if s.Has("run_1") || s.Has("run_2") {
		t.Error("a drained file is still there")
	}
}

func TestStoppedDrainGoesOnWhereItWas(t *testing.T) {
	s := New(Config{Dir: t.TempDir()})
	add(t, s, "run_1", "a", "b", "c")
	down := errors.New("down")
	err := s.Drain(t.Context(), func(_ context.Context, _ string, record []byte) error {
		if string(record) == "b" {
			return down
		}
		return nil
	})
	if !errors.Is(err, down) {
		t.Fatalf("Drain: %v", err)
	}
	add(t, s, "run_1", "d")
	if diff := cmp.Diff([]string{"run_1 b", "run_1 c", "run_1 d"}, collect(t, s)); diff != "" {
		t.Error(diff)
	}
	add(t, s, "run_1", "e")
	if diff := cmp.Diff([]string{"run_1 e"}, collect(t, s)); diff != "" {
		t.Errorf("the old position outlived its file: %s", diff)
	}
}

func TestRecordsThatComeWhileDrainingAreDrained(t *testing.T) {
	s := New(Config{Dir: t.TempDir()})
	add(t, s, "run_1", "a")
	var got []string
	err := s.Drain(t.Context(), func(_ context.Context, run string, record []byte) error {
		if string(record) == "a" {
			add(t, s, "run_1", "b")
			add(t, s, "run_0", "c")
		}
		got = append(got, run+" "+string(record))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"run_1 a", "run_1 b", "run_0 c"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyOneDrainsAtATime(t *testing.T) {
	dir := t.TempDir()
	s := New(Config{Dir: dir})
	add(t, s, "run_1", "a")
	err := s.Drain(t.Context(), func(ctx context.Context, _ string, _ []byte) error {
		if err := New(Config{Dir: dir}).Drain(ctx, nil); !errors.Is(err, ErrBusy) {
			t.Errorf("a second drain: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDamageIsToldApart(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(b []byte) []byte
		more   bool
		want   []string
	}{
		{"torn end", func(b []byte) []byte { return b[:len(b)-3] }, false, []string{"run_1 one"}},
		{"torn end, then more", func(b []byte) []byte { return b[:len(b)-3] }, true, []string{"run_1 one", "run_1 damaged", "run_1 more"}},
		{"end of line lost", func(b []byte) []byte { return b[:len(b)-1] }, true, []string{"run_1 one", "run_1 two", "run_1 more"}},
		{"flipped bit", func(b []byte) []byte { b[10] ^= 1; return b }, false, []string{"run_1 damaged", "run_1 two"}},
		{"zeroes", func(b []byte) []byte { return append(b, make([]byte, 9)...) }, true, []string{"run_1 one", "run_1 two", "run_1 damaged", "run_1 more"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(Config{Dir: t.TempDir()})
			add(t, s, "run_1", "one", "two")
			path := s.path("run_1", logExt)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.more {
				add(t, s, "run_1", "more")
			}
			if diff := cmp.Diff(c.want, collect(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFullSpoolTakesOnlyEssentials(t *testing.T) {
	s := New(Config{Dir: t.TempDir(), MaxBytes: 30})
	add(t, s, "run_1", "0123456789")
	for _, run := range []string{"run_1", "run_2"} {
		if err := s.Append(run, [][]byte{[]byte("0123456789")}, false); !errors.Is(err, ErrFull) {
			t.Errorf("%s: Append = %v, want ErrFull", run, err)
		}
	}
	if err := s.Append("run_1", [][]byte{[]byte("end of the run")}, true); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"run_1 0123456789", "run_1 end of the run"}, collect(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestFailedWriteLeavesNoHalfRecord(t *testing.T) {
	s := New(Config{Dir: t.TempDir()})
	add(t, s, "run_1", "a")
	full := errors.New("no space left")
	s.write = func(f io.Writer, b []byte) error {
		if _, err := f.Write(b[:len(b)/2]); err != nil {
			return err
		}
		return full
	}
	if err := s.Append("run_1", [][]byte{[]byte("b")}, false); !errors.Is(err, full) {
		t.Fatalf("Append: %v", err)
	}
	s.write = writeAll
	add(t, s, "run_1", "c")
	if diff := cmp.Diff([]string{"run_1 a", "run_1 c"}, collect(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestHostileInputIsRefused(t *testing.T) {
	s := New(Config{Dir: t.TempDir()})
	for _, run := range []string{"", "..", "../x", "a/b", `a\b`, "a.b", strings.Repeat("a", 129), "a\x00"} {
		if err := s.Append(run, nil, false); err == nil {
			t.Errorf("Append(%q) is taken", run)
		}
	}
	if err := s.Append("run_1", [][]byte{[]byte("a\nb")}, false); err == nil {
		t.Error("a record with a newline is taken")
	}
}

// TestKilledWriterLosesNothingItWasPromised kills a process in the middle of its
// appends, several times, and holds that what was acknowledged is there, in order.
func TestKilledWriterLosesNothingItWasPromised(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	for round := range 3 {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		promised := -1
		lines := bufio.NewScanner(out)
		for promised < 5*(round+1) && lines.Scan() {
			if promised, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatal(lines.Text())
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // what it still said before it died
			promised, _ = strconv.Atoi(lines.Text())
		}
		cmd.Wait()
		got := collect(t, New(Config{Dir: dir}))
		if len(got) < promised+1 {
			t.Fatalf("%d records came back, %d were promised", len(got), promised+1)
		}
		for i, record := range got {
			if !strings.HasPrefix(record, fmt.Sprintf("run_1 %d xxx", i)) {
				t.Fatalf("record %d is %.40s", i, record)
			}
		}
	}
}

// TestHammer has several spools on one folder append and drain at once; each has
// its own file handles, as processes do.
func TestHammer(t *testing.T) {
	const runs, records = 4, 60
	dir := t.TempDir()
	var mu sync.Mutex // guards next, the number that each run sends next
	next := map[string]int{}
	send := func(_ context.Context, run string, record []byte) error {
		mu.Lock()
		defer mu.Unlock()
		if string(record) != strconv.Itoa(next[run]) {
			return fmt.Errorf("%s sends %s after %d records", run, record, next[run])
		}
		next[run]++
		return nil
	}
	start := make(chan struct{})
	var wg sync.WaitGroup
	for n := range runs {
		wg.Go(func() {
			<-start
			s := New(Config{Dir: dir})
			for i := range records {
				if err := s.Append(fmt.Sprintf("run_%d", n), [][]byte{[]byte(strconv.Itoa(i))}, false); err != nil {
					t.Error(err)
				}
				if err := s.Drain(t.Context(), send); err != nil && !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
			}
		})
	}
	close(start)
	wg.Wait()
	if err := New(Config{Dir: dir}).Drain(t.Context(), send); err != nil {
		t.Fatal(err)
	}
	for n := range runs {
		if run := fmt.Sprintf("run_%d", n); next[run] != records {
			t.Errorf("%s sent %d records, want %d", run, next[run], records)
		}
	}
}
