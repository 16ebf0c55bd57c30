package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bir-run/bir/recorder"
)

func TestRunArrivesAsTwoRowsACall(t *testing.T) {
	f := newFake(t)
	s := open(t, f.config(t))
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.StartRun(recorder.Run{ID: "run_1", Framework: "mcp", Input: "look", StepCount: 4, StartedAt: started})
	s.RecordCall("run_1", recorder.Call{
		ID: "toolu_1", ServerName: "my fleet", ToolName: "read.file", Args: json.RawMessage(`{"n":1.0}`), StartedAt: started,
		Result: json.RawMessage(`{"isError":true}`), Error: "no", Status: recorder.StatusToolError, Duration: 1500 * time.Microsecond,
	})
	s.RecordCall("run_1", recorder.Call{ServerName: "a", ToolName: "b", Error: "gone", Status: recorder.StatusNoAnswer})
	s.FinishRun("run_1", recorder.Finish{Output: "done"})
	f.waitFinished(t)

	row := recorder.Step{CallID: "toolu_1", ToolName: "mcp__my_fleet__read_file", ServerName: "my fleet", UpstreamTool: "read.file", StartedAt: started}
	selected, response := row, row
	selected.StepIndex, selected.Type, selected.ToolInput = 4, recorder.StepSelected, `{"n":1.0}`
	response.StepIndex, response.Type, response.ToolOutput = 5, recorder.StepResponse, `{"isError":true}`
	response.ToolError, response.Status, response.DurationMS = "no", recorder.StatusToolError, 1.5
	f.mu.Lock()
	defer f.mu.Unlock()
	got := slices.Clone(f.steps)
	for i := range got {
		if !strings.HasPrefix(got[i].ID, "step_") {
			t.Errorf("step id %q", got[i].ID)
		}
		got[i].ID = ""
	}
	if diff := cmp.Diff([]recorder.Step{selected, response}, got[:2]); diff != "" {
		t.Error(diff)
	}
	if got[2].CallID == "" || got[2].CallID != got[3].CallID || got[3].ToolError != "gone" || got[3].StepIndex != 7 {
		t.Errorf("a call without an id became %+v", got[2:])
	}
	if got[4].Type != recorder.StepAnswer || got[4].Answer != "done" || got[4].StepIndex != 8 || got[4].StartedAt.IsZero() {
		t.Errorf("the answer became %+v", got[4])
	}
	if f.ends[0].Output != "done" || f.ends[0].FinishedAt.IsZero() || f.ends[0].Lossy {
		t.Errorf("the run ended with %+v", f.ends[0])
	}
}

func TestSecretsNeverLeaveTheProcess(t *testing.T) {
	secrets := []string{"hunter2", "sk-" + "a1b2c3d4e5f6g7", "Zm9vYmFyCg"}
	for _, down := range []bool{false, true} {
		f := newFake(t)
		cfg := f.config(t)
		cfg.MaxPayloadBytes = 4096
		if down {
			f.setFail(func(string) int { return http.StatusServiceUnavailable })
		}
		s := NewRecorder(cfg)
		s.StartRun(recorder.Run{ID: "run_1", Input: "use password=hunter2", Metadata: recorder.Metadata{
			CWD:     "/home/ada",
			Servers: map[string]recorder.Server{"a": {Command: []string{"npx", "--api-key", "hunter2", secrets[1]}}},
		}})
		s.RecordCall("run_1", recorder.Call{
			Args:   json.RawMessage(`{"password":"hunter2","env":{"X":"Zm9vYmFyCg"}}`),
			Result: json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 4000) + " " + secrets[1] + " " + strings.Repeat("y", 4000) + `"}]}`),
			Error:  "refused: token=hunter2",
			Asked:  json.RawMessage(`{"password":"hunter2","more":"` + strings.Repeat("z", 9000) + `"}`), Context: "I sign in with password=hunter2.",
		})
		s.FinishRun("run_1", recorder.Finish{Output: "it was " + secrets[1]})
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		seen := f.raw.String()
		if files, _ := filepath.Glob(filepath.Join(cfg.SpoolDir, "*.log")); down && len(files) == 1 {
			text, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			seen = string(text)
		}
		for _, secret := range append(secrets, "a1b2c3") {
			if strings.Contains(seen, secret) {
				t.Errorf("down %v: %s got out", down, secret)
			}
		}
		if !strings.Contains(seen, "redacted") || !strings.Contains(seen, "truncated") {
			t.Errorf("down %v: this test sees nothing: %.300s", down, seen)
		}
		f.setFail(nil)
		closeNow(t, s)
	}
}

