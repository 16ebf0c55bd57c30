package sqlite

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/store"
)

// noisy opens a store for which it is never quiet, with a run.
func noisy(t testing.TB, path string) (*Store, string) {
	t.Helper()
	s := openAt(t, path)
	s.pending.quiet = time.Hour
	run := recorder.Run{ID: recorder.NewID("run"), StartedAt: time.Unix(1, 0).UTC()}
	if _, err := s.CreateRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return s, run.ID
}

// call makes the two rows of a call.
func call(index int) []recorder.Step {
	return []recorder.Step{
		{ID: recorder.NewID("step"), StepIndex: index, Type: recorder.StepSelected, ToolName: "echo", ToolInput: `{"n":` + strconv.Itoa(index) + `}`, StartedAt: time.Unix(2, 3).UTC()},
		{ID: recorder.NewID("step"), StepIndex: index + 1, Type: recorder.StepResponse, ToolName: "echo", ToolOutput: "größe \x00 \xff", Status: recorder.StatusOK, DurationMS: 1.5, Attempts: 2},
	}
}

func add(t testing.TB, s *Store, runID string, steps ...recorder.Step) {
	t.Helper()
	if err := s.AddSteps(t.Context(), runID, steps...); err != nil {
		t.Fatal(err)
	}
}

func stepsOf(t testing.TB, s *Store, runID string) []recorder.Step {
	t.Helper()
	got, err := s.Run(t.Context(), runID)
	if err != nil {
		t.Fatal(err)
	}
	return got.Steps
}

