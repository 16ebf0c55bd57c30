// Package engine holds what a scenario is and what a recording looks like to the
// engine. Its children calculate, prove, derive and replay; this package has the
// types they share and decides nothing itself.
package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bir-run/bir/sandbox"
)

// FormatVersion is the version of the scenario's JSON.
const FormatVersion = 1

// RedactionMark begins whatever a recorder put in place of a secret. An input with
// it in was never what the tool got, and is never sent.
const RedactionMark = "[redacted"

// State says whether a scenario may be replayed.
type State string

// The states of a scenario. Only a ready one is replayed.
const (
	StateReady  State = "ready"  // every body reproduced its recording
	StateFailed State = "failed" // something could not be explained or proved
)

// Provenance says where a body comes from.
type Provenance string

// The origins of a body. A forced one was saved although it does not reproduce
// the recording; an untried one is saved nowhere, since it is only being checked.
const (
	ProvenanceCalculated Provenance = "calculated"
	ProvenanceEdited     Provenance = "edited"
	ProvenanceForced     Provenance = "forced"
	ProvenanceUntried    Provenance = "untried"
)

// Scenario is an ordered list of tool calls whose inputs are computed.
type Scenario struct {
	Version             int              `json:"version"` // FormatVersion
	ID                  string           `json:"id"`      // "scn_" and a UUIDv7
	RunID               string           `json:"runId"`   // the recording it was calculated from
	Intent              string           `json:"intent"`  // the recorded prompt
	State               State            `json:"state"`
	Problem             string           `json:"problem,omitempty"` // why it is not ready, or what to know of a ready one
	ChainRevision       int              `json:"chainRevision"`     // grows with every saved change
	ParamsObject        map[string]Param `json:"paramsObject"`
	ParamsLogic         string           `json:"paramsLogic"`
	Steps               []Step           `json:"steps"`
	ResponseParamsLogic string           `json:"responseParamsLogic"`
	Provenance          Provenance       `json:"provenance"`
	CreatedAt           time.Time        `json:"createdAt"`
	UpdatedAt           time.Time        `json:"updatedAt"`
}

// ParamKind tells what is acted on from how it is done.
type ParamKind string

// A target names what the job is about and must be found in a new prompt; a
// setting falls back to its sample.
const (
	KindTarget  ParamKind = "target"
	KindSetting ParamKind = "setting"
)

// Param is one parameter of the prompt.
type Param struct {
	SampleValue json.RawMessage `json:"sampleValue"` // as recorded: a JSON string, number or boolean
	Description string          `json:"description"`
	Kind        ParamKind       `json:"kind"`
	Type        string          `json:"type"` // "string", "number" or "boolean"
}

// Step is one tool call of a scenario.
type Step struct {
	StepIndex       int        `json:"stepIndex"`  // from 1, as people count
	ToolName        string     `json:"toolName"`   // qualified, "mcp__fleet__read_text_file", or a built-in's, "Bash"
	ServerName      string     `json:"serverName"` // empty for a built-in tool of the host
	UpstreamTool    string     `json:"upstreamTool"`
	ToolInputLogic  string     `json:"toolInputLogic"`
	ToolOutputLogic string     `json:"toolOutputLogic"`
	Reasoning       string     `json:"reasoning"`              // one sentence for people
	Frozen          bool       `json:"frozen"`                 // its input is the recorded one, word for word
	FrozenReason    string     `json:"frozenReason,omitempty"` // what could not be explained
	Provenance      Provenance `json:"provenance"`
	Note            string     `json:"note,omitempty"` // why a forced body was saved
}

// BuiltIn says that the step's tool is one of the host's own, which nobody but the
// host can call.
func (s Step) BuiltIn() bool { return s.ServerName == "" }

// Tool is the tool's own name: the upstream's, or that of a built-in tool.
func (s Step) Tool() string {
	if s.BuiltIn() {
		return s.ToolName
	}
	return s.UpstreamTool
}

// Unproved tells whether nothing has shown that the step's bodies do what was
// recorded: somebody forced them, or they are being checked for the first time.
func (s Step) Unproved() bool {
	return s.Provenance != ProvenanceCalculated && s.Provenance != ProvenanceEdited
}

// Recording is a run as the engine reads it: the prompt and the calls that
// ended with a result, in order.
type Recording struct {
	RunID      string
	Prompt     string
	RecordedAt time.Time // the clock that the bodies see when they are checked
	Answer     string
	Calls      []Call
	Partial    string // why the trace is incomplete; empty when it is not
}

// Usable are the calls that a scenario is made of. Step i of a scenario calculated
// from the recording is the i-th of them.
func (r Recording) Usable() []Call {
	var calls []Call
	for _, call := range r.Calls {
		if call.Usable() {
			calls = append(calls, call)
		}
	}
	return calls
}

// Call is one recorded tool call.
type Call struct {
	ToolName     string
	ServerName   string
	UpstreamTool string
	Input        json.RawMessage // an object
	Output       string          // JSON text of the whole result: what an output body reads
	Failed       bool            // an error instead of a usable result
	Ended        string          // how it failed, "was denied"; may be empty
	Delegates    bool            // it started a subagent, whose calls are in the recording themselves
	Truncated    bool            // Output was cut when it was recorded
}

// Usable says whether the call becomes a step: it ended with a result, and what it
// did is not done by other steps already.
func (c Call) Usable() bool { return !c.Failed && !c.Delegates }

// Evaluator runs bodies; *sandbox.Pool is one.
type Evaluator interface {
	Eval(ctx context.Context, body sandbox.Body, args sandbox.Args) (sandbox.Result, error)
}
