package sessions

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/bir-run/bir/relay/relaytest"
)

var update = flag.Bool("update", false, "write the expected runs anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(relaytest.Settle(tests{m})) }

// tests are the package's; what they built is removed after them.
type tests struct{ *testing.M }

func (t tests) Run() int { return run(t.M) }

const id = "00000000-0000-4000-8000-00000000000"

// recorded lists the sessions with their transcripts.
var recorded = map[string]struct {
	server      string
	transcripts map[string]string
}{
	"sample":              {"everything", map[string]string{"transcript.jsonl": id + "1.jsonl", "subagent-transcript.jsonl": id + "1/subagents/agent-a0000000000000001.jsonl"}},
	"sample-v2.1.197":     {"everything", map[string]string{"transcript.jsonl": id + "1.jsonl"}},
	"interrupted":         {"fake", map[string]string{"transcript.jsonl": id + "1.jsonl"}},
	"interactive":         {"fake", map[string]string{"transcript-1.jsonl": id + "1.jsonl", "transcript-2.jsonl": id + "7.jsonl"}},
	"background-subagent": {"fake", map[string]string{"transcript.jsonl": id + "1.jsonl", "subagent-transcript.jsonl": id + "1/subagents/agent-a0000000000000001.jsonl"}},
}

func each(t *testing.T, do func(t *testing.T, name string, s *session)) {
	for name, r := range recorded {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(t, name, load(t, name, r.server, r.transcripts))
		})
	}
}

func TestRecordedSessionsGiveTheExpectedRuns(t *testing.T) {
	each(t, func(t *testing.T, name string, s *session) {
		st := newReplay(t, t.TempDir(), s)
		st.play(s.events)
		golden(t, name, st.books.results())
	})
}

func TestUsageOfTheSampleIsTheClientsOwn(t *testing.T) {
	r := recorded["sample"]
	s := load(t, "sample", r.server, r.transcripts)
	st := newReplay(t, t.TempDir(), s)
	st.play(s.events)
	text, err := os.ReadFile(shared(t, "sessions/sample/expected-usage.json"))
	if err != nil {
		t.Fatal(err)
	}
	got := st.books.results()[0].Usage
	want := gjson.GetBytes(text, "byMessageIdOnce_allTranscripts").Map()
	if len(got) != len(want) {
		t.Errorf("%d models, want %d", len(got), len(want))
	}
	for model, u := range want {
		have := got[model]
		if have.Input != u.Get("input_tokens").Int() || have.Output != u.Get("output_tokens").Int() ||
			have.CacheCreation != u.Get("cache_creation_input_tokens").Int() || have.CacheRead != u.Get("cache_read_input_tokens").Int() {
			t.Errorf("%s: %+v, want %s", model, have, u.Raw)
		}
	}
}

// A kill -9 of the control server between any two events, or between all of them,
// changes nothing and loses nothing.
func TestKillsChangeNothing(t *testing.T) {
	each(t, func(t *testing.T, _ string, s *session) {
		want := baseline(t, t.TempDir(), s)
		for kill := -1; kill < len(s.events); kill++ {
			st := newReplay(t, t.TempDir(), s)
			for i, e := range s.events {
				if kill < 0 || kill == i {
					st.kill()
				}
				st.tell(e)
			}
			st.end()
			if diff := difference(want, st.books.results()); diff != "" {
				t.Fatalf("killed before event %d (-want +got):\n%s", kill, diff)
			}
		}
	})
}

// difference is cmp.Diff, which takes long over what is the same.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

func baseline(t failer, dir string, s *session) []result {
	st := newReplay(t, dir, s)
	st.play(s.events)
	return st.books.results()
}