// tableRows counts what is in the table, whatever waits.
func tableRows(t testing.TB, s *Store) (n int) {
	t.Helper()
	if err := s.read.QueryRow(`SELECT count(*) FROM steps`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// died is the folder as a process that dies now leaves it.
func died(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "bir.db")
	for _, suffix := range []string{"", "-wal", "-steps"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func TestABurstIsNotedAndBookedWhenSomebodyAsks(t *testing.T) {
	s, run := noisy(t, filepath.Join(t.TempDir(), "bir.db"))
	var want []recorder.Step
	for i := range 50 {
		steps := call(2 * i)
		add(t, s, run, steps...)
		want = append(want, steps...)
	}
	if n := tableRows(t, s); n != 0 {
		t.Errorf("%d rows are in the table already", n)
	}
	page, err := s.ListRuns(t.Context(), store.RunQuery{Text: "echo"})
	if err != nil || len(page.Runs) != 1 || page.Runs[0].StepCount != 100 || page.Runs[0].CallCount != 50 {
		t.Errorf("%+v, %v", page, err)
	}
	if diff := cmp.Diff(want, stepsOf(t, s, run)); diff != "" {
		t.Error(diff)
	}
	if s.pending.journal.size != 0 || fileSize(t, s.pending.journal.path) != 0 {
		t.Error("the journal was not emptied")
	}
}

func TestWhatWasAnsweredOutlivesTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	s, run := noisy(t, path)
	first, second := call(0), call(2)
	add(t, s, run, first...)
	add(t, s, run, second...)
	want := append(first, second...)
	left := died(t, path)
	if diff := cmp.Diff(want, stepsOf(t, openAt(t, left), run)); diff != "" {
		t.Error(diff)
	}

	// The same, of one that died between booking and emptying.
	journal, err := os.ReadFile(s.pending.journal.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.book(t.Context()); err != nil {
		t.Fatal(err)
	}
	left = died(t, path)
	if err := os.WriteFile(left+"-steps", journal, 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, stepsOf(t, openAt(t, left), run)); diff != "" {
		t.Error(diff)
	}
}

func TestAListThatIsNotWholeIsLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	s, run := noisy(t, path)
	first, second := call(0), call(2)
	add(t, s, run, first...)
	whole := s.pending.journal.size
	add(t, s, run, second...)
	size := s.pending.journal.size
	for _, damage := range []func(journal []byte) []byte{
		func(j []byte) []byte { return j[:size-1] },
		func(j []byte) []byte { return j[:whole+3] },
		func(j []byte) []byte { j[size-2] ^= 1; return j },
		func(j []byte) []byte { j[whole+3] = 0xff; return j },
	} {
		left := died(t, path)
		journal, err := os.ReadFile(left + "-steps")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(left+"-steps", damage(journal), 0o600); err != nil {
			t.Fatal(err)
		}
		next := openAt(t, left)
		add(t, next, run, second...)
		if diff := cmp.Diff(append(first[:2:2], second...), stepsOf(t, next, run)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAJournalWithoutAHeadIsEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	if err := os.WriteFile(path+"-steps", []byte(journalHead[:3]), 0o600); err != nil {
		t.Fatal(err)
	}
	s, run := noisy(t, path)
	add(t, s, run, call(0)...)
	if n := len(stepsOf(t, s, run)); n != 2 {
		t.Errorf("%d steps", n)
	}
}

func TestAJournalOfANewerVersionIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	newer := journalHead[:len(journalHead)-1] + "\x02 and more"
	if err := os.WriteFile(path+"-steps", []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, store.ErrNewer) {
		t.Errorf("got %v", err)
	}
	if data, err := os.ReadFile(path + "-steps"); err != nil || string(data) != newer {
		t.Errorf("it is %q now, %v", data, err)
	}
}

// TestAJournalOfAnotherDatabaseBooksNothing: its runs are not there.
func TestAJournalOfAnotherDatabaseBooksNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	s, run := noisy(t, path)
	add(t, s, run, call(0)...)
	left := died(t, path)
	for _, suffix := range []string{"", "-wal"} {
		if err := os.Remove(left + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if n := tableRows(t, openAt(t, left)); n != 0 {
		t.Errorf("%d rows", n)
	}
}

func TestWhatWaitsIsBookedWhenItIsQuietAndAtTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	s, run := noisy(t, path)
	add(t, s, run, call(0)...)
	s.bookQuietly()
	if n := tableRows(t, s); n != 2 {
		t.Errorf("%d rows are in the table", n)
	}
	add(t, s, run, call(2)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-steps"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal is still there: %v", err)
	}
	if err := s.AddSteps(t.Context(), run, call(4)...); err == nil {
		t.Error("a closed store takes steps")
	}
	if n := tableRows(t, openAt(t, path)); n != 4 {
		t.Errorf("%d rows are in the table at the end", n)
	}
}

func TestTheJournalIsBounded(t *testing.T) {
	s, run := noisy(t, filepath.Join(t.TempDir(), "bir.db"))
	s.pending.maxBytes, s.pending.maxSteps = 64<<10, 50
	big := call(0)[1]
	big.ToolOutput = strings.Repeat("x", 10<<10)
	for range 20 {
		big.ID = recorder.NewID("step")
		add(t, s, run, big)
		if s.pending.journal.size > s.pending.maxBytes {
			t.Fatalf("it has %d bytes", s.pending.journal.size)
		}
	}
	for i := range 60 {
		add(t, s, run, append(call(4*i), call(4*i+2)...)...)
		if len(s.pending.ids) > s.pending.maxSteps {
			t.Fatalf("it has %d steps", len(s.pending.ids))
		}
	}
	if n := len(stepsOf(t, s, run)); n != 20+60*4 {
		t.Errorf("%d steps", n)
	}
}

func TestADeletedRunTakesWhatWaitsAlong(t *testing.T) {
	s, run := noisy(t, filepath.Join(t.TempDir(), "bir.db"))
	steps := call(0)
	add(t, s, run, steps...)
	if err := s.DeleteRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := s.AddSteps(t.Context(), run, call(2)...); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if n := tableRows(t, s); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

func TestAStepThatTheTableRefusesIsRefusedAtOnce(t *testing.T) {
	s, run := noisy(t, filepath.Join(t.TempDir(), "bir.db"))
	good, bad := call(0), call(2)
	add(t, s, run, good...)
	bad[1].Type = "guess"
	if err := s.AddSteps(t.Context(), run, bad...); err == nil {
		t.Error("it was taken")
	}
	if diff := cmp.Diff(good, stepsOf(t, s, run)); diff != "" {
		t.Error(diff)
	}
}

// FuzzReadList: what was written comes back, and what was not does no harm.
func FuzzReadList(f *testing.F) {
	f.Add("run_1", "text", int64(-3), 1.5, []byte(nil))
	f.Add("", "\xff\x00", int64(math.MinInt64), math.Inf(1), []byte("\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, run, text string, number int64, float float64, other []byte) {
		step := recorder.Step{
			ID: text, StepIndex: int(number), Type: recorder.StepType(text), CallID: run, ToolName: text, ServerName: run,
			UpstreamTool: text, ToolInput: run, ToolOutput: text, ToolError: run, Context: text, Answer: run, Status: recorder.Status(text),
			StartedAt: fromNanos(number), DurationMS: float, AskedInput: run, AgentID: text, AgentType: run, Attempts: int(-number),
		}
		j := journal{path: filepath.Join(t.TempDir(), "steps")}
		want := []recorder.Step{step, {}}
		if err := j.add(run, want); err != nil {
			t.Fatal(err)
		}
		end, err := j.each(func(runID string, got []recorder.Step) error {
			if diff := cmp.Diff(want, got, cmp.Comparer(func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })); runID != run || diff != "" {
				t.Errorf("run %q: %s", runID, diff)
			}
			return nil
		})
		if err != nil || end != j.size {
			t.Errorf("%d of %d, %v", end, j.size, err)
		}
		if err := j.close(); err != nil {
			t.Error(err)
		}
		if _, steps, ok := readList(string(other)); ok && len(steps) > len(other) {
			t.Errorf("%d steps of %d bytes", len(steps), len(other))
		}
	})
}
