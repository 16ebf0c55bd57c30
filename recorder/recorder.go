// Package recorder holds what a recording is made of: runs, calls, steps, the
// form in which a run is exported, and the interface through which calls are
// reported. It never dials, spools, redacts or stores; its children do.
package recorder

import (
	"context"
	"encoding/json"
	"time"
)

// Recorder takes reports of what happened. No method blocks on the network or
// returns an error: recording fails open, and what was lost marks the run lossy.
type Recorder interface {
	// StartRun opens a run under the id that the caller made (NewID("run")).
	StartRun(run Run)
	// RecordCall adds one finished tool call to an open run. The call is redacted,
	// then truncated, before it leaves the process.
	RecordCall(runID string, call Call)
	// FinishRun closes the run; reports for it that come later are dropped.
	FinishRun(runID string, end Finish)
	// Flush waits until everything reported so far is sent or spooled, or ctx ends.
	Flush(ctx context.Context) error
}

// State says whether a run still takes steps.
type State string

// The states of a run.
const (
	StateOpen     State = "open"
	StateFinished State = "finished"
)

// Tier says who saw the run, and so how complete it can be.
type Tier string

// The tiers (DESIGN section 1). A standalone run has no prompt, no built-in
// tools and no final answer.
const (
	TierBound      Tier = "bound"
	TierStandalone Tier = "standalone"
)

// Run is one piece of work: a prompt and the tool calls that served it.
type Run struct {
	ID         string           `json:"id"`                   // "run_" and a UUIDv7
	Framework  string           `json:"framework"`            // "mcp"
	Input      string           `json:"input"`                // the prompt, empty where nobody saw it
	Metadata   Metadata         `json:"metadata"`             //
	State      State            `json:"state"`                //
	Output     string           `json:"output,omitempty"`     // the final answer, where one was seen
	StartedAt  time.Time        `json:"startedAt"`            // UTC
	FinishedAt time.Time        `json:"finishedAt,omitzero"`  // UTC
	StepCount  int              `json:"stepCount,omitempty"`  // rows; filled by the service
	CallCount  int              `json:"callCount,omitempty"`  // calls; filled by the service
	Usage      map[string]Usage `json:"usage,omitempty"`      // by model; absent where it was not measured
	ScenarioID string           `json:"scenarioId,omitempty"` // filled by the service
}

// Metadata says where a run comes from. The tier keeps a partial trace from
// being mistaken for a complete one.
type Metadata struct {
	Recorder       string            `json:"recorder"` // "bir"
	Tier           Tier              `json:"tier"`
	Host           App               `json:"host"`
	CWD            string            `json:"cwd,omitempty"`
	WrappedServers []string          `json:"wrappedServers,omitempty"`
	Servers        map[string]Server `json:"servers,omitempty"`   // by server name
	SessionID      string            `json:"sessionId,omitempty"` // the host's, bound tier only
	Lossy          bool              `json:"lossy"`
}

// App names the MCP client that drove the run, as it named itself.
type App struct {
	App     string `json:"app"`
	Version string `json:"version,omitempty"`
}

// Server says how an upstream was reached, so that a replay can reach it again.
type Server struct {
	Transport string   `json:"transport"` // "stdio", "http" or "sse"
	Command   []string `json:"command,omitempty"`
	URL       string   `json:"url,omitempty"` // without user and query, which may hold secrets
	CWD       string   `json:"cwd,omitempty"`
}

// Status is how a tool call ended.
type Status string

// The ways a call ends. Only StatusOK is a result that a scenario may build on. The
// last five are known only where hooks tell of calls, too.
const (
	StatusOK        Status = "ok"
	StatusToolError Status = "tool_error" // a result with isError: true
	StatusRPCError  Status = "rpc_error"  // a JSON-RPC error instead of a result
	StatusCancelled Status = "cancelled"  // the host gave up on it
	StatusNoAnswer  Status = "no_answer"  // the upstream ended first

	StatusDenied      Status = "denied"      // by a rule, a hook or the permission mode
	StatusRejected    Status = "rejected"    // by the person who was asked
	StatusInvalid     Status = "invalid"     // its input failed the host's check
	StatusInterrupted Status = "interrupted" // the turn was stopped while it ran
	StatusUnreported  Status = "unreported"  // nobody said how it ended
)

