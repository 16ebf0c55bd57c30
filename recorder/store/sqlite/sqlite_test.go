package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/recordertest"
	"github.com/bir-run/bir/recorder/store"
	"github.com/bir-run/bir/recorder/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(recordertest.Settle(m)) }

func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return openAt(t, filepath.Join(t.TempDir(), "bir.db"))
	})
}

func TestPathIsTakenLiterally(t *testing.T) {
	name := "a b?mode=memory#x%20.db"
	if runtime.GOOS == "windows" {
		name = "a b#x%20.db"
	}
	path := filepath.Join(t.TempDir(), "new folder", name)
	openAt(t, path)
	if _, err := os.Stat(path + "-wal"); err != nil {
		t.Error(err)
	}
}

func TestFilesAreForTheUserAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here; the home folder's access list decides")
	}
	path := filepath.Join(t.TempDir(), "home", "bir.db")
	openAt(t, path)
	for file, want := range map[string]os.FileMode{
		path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, filepath.Dir(path): 0o700,
	} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", file, got, want)
		}
	}
}

func TestWideModeIsNarrowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	path := filepath.Join(t.TempDir(), "bir.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	openAt(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestReopenedStoreHasEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	run := recorder.Run{ID: recorder.NewID("run"), StartedAt: time.Unix(1, 999999999).UTC()}
	first := openAt(t, path)
	if _, err := first.CreateRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	got, err := openAt(t, path).Run(t.Context(), run.ID) // beside the first one
	if err != nil || !got.Run.StartedAt.Equal(run.StartedAt) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOtherFileIsCalledDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path)
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(path); !strings.HasPrefix(string(data), "this is no") {
		t.Error("the file was changed")
	}
}

func TestDamagedPagesAreReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < len(data); i++ {
		data[i] = 0xee
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

func TestNewerSchemaIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	s := openAt(t, path)
	if _, err := s.write.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path)
	if !errors.Is(err, store.ErrNewer) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

func TestOlderDatabaseIsBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	db, err := sql.Open("sqlite", dsn(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	provider, err := newProvider(db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{
		`INSERT INTO runs (id, framework, input, metadata, state, started_at) VALUES ('run_1', 'mcp', 'look', '{"tier":"standalone"}', 'open', 1)`,
		`INSERT INTO steps VALUES ('step_1', 'run_1', 0, 'tool_selected', 'c', 't', 's', 'u', '{}', '', '', '', '', '', 1, 0)`,
	} {
		if _, err := db.Exec(old); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path)
	usage := map[string]recorder.Usage{"opus": {Input: 1}}
	if err := s.FinishRun(t.Context(), "run_1", recorder.Finish{Usage: usage}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(t.Context(), "run_1")
	if err != nil {
		t.Fatal(err)
	}
	want := recorder.RunWithSteps{
		Run: recorder.Run{
			ID: "run_1", Framework: "mcp", Input: "look", Metadata: recorder.Metadata{Tier: recorder.TierStandalone},
			State: recorder.StateFinished, StartedAt: time.Unix(0, 1).UTC(), StepCount: 1, CallCount: 1, Usage: usage,
		},
		Steps: []recorder.Step{{
			ID: "step_1", Type: recorder.StepSelected, CallID: "c", ToolName: "t", ServerName: "s", UpstreamTool: "u",
			ToolInput: "{}", StartedAt: time.Unix(0, 1).UTC(),
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLogIsWrittenBackWhenItIsQuiet: what is recorded goes to the log alone at first.
func TestLogIsWrittenBackWhenItIsQuiet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bir.db")
	s := openAt(t, path)
	s.checkpoint.quiet = time.Hour // the test says when it is quiet
	if _, err := s.CreateRun(t.Context(), recorder.Run{ID: "run_1"}); err != nil {
		t.Fatal(err)
	}
	const size = 6 << 20 // more than SQLite's own threshold
	big := recorder.Step{ID: "step_1", Type: recorder.StepResponse, ToolOutput: strings.Repeat("x", size)}
	if err := s.AddSteps(t.Context(), "run_1", big); err != nil {
		t.Fatal(err)
	}
	if got := fileSize(t, path); got > size {
		t.Errorf("%d bytes are in the file already", got)
	}
	s.checkpoint.run()
	if got := fileSize(t, path); got < size {
		t.Errorf("%d bytes are in the file only", got)
	}
	s.checkpoint.stop()
	if s.checkpoint.begin() {
		t.Error("one begins after the store was closed")
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestFullStoreTakesNothingHalf(t *testing.T) {
	s := openAt(t, filepath.Join(t.TempDir(), "bir.db"))
	run := recorder.Run{ID: recorder.NewID("run"), StartedAt: time.Now()}
	if _, err := s.CreateRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	limitPages(t, s.write, "page_count") // no page more than now

	big := recorder.Step{ID: recorder.NewID("step"), Type: recorder.StepResponse, ToolOutput: strings.Repeat("x", 1<<20)}
	if err := s.AddSteps(t.Context(), run.ID, big); !errors.Is(err, store.ErrFull) {
		t.Fatalf("got %v", err)
	}
	if got, err := s.Run(t.Context(), run.ID); err != nil || len(got.Steps) != 0 {
		t.Errorf("%d steps, %v", len(got.Steps), err)
	}
	limitPages(t, s.write, "4294967294")
	if err := s.AddSteps(t.Context(), run.ID, big); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// limitPages makes the database as full as a disk would.
func limitPages(t *testing.T, db *sql.DB, limit string) {
	t.Helper()
	if limit == "page_count" {
		if err := db.QueryRow(`PRAGMA page_count`).Scan(&limit); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(`PRAGMA max_page_count = ` + limit); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkAddStep adds one step at a time, which is what a slow conversation does.
func BenchmarkAddStep(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "bir.db"))
	run := recorder.Run{ID: recorder.NewID("run"), StartedAt: time.Now()}
	if _, err := s.CreateRun(b.Context(), run); err != nil {
		b.Fatal(err)
	}
	output := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 2000) + `"}]}`
	for i := 0; b.Loop(); i++ {
		step := recorder.Step{ID: recorder.NewID("step"), StepIndex: i, Type: recorder.StepResponse, ToolOutput: output}
		if err := s.AddSteps(b.Context(), run.ID, step); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
