//go:build unix

package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/client/post"
)

// Session is one of the host's: it sends hook events and writes a transcript as the
// client does. Calls may be made at once; turns may not.
type Session struct {
	*Project
	ID string
	// Direct posts hook events itself, as bir-hooks does, and spares the process.
	Direct bool
	// Took, where it is set, is told how long each event took.
	Took func(event string, took time.Duration)

	transcript string
	prompt     string // its id

	mu       sync.Mutex // guards messages, and the order of lines
	messages int
}

// NewSession makes a session that has said nothing yet.
func (p *Project) NewSession() *Session {
	id := uuid.NewString()
	return &Session{Project: p, ID: id, transcript: filepath.Join(p.Home, "transcripts", id+".jsonl")}
}

// Hook sends one event. The host's session must not notice it: the hook ends with 0, nothing on standard error, and nothing or an object on standard output.
func (s *Session) Hook(name string, fields map[string]any) {
	s.Helper()
	payload := map[string]any{
		"session_id": s.ID, "transcript_path": s.transcript, "cwd": s.Root, "hook_event_name": name,
		"permission_mode": "default",
	}
	if s.prompt != "" {
		payload["prompt_id"] = s.prompt
	}
	maps.Copy(payload, fields)
	text, err := json.Marshal(payload)
	if err != nil {
		s.Fatal(err)
	}
	e, ok := event.Named(name)
	if !ok {
		s.Fatalf("no event is named %s", name)
	}
	if s.Took != nil {
		defer func(began time.Time) { s.Took(name, time.Since(began)) }(time.Now())
	}
	if s.Direct {
		s.post(e, text)
		return
	}
	// How long a hook may take is tested elsewhere, by its own clock.
	ctx, cancel := context.WithTimeout(s.Context(), Patience)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := s.command(ctx, "bir-hooks", name)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &errOut
	if err := cmd.Run(); err != nil || errOut.Len() > 0 {
		s.Errorf("the hook of %s: %v, %q", name, err, &errOut)
	}
	var answer map[string]any
	if out.Len() > 0 && json.Unmarshal(out.Bytes(), &answer) != nil {
		s.Errorf("the hook of %s answers %q", name, &out)
	}
}

func (s *Session) post(e event.Event, payload []byte) {
	s.Helper()
	file, err := locate.Read(s.Home, s.Root)
	if err != nil {
		s.Error(err)
		return
	}
	answer, err := post.Post(file, e.Path, payload, time.Now().Add(Patience))
	if err != nil || answer.Status != 200 {
		s.Errorf("the hook of %s: %d, %v", e.Name, answer.Status, err)
	}
}

// Start begins the session.
func (s *Session) Start() { s.Hook("SessionStart", map[string]any{"source": "startup"}) }

// Prompt begins a turn.
func (s *Session) Prompt(text string) {
	s.prompt = uuid.NewString()
	s.Hook("UserPromptSubmit", map[string]any{"prompt": text})
	s.write(map[string]any{"type": "user", "promptId": s.prompt, "message": map[string]any{"role": "user", "content": text}})
}

// Stop ends a turn.
func (s *Session) Stop(answer string) {
	s.says(map[string]any{"type": "text", "text": answer})
	s.Hook("Stop", map[string]any{"stop_hook_active": false, "last_assistant_message": answer, "background_tasks": []any{}})
}

// End ends the session.
func (s *Session) End() { s.Hook("SessionEnd", map[string]any{"reason": "other"}) }

// Use is one tool call of the model.
type Use struct {
	ID, Tool string
	Input    map[string]any
	began    time.Time
}

// Pre has the model call a tool. The transcript has its line before the next event, as
// with the client.
func (s *Session) Pre(tool string, input map[string]any) Use {
	s.Helper()
	use := Use{ID: fmt.Sprintf("toolu_%s%04d", s.ID[:8], s.next()), Tool: tool, Input: input, began: time.Now()}
	s.Hook("PreToolUse", map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": use.ID})
	s.says(map[string]any{"type": "tool_use", "id": use.ID, "name": tool, "input": input})
	return use
}

// Post ends a tool call well.
func (s *Session) Post(use Use, response any) {
	s.Helper()
	s.Hook("PostToolUse", map[string]any{
		"tool_name": use.Tool, "tool_input": use.Input, "tool_use_id": use.ID, "tool_response": response,
		"duration_ms": time.Since(use.began).Milliseconds(),
	})
	s.told(use, map[string]any{"content": response}, response)
}

// PostFailure ends a tool call with an error.
func (s *Session) PostFailure(use Use, text string) {
	s.Helper()
	s.Hook("PostToolUseFailure", map[string]any{
		"tool_name": use.Tool, "tool_input": use.Input, "tool_use_id": use.ID, "error": text, "is_interrupt": false,
		"duration_ms": time.Since(use.began).Milliseconds(),
	})
	s.told(use, map[string]any{"content": text, "is_error": true}, "Error: "+text)
}

// next is a number that nothing else of the session has.
func (s *Session) next() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages++
	return s.messages
}

// says writes one content block of the model, in a message of its own.
func (s *Session) says(block map[string]any) {
	s.write(map[string]any{"type": "assistant", "message": map[string]any{
		"id": fmt.Sprintf("msg_%s%04d", s.ID[:8], s.next()), "role": "assistant", "model": "claude-test",
		"content": []any{block}, "usage": map[string]any{"input_tokens": 10, "output_tokens": 1},
	}})
}

// told writes what came of a call.
func (s *Session) told(use Use, result map[string]any, shown any) {
	result["type"], result["tool_use_id"] = "tool_result", use.ID
	s.write(map[string]any{
		"type": "user", "promptId": s.prompt, "toolUseResult": shown,
		"message": map[string]any{"role": "user", "content": []any{result}},
	})
}

func (s *Session) write(line map[string]any) {
	s.Helper()
	line["sessionId"], line["cwd"], line["version"] = s.ID, s.Root, "2.1.332"
	line["isSidechain"], line["uuid"] = false, uuid.NewString()
	line["timestamp"] = time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	text, err := json.Marshal(line)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.transcript), 0o700)
	}
	if err != nil {
		s.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := os.OpenFile(s.transcript, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(text, '\n')); err != nil {
		s.Fatal(err)
	}
}
