package fakemodel

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/uuid"
)

// Reply is one answer of the model.
type Reply struct {
	Blocks []Block
	Usage  Usage // none: 3 tokens in, 4 out
	// Status makes it an error of the API instead, such as 429 or 500.
	Status int
	// Hold keeps the reply back until the channel is closed.
	Hold <-chan struct{}
}

// Usage is what the API says that a reply cost.
type Usage struct {
	Input         int `json:"input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	Output        int `json:"output_tokens"`
}

// Block is a piece of a reply: text, or a tool call.
type Block struct {
	Kind  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

// Text is a block of text.
func Text(text string) Block { return Block{Kind: "text", Text: text} }

// Tool is a tool call under an id of the script's; input is JSON text.
func Tool(id, name, input string) Block {
	return Block{Kind: "tool_use", ID: id, Name: name, Input: json.RawMessage(input)}
}

// Says is a reply of one text, with which a turn ends.
func Says(text string) Reply { return Reply{Blocks: []Block{Text(text)}} }

// Calls is a reply of tool calls.
func Calls(blocks ...Block) Reply { return Reply{Blocks: blocks} }

func (r Reply) wait(ctx context.Context) bool {
	if r.Hold == nil {
		return true
	}
	select {
	case <-r.Hold:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r Reply) write(w http.ResponseWriter, model string, stream bool) {
	if r.Usage == (Usage{}) {
		r.Usage = Usage{Input: 3, Output: 4}
	}
	switch {
	case r.Status != 0:
		refuse(w, r.Status, errorType(r.Status), fmt.Sprintf("scripted status %d", r.Status))
	case stream:
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Request-Id", name("req"))
		_, _ = w.Write(r.events(model)) // a client that hung up reads no answer
	default:
		w.Header().Set("Request-Id", name("req"))
		answer(w, http.StatusOK, r.message(model, r.blocks(), r.stop()))
	}
}

// errorType is the API's name for a status.
func errorType(status int) string {
	switch status {
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case 529:
		return "overloaded_error"
	}
	return "api_error"
}

func (r Reply) blocks() []Block {
	if r.Blocks == nil {
		return []Block{}
	}
	return r.Blocks
}

func (r Reply) stop() any {
	for _, b := range r.Blocks {
		if b.Kind == "tool_use" {
			return "tool_use"
		}
	}
	return "end_turn"
}

// message is the message object; content and the reason to stop are empty where a
// stream begins.
func (r Reply) message(model string, content []Block, stop any) map[string]any {
	return map[string]any{"id": name("msg"), "type": "message", "role": "assistant", "model": model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": r.Usage}
}

// events is the whole stream. The first usage counts one token of output, as the API
// does before it knows; the last says how many there were.
func (r Reply) events(model string) []byte {
	var out stream
	first := r
	first.Usage.Output = 1
	out.event("message_start", map[string]any{"message": first.message(model, []Block{}, nil)})
	for i, b := range r.Blocks {
		out.block(i, b)
	}
	out.event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": r.stop(), "stop_sequence": nil},
		"usage": map[string]int{"output_tokens": r.Usage.Output}})
	out.event("message_stop", map[string]any{})
	return out.Bytes()
}

type stream struct{ bytes.Buffer }

func (s *stream) block(i int, b Block) {
	empty, delta := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": b.Text}
	if b.Kind == "tool_use" {
		empty = map[string]any{"type": "tool_use", "id": b.ID, "name": b.Name, "input": struct{}{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(b.Input)}
	}
	s.event("content_block_start", map[string]any{"index": i, "content_block": empty})
	s.event("content_block_delta", map[string]any{"index": i, "delta": delta})
	s.event("content_block_stop", map[string]any{"index": i})
}

func (s *stream) event(kind string, data map[string]any) {
	data["type"] = kind
	fmt.Fprintf(s, "event: %s\ndata: %s\n\n", kind, encode(data))
}

// name makes an id as the API writes them.
func name(kind string) string { return kind + "_" + uuid.NewString() }

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(body)) // a client that hung up reads no answer
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	answer(w, status, map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
}

// encode panics on what no script can hold but by a mistake in it: input that is no JSON.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