// Whenever proxies' reports come, from their end to the end of the grace, however
// hooks of concurrent calls overtake each other, however far the transcripts lag, and
// whatever is told twice: the runs are the same.
func TestEveryLegalOrderGivesTheSameRuns(t *testing.T) {
	each(t, func(t *testing.T, _ string, s *session) {
		dir := t.TempDir()
		want := baseline(t, filepath.Join(dir, "recorded"), s)
		n := 0
		rapid.Check(t, func(t *rapid.T) {
			n++
			st := newReplay(t, filepath.Join(dir, fmt.Sprint(n)), s)
			st.lag = time.Duration(rapid.IntRange(0, 300).Draw(t, "lag")) * time.Millisecond
			for _, e := range legal(t, s.events) {
				switch rapid.IntRange(0, 29).Draw(t, "between") {
				case 0:
					st.kill()
				case 1:
					st.book.Tick(st.now)
				case 2:
					st.register()
				}
				st.tell(e)
				if e.report != nil && rapid.Bool().Draw(t, "again") {
					st.tell(e)
				}
			}
			st.end()
			if diff := difference(want, st.books.results()); diff != "" {
				t.Fatalf("another order, other runs (-want +got):\n%s", diff)
			}
		})
	})
}

// legal draws an order that may happen. Hooks keep theirs, but for those of different
// calls that follow each other at once; a report comes after its call began and
// before it is given up.
func legal(t *rapid.T, events []scripted) []scripted {
	var out []scripted
	for _, e := range events {
		if e.report == nil {
			out = append(out, e)
		}
	}
	for i := 0; i+1 < len(out); i++ {
		if concurrent(out[i], out[i+1]) && rapid.Bool().Draw(t, "overtaken") {
			out[i], out[i+1] = out[i+1], out[i]
			out[i].at, out[i+1].at = out[i+1].at, out[i].at
		}
	}
	for _, e := range events {
		if e.report == nil {
			continue
		}
		from, to := span(out, e)
		at := rapid.IntRange(from, to).Draw(t, "report")
		e.at = time.Time{} // now
		out = slices.Insert(out, at, e)
	}
	return out
}

// concurrent says whether two hooks are of calls that ran at once, and so may be heard
// in either order. What a hook alone tells of, it tells the end of: two such ends
// cannot be exchanged without another call ending first.
func concurrent(a, b scripted) bool {
	both := func(name string) bool { return a.name == name && b.name == name }
	mcp := gjson.GetBytes(a.payload, "tool_name").String() != "Bash" && gjson.GetBytes(b.payload, "tool_name").String() != "Bash"
	return both("PreToolUse") || (both("PostToolUse") && mcp)
}

// span is where in the order of hooks a report may stand.
func span(out []scripted, e scripted) (from, to int) {
	for i, h := range out {
		if h.name == "PreToolUse" && gjson.GetBytes(h.payload, "tool_use_id").String() == e.report.ToolUseID {
			from = i + 1
		}
		if h.report != nil || !h.at.After(e.until) {
			to = i + 1
		}
		if h.name == "SessionEnd" && i+1 > from && from > 0 {
			return from, min(to, i+1)
		}
	}
	return from, max(from, to)
}

// Where nobody was there to hear the first hooks of a turn, the transcript has them:
// the run has the same calls, if partly as the model saw them, and the same cost.
func TestTurnWhoseBeginningWasMissedIsWhole(t *testing.T) {
	for _, name := range []string{"sample", "sample-v2.1.197"} {
		r := recorded[name]
		s := load(t, name, r.server, r.transcripts)
		want := baseline(t, t.TempDir(), s)[0]
		for first := 2; first < len(s.events)-1; first++ {
			st := newReplay(t, t.TempDir(), s)
			st.play(s.events[first:])
			runs := st.books.results()
			if len(runs) != 1 {
				t.Fatalf("%s from event %d on: %d runs", name, first, len(runs))
			}
			got := runs[0]
			if got.Input != want.Input || got.Lossy || got.Output != want.Output {
				t.Errorf("%s from event %d on: %q, %q, lossy %v", name, first, got.Input, got.Output, got.Lossy)
			}
			if diff := cmp.Diff(want.Usage, got.Usage); diff != "" {
				t.Errorf("%s from event %d on, usage (-want +got):\n%s", name, first, diff)
			}
			if diff := cmp.Diff(outline(want), outline(got)); diff != "" {
				t.Errorf("%s from event %d on, calls (-want +got):\n%s", name, first, diff)
			}
		}
	}
}

// outline is which calls there were, by whom and how they ended, in their order.
func outline(r result) (out []string) {
	for _, s := range r.Steps {
		out = append(out, fmt.Sprint(s.ID, " ", s.Tool, " ", s.Status, " ", s.Agent, " ", s.Context, " ", s.Error))
	}
	return out
}
