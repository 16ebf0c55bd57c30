package transcript

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
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

func everything(string, time.Time) bool { return true }

func TestUsageEqualsTheClientsOwn(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixture(t, "sample"), "expected-usage.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected struct {
		Usage map[string]struct {
			Input         int64 `json:"input_tokens"`
			Output        int64 `json:"output_tokens"`
			CacheCreation int64 `json:"cache_creation_input_tokens"`
			CacheRead     int64 `json:"cache_read_input_tokens"`
		} `json:"byMessageIdOnce_allTranscripts"`
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	want := map[string]recorder.Usage{}
	for model, u := range expected.Usage {
		want[model] = recorder.Usage(u)
	}
	l := Open(Mark{Path: session(t, "sample")})
	if err := l.Read(); err != nil {
		t.Fatal(err)
	}
	got, measured := l.Usage(everything)
	if diff := cmp.Diff(want, got); diff != "" || !measured {
		t.Errorf("measured %v, usage (-the client's +ours):\n%s", measured, diff)
	}
}

const (
	one  = `{"type":"assistant","timestamp":"2026-11-30T10:00:00Z","message":{"id":"m1","model":"big","usage":{"input_tokens":1,"output_tokens":10}}}` + "\n"
	two  = `{"type":"assistant","timestamp":"2026-11-30T11:00:00Z","message":{"id":"m2","model":"big","usage":{"input_tokens":2,"output_tokens":20}}}` + "\n"
	fake = `{"type":"assistant","timestamp":"2026-11-30T11:00:00Z","message":{"id":"m3","model":"<synthetic>","usage":{"input_tokens":7}}}` + "\n"
)

var between = time.Date(2026, 11, 30, 10, 30, 0, 0, time.UTC)

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

func usage(t *testing.T, l *Ledger) (map[string]recorder.Usage, bool) {
	t.Helper()
	if err := l.Read(); err != nil {
		t.Fatal(err)
	}
	return l.Usage(everything)
}

func TestEachTurnGetsItsOwnUsage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, one+one)
	l := Open(Take(path, between))
	appendTo(t, path, two+fake+two[:len(two)/2]) // the last line is still being written
	for range 2 {
		got, measured := usage(t, l)
		if diff := cmp.Diff(map[string]recorder.Usage{"big": {Input: 2, Output: 20}}, got); diff != "" || !measured {
			t.Fatalf("measured %v (-want +got):\n%s", measured, diff)
		}
		appendTo(t, path, two[len(two)/2:])
	}
}

func TestCopiedLinesOfAForkAreNotCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fork.jsonl")
	l := Open(Take(path, between))
	write(t, path, one+two)
	got, measured := usage(t, l)
	if diff := cmp.Diff(map[string]recorder.Usage{"big": {Input: 2, Output: 20}}, got); diff != "" || !measured {
		t.Fatalf("measured %v (-want +got):\n%s", measured, diff)
	}
}

