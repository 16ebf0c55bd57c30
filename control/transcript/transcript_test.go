package transcript

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fixture finds a recorded session of the real client, which lies beside the
// source tree where there is one.
func fixture(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "fixtures", "claude-code", "sessions", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("the recorded sessions of the real client are not here")
	}
	return path
}

// session copies a recorded session into a folder laid out as the client does.
func session(t *testing.T, name string) string {
	t.Helper()
	from, dir := fixture(t, name), t.TempDir()
	copyFile(t, filepath.Join(from, "transcript.jsonl"), filepath.Join(dir, "s.jsonl"))
	sub := filepath.Join(dir, "s", "subagents")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(from, "subagent-transcript.jsonl"), filepath.Join(sub, "agent-1.jsonl"))
	return filepath.Join(dir, "s.jsonl")
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestUsageEqualsTheClientsOwn(t *testing.T) {
	path := session(t, "sample")
	text, err := os.ReadFile(filepath.Join(fixture(t, "sample"), "expected-usage.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Usage map[string]Usage `json:"byMessageIdOnce_allTranscripts"`
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	// A new session: at its first prompt there is no file yet.
	l := Open(filepath.Join(t.TempDir(), "s.jsonl"))
	mark, err := l.Mark(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	l.path = path
	got, measured, err := l.Since(mark)
	if err != nil || !measured {
		t.Fatalf("measured %v, %v", measured, err)
	}
	if diff := cmp.Diff(expected.Usage, got); diff != "" {
		t.Errorf("usage (-the client's +ours):\n%s", diff)
	}
}

const (
	one  = `{"type":"assistant","timestamp":"2026-11-30T10:00:00Z","message":{"id":"m1","model":"big","usage":{"input_tokens":1,"output_tokens":10}}}` + "\n"
	two  = `{"type":"assistant","timestamp":"2026-11-30T11:00:00Z","message":{"id":"m2","model":"big","usage":{"input_tokens":2,"output_tokens":20}}}` + "\n"
	fake = `{"type":"assistant","timestamp":"2026-11-30T11:00:00Z","message":{"id":"m3","model":"<synthetic>","usage":{"input_tokens":7}}}` + "\n"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestEachRunGetsItsOwnUsage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, one+one)
	l := Open(path)
	mark, err := l.Mark(time.Date(2026, 11, 30, 10, 30, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, two+fake+two[:len(two)/2]) // the last line is still being written
	for range 2 {
		got, measured, err := l.Since(mark)
		if diff := cmp.Diff(map[string]Usage{"big": {Input: 2, Output: 20}}, got); diff != "" || !measured || err != nil {
			t.Fatalf("measured %v, %v (-want +got):\n%s", measured, err, diff)
		}
		appendTo(t, path, two[len(two)/2:])
	}
}

func TestCopiedLinesOfAForkAreNotCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fork.jsonl")
	l := Open(path)
	mark, err := l.Mark(time.Date(2026, 11, 30, 10, 30, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, one+two)
	got, measured, err := l.Since(mark)
	if diff := cmp.Diff(map[string]Usage{"big": {Input: 2, Output: 20}}, got); diff != "" || !measured || err != nil {
		t.Fatalf("measured %v, %v (-want +got):\n%s", measured, err, diff)
	}
}

func TestMissingOrReplacedTranscriptIsUnmeasured(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	l := Open(path)
	mark, err := l.Mark(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if _, measured, err := l.Since(mark); measured || err != nil {
		t.Errorf("missing: measured %v, %v", measured, err)
	}
	write(t, path, one+two)
	if _, measured, _ := l.Since(mark); !measured {
		t.Error("unmeasured although the file is there")
	}
	write(t, path, one) // shorter: another file under the name
	if _, measured, err := l.Since(mark); measured || err != nil {
		t.Errorf("replaced: measured %v, %v", measured, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, measured, err := l.Since(mark); measured || err != nil {
		t.Errorf("removed: measured %v, %v", measured, err)
	}
}

func TestLongLinesAreReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	long := strings.Replace(one, `"id"`, `"pad":"`+strings.Repeat("x", 1<<20)+`","id"`, 1)
	write(t, path, long+two)
	l := Open(path)
	got, measured, err := l.Since(Mark{seen: map[string]bool{}})
	if diff := cmp.Diff(map[string]Usage{"big": {Input: 3, Output: 30}}, got); diff != "" || !measured || err != nil {
		t.Fatalf("measured %v, %v (-want +got):\n%s", measured, err, diff)
	}
}

func TestLastTurnOfARealSession(t *testing.T) {
	turn, err := Last(session(t, "sample"))
	if err != nil {
		t.Fatal(err)
	}
	if turn.Answer == "" {
		t.Error("no answer")
	}
	if _, ok := turn.Reasoning["toolu_000000000000000000000002"]; !ok {
		t.Errorf("no reasoning for the echo call: %v", turn.Reasoning)
	}
	if turn.Reasoning["toolu_000000000000000000000001"] == "" {
		t.Errorf("the text before the first call is missing: %v", turn.Reasoning)
	}
}

func TestTranscriptThatIsNotThereGivesAnEmptyTurn(t *testing.T) {
	turn, err := Last(filepath.Join(t.TempDir(), "none.jsonl"))
	if err != nil || turn.Answer != "" || len(turn.Reasoning) != 0 {
		t.Errorf("%+v, %v", turn, err)
	}
}
