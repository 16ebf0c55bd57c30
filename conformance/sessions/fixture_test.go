package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

// shared finds a file of the recorded sessions.
func shared(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "fixtures", "claude-code", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("the recorded sessions of the real client are not here")
	}
	return path
}

func lines(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(text), []byte("\n"))
}

// session is a recorded session as a script.
type session struct {
	events []scripted
	files  []grown
	server string // of the proxy
	id     string // the session that the proxy was started in
}

// scripted is a hook event, or a proxy's report.
type scripted struct {
	at      time.Time
	name    string // of a hook event
	payload []byte
	report  *client.StepReport
	until   time.Time // a report: when it must have been heard
}

// grown is a transcript with the times at which its lines were written.
type grown struct {
	name  string // below the folder of the session's transcripts
	lines [][]byte
	at    []time.Time
}

// placeholder stands for the folder of the transcripts.
const placeholder = "/transcripts"

// load makes a script of a recorded session. transcripts say which file is whose.
func load(t *testing.T, name, server string, transcripts map[string]string) *session {
	t.Helper()
	s := &session{server: server}
	for file, target := range transcripts {
		s.files = append(s.files, grow(lines(t, shared(t, filepath.Join("sessions", name, file))), target))
	}
	slices.SortFunc(s.files, func(a, b grown) int { return strings.Compare(a.name, b.name) })
	var last time.Time
	for _, line := range lines(t, shared(t, filepath.Join("sessions", name, "hooks.jsonl"))) {
		h := scripted{name: gjson.GetBytes(line, "hook_event_name").String(), payload: moved(t, line)}
		h.at = s.when(line, last)
		last = h.at
		s.events = append(s.events, h)
	}
	s.id = gjson.GetBytes(s.events[0].payload, "session_id").String()
	traffic := filepath.Join("sessions", name, "mcp-stdio.jsonl")
	if _, err := os.Stat(shared(t, filepath.Join("sessions", name)) + "/mcp-stdio.jsonl"); err == nil {
		s.traffic(t, lines(t, shared(t, traffic)))
	}
	return s
}

// moved puts the transcripts of a payload into the folder of the test.
func moved(t *testing.T, payload []byte) []byte {
	t.Helper()
	for _, key := range []string{"transcript_path", "agent_transcript_path"} {
		path := gjson.GetBytes(payload, key).String()
		if path == "" {
			continue
		}
		var err error
		if payload, err = sjson.SetBytes(payload, key, placeholder+strings.TrimPrefix(path, "/home/dev/.claude/projects/-home-dev-fleet")); err != nil {
			t.Fatal(err)
		}
	}
	return payload
}

// grow reads when the lines of a transcript were written; one that does not say so
// was written with the one before.
func grow(all [][]byte, name string) grown {
	g := grown{name: name, lines: all}
	var last time.Time
	for _, line := range all {
		if at := gjson.GetBytes(line, "timestamp").Time(); at.After(last) {
			last = at
		}
		g.at = append(g.at, last)
	}
	return g
}

// when finds out when a hook event came, which was not captured: at the moment of the
// transcript's line about the same thing, or just after the event before.
func (s *session) when(hook []byte, last time.Time) time.Time {
	next := last.Add(time.Millisecond)
	f := gjson.GetManyBytes(hook, "hook_event_name", "prompt_id", "tool_use_id", "prompt")
	var at time.Time
	for _, g := range s.files {
		for i, line := range g.lines {
			switch f[0].String() {
			case "UserPromptSubmit":
				m := gjson.GetManyBytes(line, "promptId", "message.content", "isMeta")
				if m[0].String() == f[1].String() && m[1].String() == f[3].String() && !m[2].Bool() && at.IsZero() {
					at = g.at[i].Add(-2 * time.Millisecond)
				}
			case "PreToolUse":
				if use := gjson.GetBytes(line, `message.content.#(type=="tool_use").id`); use.Exists() && use.String() == f[2].String() {
					at = g.at[i].Add(time.Millisecond)
				}
			case "PostToolUse", "PostToolUseFailure":
				if of := gjson.GetBytes(line, `message.content.#(type=="tool_result").tool_use_id`); of.Exists() && of.String() == f[2].String() {
					at = g.at[i].Add(-time.Millisecond)
				}
			case "Stop":
				if gjson.GetBytes(line, "subtype").String() == "stop_hook_summary" && g.at[i].After(last) && at.IsZero() {
					at = g.at[i].Add(-time.Millisecond)
				}
			}
		}
	}
	if at.Before(next) {
		at = next
	}
	if last.IsZero() && at.IsZero() || f[0].String() == "SessionStart" && last.IsZero() {
		return s.files[0].at[0].Add(-time.Second)
	}
	if f[0].String() == "SessionEnd" || (f[0].String() == "Stop" && !s.summed()) {
		at = s.over(last)
	}
	return at
}