func TestMissingOrReplacedTranscriptIsUnmeasured(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	l := Open(Take(path, time.Time{}))
	if _, measured := usage(t, l); measured {
		t.Error("measured although the file is missing")
	}
	write(t, path, one+two)
	if _, measured := usage(t, l); !measured {
		t.Error("unmeasured although the file is there")
	}
	marked := Take(path, between)
	write(t, path, one) // shorter: another file under the name
	if _, measured := usage(t, l); measured {
		t.Error("measured a file that was replaced")
	}
	for name, text := range map[string]string{"shorter": one, "another": fake + two + two + two} {
		write(t, path, text)
		if _, measured := usage(t, Open(marked)); measured {
			t.Errorf("after a crash: measured a file that is %s", name)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, measured := usage(t, Open(marked)); measured {
		t.Error("measured a file that was removed")
	}
}

func TestLongLinesAreReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	long := strings.Replace(one, `"id"`, `"pad":"`+strings.Repeat("x", 1<<20)+`","id"`, 1)
	write(t, path, long+two)
	got, measured := usage(t, Open(Mark{Path: path}))
	if diff := cmp.Diff(map[string]recorder.Usage{"big": {Input: 3, Output: 30}}, got); diff != "" || !measured {
		t.Fatalf("measured %v (-want +got):\n%s", measured, diff)
	}
}

func TestReasoningAndAnswerOfARealSession(t *testing.T) {
	l := Open(Mark{Path: session(t, "sample")})
	if err := l.Read(); err != nil {
		t.Fatal(err)
	}
	if l.Answer() != "All done." || l.Version() != "2.1.332" {
		t.Errorf("answer %q, version %q", l.Answer(), l.Version())
	}
	said := l.Said()
	for id, want := range map[string]string{
		"toolu_000000000000000000000001": "I should say hi first.\nI will run two tools.",
		"toolu_000000000000000000000002": "I should say hi first.\nI will run two tools.",
		"toolu_000000000000000000000003": "",
		"toolu_000000000000000000000007": "",
	} {
		if got, ok := said[id]; got != want || !ok {
			t.Errorf("%s: %q, known %v", id, got, ok)
		}
	}
	if again := l.Said(); len(again) != 0 {
		t.Errorf("told twice: %v", again)
	}
}

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if len(raw) > 0 {
		if err := json.Compact(&b, raw); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestCallsOfARealSession(t *testing.T) {
	l := Open(Mark{Path: session(t, "sample")})
	if err := l.Read(); err != nil {
		t.Fatal(err)
	}
	calls, err := l.Calls(func(c Call) bool { return c.ID != "toolu_000000000000000000000001" })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range calls {
		result := compact(t, c.Result)
		got = append(got, c.Tool+" "+c.Agent+" "+compact(t, c.Input)+" "+result[:min(50, len(result))]+" "+c.Error)
		if c.Ended.Before(c.Began) {
			t.Errorf("%s ended before it began", c.ID)
		}
	}
	want := []string{
		`mcp__everything__echo  {"message":"hello mcp"} [{"type":"text","text":"Echo: hello mcp"}] `,
		`Bash  {"command":"cat /nope","description":"Read a missing file"}  Exit code 1` + "\ncat: /nope: No such file or directory",
		`mcp__everything__get-structured-content  {"location":"Chicago"} "{\"temperature\":36,\"conditions\":\"Light rain / `,
		`mcp__everything__get-sum  {"a":1,"b":2} [{"type":"text","text":"The sum of 1 and 2 is 3."} `,
	}
	if diff := cmp.Diff(want, got[:4]); diff != "" || len(got) != 6 {
		t.Errorf("%d calls (-want +got):\n%s", len(got), diff)
	}
}

func TestTurnIsFoundByItsPrompt(t *testing.T) {
	path := session(t, "sample")
	turn, ok := Find(path, "00000000-0000-4000-8000-000000000002")
	if !ok || turn.Prompt != "Please greet the world" {
		t.Fatalf("%+v, %v", turn, ok)
	}
	l := Open(turn.Mark)
	if got, measured := usage(t, l); !measured || len(got) != 2 {
		t.Errorf("measured %v, %v", measured, got)
	}
	fork, ok := Find(filepath.Join(fixture(t, "forked"), "fork.jsonl"), "00000000-0000-4000-8000-000000000002")
	if !ok || fork.Prompt != "and again" {
		t.Errorf("of the fork: %+v, %v", fork, ok)
	}
	if got, _ := usage(t, Open(fork.Mark)); got["claude-opus-5-5"].Output != 20 {
		t.Errorf("of the fork: %v", got)
	}
	if _, ok := Find(path, "another"); ok {
		t.Error("found a prompt that is not there")
	}
	if _, ok := Find(filepath.Join(t.TempDir(), "none"), "x"); ok {
		t.Error("found a prompt in a file that is not there")
	}
}