func TestCallsThatComeTogetherGoTogether(t *testing.T) {
	f := newFake(t)
	s := open(t, f.config(t))
	s.StartRun(recorder.Run{ID: "run_1"})
	recordCalls(s, 0, 200)
	s.FinishRun("run_1", recorder.Finish{})
	f.waitFinished(t)
	if diff := cmp.Diff(wanted(200, "finish run_1"), f.taken()); diff != "" {
		t.Error(diff)
	}
	if f.requests > 20 {
		t.Errorf("%d requests for 200 calls", f.requests)
	}
}

func TestLargeCallsGoInSeveralRequests(t *testing.T) {
	var d delivery
	step := record{Run: "run_1", Step: bytes.Repeat([]byte("x"), maxRowBytes/2)}
	end := record{Run: "run_1", Finish: &recorder.Finish{}}
	small := record{Run: "run_1", Step: json.RawMessage("{}")}
	for name, c := range map[string]struct {
		batch []record
		want  int
	}{
		"large":            {[]record{step, step, step}, 2},
		"larger than that": {[]record{{Run: "run_1", Step: bytes.Repeat([]byte("x"), 2*maxRowBytes)}, small}, 1},
		"up to the end":    {[]record{small, small, end}, 2},
		"the end":          {[]record{end}, 0},
		"many":             {slices.Repeat([]record{small}, 2*maxRows), maxRows},
	} {
		if got := d.together(c.batch); got != c.want {
			t.Errorf("%s: %d together, want %d", name, got, c.want)
		}
	}
}

// TestRowsAreEncodedAsStepsAre holds for any step: what is sent is what
// encoding/json would have sent.
func TestRowsAreEncodedAsStepsAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			return rapid.StringMatching(`([a-z"\\\n\t\x00<é\x{2028}]{0,20})`).Draw(t, name)
		}
		want := recorder.Step{
			ID: text("id"), StepIndex: rapid.IntRange(0, 1000).Draw(t, "index"), Type: recorder.StepType(text("type")),
			CallID: text("call"), ToolName: text("tool"), ServerName: text("server"), UpstreamTool: text("upstream"),
			ToolInput: text("input"), ToolOutput: text("output"), ToolError: text("error"), Context: text("context"),
			Answer: text("answer"), Status: recorder.Status(text("status")), AskedInput: text("asked"), AgentID: text("agent"),
			AgentType: text("agent type"), Attempts: rapid.IntRange(0, 3).Draw(t, "attempts"), DurationMS: float64(rapid.Int64Range(0, 1<<50).Draw(t, "us")) / 1000,
		}
		if rapid.Bool().Draw(t, "started") {
			want.StartedAt = time.Unix(0, rapid.Int64Range(0, 1<<60).Draw(t, "at")).UTC()
		}
		if rapid.Bool().Draw(t, "payload") {
			want.ToolOutput = rapid.SampledFrom([]string{`{"a":[1.0,"b\u00e9"]}`, "[1,\n2]", `"text"`, `7`, "{}", "[\"\xff\"]"}).Draw(t, "output")
		}
		r := row{Step: want, input: []byte(want.ToolInput), output: []byte(want.ToolOutput), asked: []byte(want.AskedInput)}
		want.ToolInput, want.ToolOutput = strings.ToValidUTF8(want.ToolInput, "\uFFFD"), strings.ToValidUTF8(want.ToolOutput, "\uFFFD")
		var got, again, lined recorder.Step
		_, encoded := r.append([]byte("before"))
		mustDecode(plain(encoded), &got)
		marshalled, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		mustDecode(marshalled, &again)
		line, err := record{Run: "run_1", Step: encoded}.line()
		if err != nil {
			t.Fatal(err)
		}
		var back record
		mustDecode(line, &back)
		mustDecode(plain(back.Step), &lined)
		if diff := cmp.Diff(again, got); diff != "" || back.Run != "run_1" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(again, lined); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestStreamOfLargePayloadsIsRecordedBySize(t *testing.T) {
	const large = 4 << 20
	var a allowance
	now, read := time.Now(), 0
	for a.take(large, now) {
		read++
	}
	if read != largeAtOnce/large {
		t.Errorf("%d payloads of 4 MiB are read at once", read)
	}
	for read = 0; a.take(large, now.Add(time.Second/8)); {
		read++
	}
	if read != 1 {
		t.Errorf("%d more are read after an eighth of a second", read)
	}

	c := &chain{limit: 1000}
	c.large = allowance{used: 2 * largePerSecond, at: time.Now().Add(time.Hour)}
	raw := json.RawMessage(`["` + strings.Repeat("x", 2000) + `"]`)
	if got, want := string(c.payload(raw)), `{"truncated":true,"originalBytes":2004}`; got != want {
		t.Errorf("got %.80s, want %s", got, want)
	}
	if got := string(c.payload([]byte(`{"small":1}`))); got != `{"small":1}` {
		t.Errorf("a small payload became %s", got)
	}
}