// summed says whether the client writes a line about the hooks of a stop.
func (s *session) summed() bool {
	return bytes.Contains(bytes.Join(s.files[0].lines, nil), []byte("stop_hook_summary"))
}

// over is when all lines are written that came before the next prompt.
func (s *session) over(last time.Time) time.Time {
	at := last
	for _, g := range s.files {
		for i := range g.lines {
			if g.at[i].After(at) && g.at[i].Sub(last) < time.Second {
				at = g.at[i]
			}
		}
	}
	return at.Add(time.Millisecond)
}

// traffic makes the proxy's reports of what went over the wire.
func (s *session) traffic(t *testing.T, all [][]byte) {
	t.Helper()
	for i, line := range all {
		call := gjson.GetBytes(line, "msg")
		if gjson.GetBytes(line, "dir").String() != "c2s" || call.Get("method").String() != "tools/call" {
			continue
		}
		r := client.StepReport{
			ID: fmt.Sprint("rep_", i), ProxyID: "prx_1", ServerName: s.server, ToolName: call.Get("params.name").String(),
			ToolUseID: call.Get(`params._meta.claudecode/toolUseId`).String(), Args: json.RawMessage(call.Get("params.arguments").Raw),
			Status: recorder.StatusNoAnswer,
		}
		r.Result, r.Error, r.Status = outcome(all[i:], call.Get("id").Raw)
		s.time(t, &r)
	}
	slices.SortStableFunc(s.events, func(a, b scripted) int { return a.at.Compare(b.at) })
}

// outcome finds what came of a request.
func outcome(after [][]byte, id string) (result json.RawMessage, failure string, status recorder.Status) {
	process := gjson.GetBytes(after[0], "proc").Raw
	for _, line := range after {
		m := gjson.GetBytes(line, "msg")
		switch {
		case gjson.GetBytes(line, "proc").Raw != process:
			return nil, "", recorder.StatusNoAnswer // it died, and another came
		case gjson.GetBytes(line, "dir").String() == "s2c" && m.Get("id").Raw == id && m.Get("error").Exists():
			return nil, m.Get("error.message").String(), recorder.StatusRPCError
		case gjson.GetBytes(line, "dir").String() == "s2c" && m.Get("id").Raw == id && m.Get("result").Exists():
			status = recorder.StatusOK
			if m.Get("result.isError").Bool() {
				status = recorder.StatusToolError
			}
			return json.RawMessage(m.Get("result").Raw), "", status
		case m.Get("method").String() == "notifications/cancelled" && m.Get("params.requestId").Raw == id:
			return nil, "", recorder.StatusCancelled
		}
	}
	return nil, "", recorder.StatusNoAnswer
}

// time puts a report between the hooks of its call.
func (s *session) time(t *testing.T, r *client.StepReport) {
	t.Helper()
	var pre, post time.Time
	for _, e := range s.events {
		if gjson.GetBytes(e.payload, "tool_use_id").String() != r.ToolUseID || e.report != nil {
			continue
		}
		if e.name == "PreToolUse" {
			pre = e.at
		} else if strings.HasPrefix(e.name, "PostToolUse") {
			post = e.at
		}
	}
	if pre.IsZero() {
		t.Fatalf("no hook tells of %s", r.ToolUseID)
	}
	if post.IsZero() { // stopped, which the transcript knows the moment of
		post = pre.Add(2 * time.Second)
	}
	r.StartedAt = pre.Add(500 * time.Microsecond)
	end := post.Add(-500 * time.Microsecond)
	r.DurationMS = float64(end.Sub(r.StartedAt)) / float64(time.Millisecond)
	s.events = append(s.events, scripted{at: end, report: r, until: post.Add(1400 * time.Millisecond)})
}
