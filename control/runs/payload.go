package runs

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/control/runs/machine"
	"github.com/bir-run/bir/recorder/redact"
	"github.com/bir-run/bir/recorder/truncate"
)

// callIDKey is the argument in which an injected id rides to the proxy, which takes
// it out again.
const callIDKey = "__bir_call_id__"

// maxBatchText is how much of what the model was told of a call is looked at.
const maxBatchText = 4 << 10

// read makes an event of a hook's payload. Fields that are missing or of another type
// are as good as empty: the host may add and change what it likes.
func (b *Book) read(name string, payload []byte, now time.Time) (machine.Event, bool) {
	if !gjson.ValidBytes(payload) {
		return machine.Event{}, false
	}
	p := gjson.ParseBytes(payload)
	if !p.IsObject() {
		return machine.Event{}, false
	}
	e := machine.Event{
		Kind: name, At: now,
		Session: str(p, "session_id"), PromptID: str(p, "prompt_id"), Transcript: str(p, "transcript_path"),
		CWD: str(p, "cwd"), Mode: str(p, "permission_mode"),
		Agent: str(p, "agent_id"), AgentType: str(p, "agent_type"),
		Tool: str(p, "tool_name"), Server: str(p, "mcp_server.name"), ToolUse: str(p, "tool_use_id"),
	}
	switch name {
	case "UserPromptSubmit", "UserPromptExpansion":
		readPrompt(&e, p)
	case "PreToolUse", "PostToolUse", "PostToolUseFailure":
		b.readTool(&e, p)
	case "PostToolBatch":
		readBatch(&e, p)
	case "Stop", "StopFailure", "SubagentStop":
		e.Text = text(str(p, "last_assistant_message"))
		readTasks(&e, p)
	}
	return e, e.Session != ""
}

func str(p gjson.Result, path string) string {
	if v := p.Get(path); v.Type == gjson.String {
		return strings.Clone(v.Str) // else it keeps the whole payload
	}
	return ""
}

// text takes the secrets out of a text and cuts it.
func text(s string) string {
	s, _ = truncate.Text(redact.Text(s), truncate.MaxBytes)
	return s
}

// clean takes the secrets out of a payload and cuts it.
func clean(raw string) json.RawMessage {
	if raw == "" {
		return nil
	}
	out, _ := truncate.JSON(redact.JSON(json.RawMessage(raw)), truncate.MaxBytes)
	return tight(out)
}

// tight takes the spaces out of a payload, as the journal does: what is read back must
// not differ from what was told before.
func tight(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}

// notification begins what the host itself says to the model about work in the
// background.
const notification = "<task-notification>"

func readPrompt(e *machine.Event, p gjson.Result) {
	prompt := str(p, "prompt")
	if strings.HasPrefix(strings.TrimSpace(prompt), notification) {
		e.Task, e.ToolUse = between(prompt, "task-id"), between(prompt, "tool-use-id")
	}
	e.Text = text(prompt)
}

// between is the text of the first element of that name.
func between(s, name string) string {
	_, s, _ = strings.Cut(s, "<"+name+">")
	s, _, ok := strings.Cut(s, "</"+name+">")
	if !ok {
		return ""
	}
	return strings.TrimSpace(s)
}

func (b *Book) readTool(e *machine.Event, p gjson.Result) {
	input := p.Get("tool_input").Raw
	if id := p.Get("tool_input." + callIDKey); id.Exists() {
		if without, err := sjson.Delete(input, callIDKey); err == nil {
			input = without
		}
	}
	if correlate.IsMCP(e.Tool) {
		server, tool := correlate.Split(e.Tool, e.Server)
		e.Fingerprint = client.Fingerprint(b.cfg.FingerprintKey, server, tool, json.RawMessage(input))
	}
	e.Input, e.Output = clean(input), clean(p.Get("tool_response").Raw)
	e.Error = text(str(p, "error"))
	e.Interrupted = p.Get("is_interrupt").Bool()
	e.DurationMS = max(0, p.Get("duration_ms").Float())
}

func readBatch(e *machine.Event, p gjson.Result) {
	for _, c := range p.Get("tool_calls").Array() {
		said := c.Get("tool_response")
		b := machine.Batch{ToolUse: str(c, "tool_use_id"), Tool: str(c, "tool_name")}
		if b.ToolUse == "" {
			continue
		}
		// Of a call that ran, PostToolUse has told more.
		if said.Type == gjson.String && correlate.Answered(said.Str) != "" {
			b.Input = clean(c.Get("tool_input").Raw)
			b.Text = redact.Text(said.Str)
			b.Text, _ = truncate.Text(b.Text, maxBatchText)
		}
		e.Batch = append(e.Batch, b)
	}
}

func readTasks(e *machine.Event, p gjson.Result) {
	for _, t := range p.Get("background_tasks").Array() {
		if id := str(t, "id"); id != "" && str(t, "status") == "running" {
			e.Tasks = append(e.Tasks, machine.Task{ID: id, Type: str(t, "type")})
		}
	}
}