func TestFullQueueDropsTheOldestCallAndMarksTheRun(t *testing.T) {
	f := newFake(t)
	cfg := f.config(t)
	connected, proceed := make(chan struct{}), make(chan struct{})
	cfg.QueueCalls = 4
	cfg.Connect = func(ctx context.Context) (*Client, error) {
		close(connected)
		<-proceed
		return f.connect(ctx)
	}
	s := open(t, cfg)
	s.StartRun(recorder.Run{ID: "run_1"})
	<-connected // the worker is busy from here on
	recordCalls(s, 0, 10)
	s.FinishRun("run_1", recorder.Finish{})
	close(proceed)
	f.waitFinished(t)
	f.mu.Lock()
	defer f.mu.Unlock()
	var inputs []string
	for _, step := range f.steps {
		if step.Type == recorder.StepSelected {
			inputs = append(inputs, step.ToolInput)
		}
	}
	if diff := cmp.Diff([]string{`{"n":6}`, `{"n":7}`, `{"n":8}`, `{"n":9}`}, inputs); diff != "" || !f.ends[0].Lossy {
		t.Errorf("lossy %v: %s", f.ends[0].Lossy, diff)
	}
}

func TestQueueIsBoundedInBytes(t *testing.T) {
	q := newQueue(100, 10)
	for range 3 {
		q.push(report{run: "run_1", call: &recorder.Call{}, bytes: 20})
	}
	if reports, _ := q.take(); len(reports) != 1 || !reports[0].missed {
		t.Errorf("the queue holds %d reports of 20 bytes", len(reports))
	}
}

func TestCloseSpoolsWhatItCannotSend(t *testing.T) {
	f := newFake(t)
	cfg := f.config(t)
	block := make(chan struct{})
	f.setFail(func(string) int { <-block; return 0 })
	s := NewRecorder(cfg)
	s.StartRun(recorder.Run{ID: "run_1"})
	recordCalls(s, 0, 3)
	s.FinishRun("run_1", recorder.Finish{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	s.RecordCall("run_1", call(9)) // too late: dropped, and nobody waits
	if err := s.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	close(block)
	c, _ := f.connect(t.Context())
	if err := Drain(t.Context(), cfg.SpoolDir, c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted(3, "finish run_1"), f.taken()); diff != "" {
		t.Error(diff)
	}
}

func TestNextRecorderSendsWhatTheLastOneLeft(t *testing.T) {
	f := newFake(t)
	cfg := f.config(t)
	last := cfg
	last.Connect = func(context.Context) (*Client, error) { return nil, errors.New("down") }
	s := NewRecorder(last)
	s.StartRun(recorder.Run{ID: "run_1"})
	recordCalls(s, 0, 2)
	s.FinishRun("run_1", recorder.Finish{})
	closeNow(t, s)

	next := open(t, cfg)
	next.StartRun(recorder.Run{ID: "run_2"})
	f.waitFinished(t)
	got := slices.DeleteFunc(f.taken(), func(w string) bool { return w == "start run_2" })
	if diff := cmp.Diff(wanted(2, "finish run_1"), got); diff != "" {
		t.Error(diff)
	}
}

func TestRecorderWithoutReportsAsksForNoService(t *testing.T) {
	s := NewRecorder(RecorderConfig{SpoolDir: t.TempDir(), Connect: func(context.Context) (*Client, error) {
		t.Error("it asked for the service")
		return nil, errors.New("no")
	}})
	closeNow(t, s)
}

func TestReportsForARunThatIsNotOpenAreDropped(t *testing.T) {
	f := newFake(t)
	s := open(t, f.config(t))
	recordCalls(s, 0, 1)
	s.StartRun(recorder.Run{ID: "run_1"})
	s.FinishRun("run_1", recorder.Finish{})
	recordCalls(s, 1, 2)
	s.FinishRun("run_1", recorder.Finish{Output: "again"})
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted(0, "finish run_1"), f.taken()); diff != "" {
		t.Error(diff)
	}
}