// Call is one tool call, unredacted: a tools/call as the relay saw it or, in a bound
// run, what hooks and proxy told of it together.
type Call struct {
	ID         string          // the host's tool use id where it sent one, else a hook's; empty: made by the recorder
	HookID     string          // that a hook put among the arguments (relay/callid)
	ServerName string          // the configuration's key, "fleet"; empty for a built-in tool
	ToolName   string          // the upstream's own name, "read_text_file"
	Args       json.RawMessage // as they ran
	Result     json.RawMessage // the whole result object; nil without one
	Error      string          // the JSON-RPC error or what took its place
	Status     Status
	StartedAt  time.Time
	Duration   time.Duration

	// The rest is known in a bound run only.
	Asked     json.RawMessage // what the model asked for, where other arguments ran
	Context   string          // the model's reasoning before the call
	AgentID   string          // of the subagent that called
	AgentType string          // "Explore"
	Attempts  int             // how often the host sent it; 0 is once
	// Place is set by whoever numbers the rows itself; zero leaves it to the recorder.
	Place Place
	// Done, where it is set, may be called once nobody reads the call's bytes any more,
	// so that whoever lent them can use them again. A call that is dropped may not.
	Done func()
}

// Place is where the two rows of a call stand in their run, under ids that are the
// same however often they are reported.
type Place struct {
	Index  int       // of the first row
	RowIDs [2]string // "step_" and a UUIDv7
}

// Usage counts the tokens of one model.
type Usage struct {
	Input         int64 `json:"inputTokens"`
	Output        int64 `json:"outputTokens"`
	CacheCreation int64 `json:"cacheCreationTokens"`
	CacheRead     int64 `json:"cacheReadTokens"`
}

// Finish says how a run ended.
type Finish struct {
	Output     string    `json:"output,omitempty"`
	Lossy      bool      `json:"lossy,omitempty"`
	FinishedAt time.Time `json:"finishedAt"`
	// Usage is what the run cost, by model; nil where it was not measured.
	Usage map[string]Usage `json:"usage,omitempty"`
	// Answer is where the final answer's row stands; zero leaves it to the recorder.
	Answer Place `json:"-"`
}

// StepType tells the two rows of a call apart, and the answer.
type StepType string

// The types of step rows.
const (
	StepSelected StepType = "tool_selected"
	StepResponse StepType = "tool_response"
	StepAnswer   StepType = "final_answer"
)

// Step is one row of a run. A tool call is two rows that share a CallID:
// tool_selected carries its input, tool_response its output.
type Step struct {
	ID           string    `json:"id"`                     // "step_" and a UUIDv7
	StepIndex    int       `json:"stepIndex"`              // from 0, in order of completion
	Type         StepType  `json:"type"`                   //
	CallID       string    `json:"callId,omitempty"`       //
	ToolName     string    `json:"toolName,omitempty"`     // qualified, "mcp__fleet__read_text_file"
	ServerName   string    `json:"serverName,omitempty"`   // "fleet"
	UpstreamTool string    `json:"upstreamTool,omitempty"` // "read_text_file"
	ToolInput    string    `json:"toolInput,omitempty"`    // JSON text
	ToolOutput   string    `json:"toolOutput,omitempty"`   // JSON text of the whole result
	ToolError    string    `json:"toolError,omitempty"`    //
	Context      string    `json:"context,omitempty"`      // the model's reasoning, bound tier only
	Answer       string    `json:"answer,omitempty"`       // final_answer only
	Status       Status    `json:"status,omitempty"`       // tool_response only
	StartedAt    time.Time `json:"startedAt,omitzero"`     // UTC
	DurationMS   float64   `json:"durationMs,omitempty"`   // tool_response only
	AskedInput   string    `json:"askedInput,omitempty"`   // JSON text; what the model asked for, where other arguments ran
	AgentID      string    `json:"agentId,omitempty"`      // of the subagent that called
	AgentType    string    `json:"agentType,omitempty"`    //
	Attempts     int       `json:"attempts,omitempty"`     // how often the host sent the call, where more than once
}

// RunWithSteps is what the service answers for one run, and what export writes
// between its header and its end.
type RunWithSteps struct {
	Run   Run    `json:"run"`
	Steps []Step `json:"steps"`
}

// ExportFormat and ExportVersion head an exported run.
const (
	ExportFormat  = "bir-run"
	ExportVersion = 1
)

// Export is the documented JSON form of a run: `bir runs export` writes it and
// `bir runs import` reads it. Ids are kept, so importing twice books once.
type Export struct {
	Format  string `json:"format"`  // ExportFormat
	Version int    `json:"version"` // ExportVersion
	RunWithSteps
}
