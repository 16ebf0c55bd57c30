package sessions

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

// exchange is one tools/call of a trace.
type exchange struct {
	report client.StepReport
	failed bool // for the model
}

// traced reads the calls of a trace, over stdio or HTTP. A trace that cuts its answers
// or has them elsewhere gives calls without one.
func traced(t *testing.T, name string) (out []exchange) {
	t.Helper()
	all := lines(t, shared(t, filepath.Join("mcp", "traces", name+".jsonl")))
	base := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for i, line := range all {
		call, later := gjson.GetBytes(line, "msg"), all[i:]
		dir := gjson.GetBytes(line, "dir").String()
		if dir == "req" {
			call = gjson.GetBytes(line, "body")
		} else if dir != "c2s" {
			continue
		}
		if call.Get("method").String() != "tools/call" {
			continue
		}
		x := exchange{report: client.StepReport{
			ID: fmt.Sprint("rep_", i), ProxyID: "prx_1", ServerName: "fake", ToolName: call.Get("params.name").String(),
			ToolUseID: call.Get(`params._meta.claudecode/toolUseId`).String(), Args: json.RawMessage(call.Get("params.arguments").Raw),
			StartedAt: base.Add(time.Duration(i) * time.Second), DurationMS: 10,
		}}
		r := &x.report
		if dir == "req" {
			r.Result, r.Error, r.Status = overHTTP(later)
		} else {
			r.Result, r.Error, r.Status = outcome(later, call.Get("id").Raw)
		}
		x.failed = r.Status != recorder.StatusOK
		out = append(out, x)
	}
	return out
}

// overHTTP is what came of a request by its answer's status: the bodies are not in
// every trace.
func overHTTP(after [][]byte) (result json.RawMessage, failure string, status recorder.Status) {
	for _, line := range after {
		if gjson.GetBytes(line, "dir").String() != "res" {
			continue
		}
		switch code := gjson.GetBytes(line, "code").Int() + gjson.GetBytes(line, "status").Int(); {
		case code == 404:
			return nil, "session not found", recorder.StatusRPCError
		case code < 300:
			return json.RawMessage(`{"content":[{"type":"text","text":"over http"}]}`), "", recorder.StatusOK
		}
	}
	return nil, "", recorder.StatusNoAnswer
}

// scriptOf makes the hooks around the calls of a trace, as the client sends them.
func scriptOf(calls []exchange) *session {
	s := &session{server: "fake", id: "s1"}
	at := calls[0].report.StartedAt.Add(-time.Second)
	hook := func(at time.Time, name string, fields map[string]any) {
		payload := map[string]any{"session_id": "s1", "prompt_id": "p1", "hook_event_name": name, "cwd": "/home/dev/fleet"}
		for k, v := range fields {
			payload[k] = v
		}
		text, _ := json.Marshal(payload)
		s.events = append(s.events, scripted{at: at, name: name, payload: text})
	}
	hook(at, "SessionStart", map[string]any{"source": "startup"})
	hook(at, "UserPromptSubmit", map[string]any{"prompt": "go"})
	for i, x := range calls {
		r := x.report
		end := r.StartedAt.Add(10 * time.Millisecond)
		// A host's question to a tool, and a hook that calls one, have no hooks.
		asks := r.ToolUseID == "" || r.ToolName == "approve"
		again := i > 0 && calls[i-1].report.ToolUseID == r.ToolUseID && calls[i-1].report.ToolName == r.ToolName
		repeated := i+1 < len(calls) && calls[i+1].report.ToolUseID == r.ToolUseID && calls[i+1].report.ToolName == r.ToolName
		tool := map[string]any{"tool_name": "mcp__fake__" + r.ToolName, "tool_use_id": r.ToolUseID, "tool_input": r.Args, "duration_ms": 9}
		if asks && r.ToolUseID != "" { // about the call that comes next
			about := calls[i+1].report
			hook(r.StartedAt.Add(-time.Millisecond), "PreToolUse", map[string]any{
				"tool_name": "mcp__fake__" + about.ToolName, "tool_use_id": about.ToolUseID, "tool_input": about.Args,
			})
		}
		asked := i > 0 && calls[i-1].report.ToolUseID == r.ToolUseID && !again
		if !asks && !again && !asked {
			hook(r.StartedAt.Add(-time.Millisecond), "PreToolUse", tool)
		}
		s.events = append(s.events, scripted{at: end, report: &calls[i].report, until: end.Add(1400 * time.Millisecond)})
		if asks || repeated {
			continue
		}
		name := "PostToolUse"
		if x.failed {
			name = "PostToolUseFailure"
			tool["error"] = "what the model was told"
		} else {
			tool["tool_response"] = "as the model saw it"
		}
		hook(end.Add(time.Millisecond), name, tool)
	}
	hook(calls[len(calls)-1].report.StartedAt.Add(time.Second), "Stop", map[string]any{"last_assistant_message": "done"})
	return s
}

