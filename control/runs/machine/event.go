// Package machine is the state of sessions and runs, and what each event makes of it:
// which run it belongs to, when one begins and ends. What a run is by itself is in
// package turn. It is pure: time, ids, what transcripts say and which processes live
// are in the events. The same events give the same state and the same changes, row ids
// included, so that a journal of them brings back a run after a crash and what is
// reported twice is booked once.
package machine

import (
	"encoding/json"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/runs/turn"
	"github.com/bir-run/bir/control/transcript"
	"github.com/bir-run/bir/recorder"
)

// Kinds of events beside the host's hook events, which keep their names.
const (
	KindRegister = "register" // a proxy is there
	KindWire     = "wire"     // a proxy's report of a call
	KindTick     = "tick"     // time has passed
	KindOff      = "off"      // bir was turned off while the session had a run
	KindTorn     = "torn"     // something of the journal is lost
)

// Event is one thing that happened, with all that is needed to know what follows from
// it. Its payloads are redacted and cut.
type Event struct {
	Kind string    `json:"kind"`
	At   time.Time `json:"at"`

	Session    string `json:"session,omitempty"`
	PromptID   string `json:"promptId,omitempty"`
	Transcript string `json:"transcript,omitempty"`
	CWD        string `json:"cwd,omitempty"`
	Mode       string `json:"mode,omitempty"`
	Agent      string `json:"agent,omitempty"`
	AgentType  string `json:"agentType,omitempty"`

	Tool        string          `json:"tool,omitempty"`
	Server      string          `json:"server,omitempty"`
	ToolUse     string          `json:"toolUse,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	Output      json.RawMessage `json:"output,omitempty"`
	Error       string          `json:"error,omitempty"`
	Interrupted bool            `json:"interrupted,omitempty"`
	DurationMS  float64         `json:"durationMs,omitempty"`
	Fingerprint string          `json:"fingerprint,omitempty"`
	CallID      string          `json:"callId,omitempty"` // injected
	Expect      bool            `json:"expect,omitempty"` // a live proxy serves the tool

	Text  string  `json:"text,omitempty"`  // a prompt, or the last message
	Task  string  `json:"task,omitempty"`  // whose end a prompt tells of
	Tasks []Task  `json:"tasks,omitempty"` // running in the background
	Batch []Batch `json:"batch,omitempty"`

	// NewRun is the id of a run, should the event open one, and Mark where it begins.
	NewRun string           `json:"newRun,omitempty"`
	Mark   *transcript.Mark `json:"mark,omitempty"`
	// Missed is the prompt of a turn whose beginning nobody was there to see.
	Missed *transcript.Turn `json:"missed,omitempty"`
	Views  []turn.View      `json:"views,omitempty"`

	Wire  *client.StepReport `json:"wire,omitempty"`
	Proxy *client.Register   `json:"proxy,omitempty"`
	Gone  []string           `json:"gone,omitempty"` // proxies that ended
	Run   string             `json:"run,omitempty"`  // whose deadline a tick is about
}

// Task is work of the host in the background.
type Task struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// Batch is a call that ended with others. Text is what the model was told in the place
// of a result, of one that did not run.
type Batch struct {
	ToolUse string          `json:"toolUse"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input,omitempty"`
	Text    string          `json:"text,omitempty"`
}

// Change is what is to be reported: one of its members is set.
type Change struct {
	Start  *recorder.Run
	Run    string // of the call or the end
	Call   *recorder.Call
	Finish *recorder.Finish
}