func TestTracedCallsAreStepsWithWhatTheWireSaid(t *testing.T) {
	for name, want := range map[string][]string{
		"died-and-respawned":      {"die no_answer 0", "echo ok 0", "echo ok 0"},
		"discover-closed-respawn": {"echo ok 0"},
		"elicitation":             {"elicit ok 0", "elicit_url ok 0"},
		"hook-mcp_tool":           {"echo ok 0"},
		"http-session-forgotten":  {"echo ok 0", "echo ok 2"},
		"list-changed":            nil,
		"modern-2026-07-28":       {"echo ok 0"},
		"parallel-read-only":      {"sleep ok 0", "sleep ok 0"},
		"permission-prompt-tool":  {"approve ok 0", "echo ok 0"},
		"progress":                nil,
		"sse":                     {"echo ok 0"},
		"streamable-http":         {"echo ok 0"},
		"tool-timeout":            {"sleep cancelled 0", "echo ok 0"},
	} {
		calls := traced(t, name)
		if len(calls) == 0 {
			t.Fatalf("%s has no calls", name)
		}
		st := newReplay(t, t.TempDir(), scriptOf(calls))
		st.play(st.s.events)
		runs := st.books.results()
		if len(runs) != 1 || runs[0].Lossy {
			t.Errorf("%s: %d runs", name, len(runs))
			continue
		}
		var got []string
		for _, s := range runs[0].Steps {
			got = append(got, fmt.Sprint(s.Tool, " ", s.Status, " ", s.Attempts))
			if strings.Contains(string(s.Result), "as the model saw it") {
				t.Errorf("%s: %s has the hook's rendering", name, s.Tool)
			}
		}
		if want == nil {
			want = plain(calls)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A proxy's reports keep their order, but may come at any time between the end of a
// call and the end of the grace.
func TestTracedCallsAreTheSameInEveryLegalOrder(t *testing.T) {
	all, err := filepath.Glob(filepath.Join(shared(t, "mcp/traces"), "*.jsonl"))
	if err != nil || len(all) < 10 {
		t.Fatalf("%d traces, %v", len(all), err)
	}
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(name, func(t *testing.T) {
			s, dir := scriptOf(traced(t, name)), t.TempDir()
			want := baseline(t, filepath.Join(dir, "recorded"), s)
			n := 0
			rapid.Check(t, func(t *rapid.T) {
				n++
				st := newReplay(t, filepath.Join(dir, fmt.Sprint(n)), s)
				for _, e := range inTurn(t, s.events) {
					if rapid.IntRange(0, 19).Draw(t, "kill") == 0 {
						st.kill()
					}
					st.tell(e)
				}
				st.end()
				if diff := difference(want, st.books.results()); diff != "" {
					t.Fatalf("another order, other runs (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// inTurn delays reports, each behind the one before.
func inTurn(t *rapid.T, events []scripted) (out []scripted) {
	var waiting []scripted
	for i, e := range events {
		if e.report != nil {
			waiting = append(waiting, e)
			e = scripted{}
		}
		if e.name != "" {
			out = append(out, e)
		}
		for len(waiting) > 0 && (i+1 == len(events) || !events[i+1].at.Before(waiting[0].until) || rapid.Bool().Draw(t, "now")) {
			late := waiting[0]
			late.at = time.Time{} // whenever it comes
			out, waiting = append(out, late), waiting[1:]
		}
	}
	return out
}

// plain is one step a call.
func plain(calls []exchange) (out []string) {
	for _, x := range calls {
		out = append(out, fmt.Sprint(x.report.ToolName, " ", x.report.Status, " 0"))
	}
	return out
}

// The shorter of two calls at once comes first, whose hook is heard last.
func TestParallelCallsAreOrderedByTheirEnds(t *testing.T) {
	calls := traced(t, "parallel-read-only")
	if len(calls) != 2 {
		t.Fatalf("%d calls", len(calls))
	}
	began := calls[0].report.StartedAt
	calls[0].report.DurationMS = 300
	calls[1].report.StartedAt, calls[1].report.DurationMS = began.Add(8*time.Millisecond), 100
	s := scriptOf(calls)
	pick := func(name string, n int) scripted {
		for _, e := range s.events {
			if e.name == name && gjson.GetBytes(e.payload, "tool_use_id").String() == calls[n].report.ToolUseID {
				return e
			}
		}
		t.Fatalf("no %s of %d", name, n)
		return scripted{}
	}
	report := func(n int) scripted { return scripted{report: &calls[n].report} }
	for i, order := range [][]scripted{
		{report(1), pick("PostToolUse", 1), report(0), pick("PostToolUse", 0)},
		{report(0), pick("PostToolUse", 0), report(1), pick("PostToolUse", 1)},
		{pick("PostToolUse", 0), report(0), pick("PostToolUse", 1), report(1)},
		{pick("PostToolUse", 0), pick("PostToolUse", 1), report(0), report(1)},
	} {
		st := newReplay(t, t.TempDir(), s)
		events := append(s.events[:2:2], pick("PreToolUse", 0), pick("PreToolUse", 1))
		st.play(append(append(events, order...), s.events[len(s.events)-1]))
		steps := st.books.results()[0].Steps
		if len(steps) != 2 || steps[0].ID != calls[1].report.ToolUseID {
			t.Errorf("order %d: %+v", i, steps)
		}
	}
}
