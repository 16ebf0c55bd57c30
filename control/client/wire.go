// Package client is what the control server and those who ask it say to each other:
// the wire types, and a client for proxies and the CLI. It owns no state of a
// session and never reads a host's files.
package client

import (
	"encoding/json"
	"time"

	"github.com/bir-run/bir/recorder"
)

// Routes that hooks do not use. Those of hooks are in package event.
const (
	PathRegister      = "/proxy/register"
	PathStep          = "/proxy/step"
	PathPoll          = "/proxy/poll"
	PathResult        = "/proxy/result"
	PathDispatch      = "/proxy/dispatch"
	PathScenarioHello = "/scenario/hello"
	PathScenarioRun   = "/scenario/run"
	PathHealth        = "/health"
	PathShutdown      = "/shutdown"
)

// Register is how a proxy says that it is there. It is repeated after every change
// of the control server, with the same ProxyID.
type Register struct {
	ProxyID    string          `json:"proxyId"` // "prx_" and a UUIDv7, made by the proxy
	ServerName string          `json:"serverName"`
	PID        int             `json:"pid"`
	CWD        string          `json:"cwd"`
	SessionID  string          `json:"sessionId,omitempty"` // CLAUDE_CODE_SESSION_ID at its start; may be stale
	Version    string          `json:"version"`
	Host       recorder.App    `json:"host"` // as the host named itself; empty before it did
	Server     recorder.Server `json:"server"`
}

// Registered answers Register.
type Registered struct {
	Version string `json:"version"` // of the control server
	// CallIDs says that a call id may be injected, so that the key must be declared.
	CallIDs bool `json:"callIds"`
	// FingerprintKey keys the fingerprints in step reports: hexadecimal, 32 bytes.
	FingerprintKey string `json:"fingerprintKey"`
	// Lists says that PathStep takes a list of reports, too.
	Lists bool `json:"lists,omitempty"`
}

// StepReport is one tools/call that a proxy saw to its end. Arguments, result and
// error are redacted and cut before they are put here.
type StepReport struct {
	ID          string          `json:"id"` // "rep_" and a UUIDv7: sent twice, it counts once
	ProxyID     string          `json:"proxyId"`
	ServerName  string          `json:"serverName"`
	ToolName    string          `json:"toolName"`              // the upstream's own
	ToolUseID   string          `json:"toolUseId,omitempty"`   // _meta["claudecode/toolUseId"]
	CallID      string          `json:"callId,omitempty"`      // __bir_call_id__, where one was injected
	Fingerprint string          `json:"fingerprint,omitempty"` // of the arguments as they ran, before redaction
	Args        json.RawMessage `json:"args,omitempty"`
	Result      json.RawMessage `json:"result,omitempty"` // the whole result object
	Error       string          `json:"error,omitempty"`
	Status      recorder.Status `json:"status"`
	StartedAt   time.Time       `json:"startedAt"`
	DurationMS  float64         `json:"durationMs"`
	// Lost says how many reports of this proxy were dropped before this one.
	Lost int `json:"lost,omitempty"`
}

// Taken answers a list of reports. What it does not name was taken.
type Taken struct {
	Refused []Untaken `json:"refused,omitempty"`
}

// Untaken is a report that will not be taken, however often it is sent.
type Untaken struct {
	Index int    `json:"index"` // in the list
	Why   string `json:"why"`
}

// Poll asks for a call to dispatch. The answer comes when there is one, or after
// the wait with none.
type Poll struct {
	ProxyID string `json:"proxyId"`
	WaitMS  int    `json:"waitMs,omitempty"` // 0: 25,000
}

// Dispatch is a call that the control server wants made: a poll's answer. Its ID is
// empty where there is none.
type Dispatch struct {
	ID        string          `json:"id,omitempty"` // "dsp_" and a UUIDv7
	ToolName  string          `json:"toolName,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	TimeoutMS int             `json:"timeoutMs,omitempty"`
}

// Result says what came of a dispatched call.
type Result struct {
	ID      string          `json:"id"`
	ProxyID string          `json:"proxyId"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   string          `json:"error,omitempty"`
	Sent    bool            `json:"sent"` // false: certain never to have reached the upstream
}

// DispatchOrder asks for a call through a live proxy; a Result answers it.
type DispatchOrder struct {
	ServerName string          `json:"serverName"`
	ToolName   string          `json:"toolName"`
	Args       json.RawMessage `json:"args,omitempty"`
	TimeoutMS  int             `json:"timeoutMs,omitempty"` // 0: 60,000
	// ProxyID or SessionID tell the proxies of one server apart.
	ProxyID   string `json:"proxyId,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

// ScenarioHello says that the tool that runs scenarios is there.
type ScenarioHello struct {
	PID     int    `json:"pid"`
	Version string `json:"version"`
	Tools   int    `json:"tools"`
	Off     bool   `json:"off"`
}

// ScenarioHelloed answers ScenarioHello.
type ScenarioHelloed struct {
	OK bool `json:"ok"`
}

// ScenarioRun asks to run the scenario that was armed for a turn.
type ScenarioRun struct {
	ToolUseID string `json:"toolUseId,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

// ScenarioRan answers ScenarioRun. Why is WhyNoPlan where nothing is armed.
type ScenarioRan struct {
	OK  bool   `json:"ok"`
	Why string `json:"why,omitempty"`
}

// WhyNoPlan says that no scenario is armed for the turn.
const WhyNoPlan = "no_plan"

// Shutdown asks the control server to end.
type Shutdown struct {
	// HandOver says that a newer one goes on with its runs, at its addresses.
	HandOver bool `json:"handOver,omitempty"`
	// Socket already listens for the newer one: it takes the place of the old one's
	// before that closes, so that no hook comes to a closed door.
	Socket string `json:"socket,omitempty"`
}

// Health is what the control server says of itself.
type Health struct {
	OK        bool      `json:"ok"`
	PID       int       `json:"pid"`
	Version   string    `json:"version"`
	Root      string    `json:"root"`
	StartedAt time.Time `json:"startedAt"`
	Steps     int       `json:"steps"` // allocated since the start
	Runs      []OpenRun `json:"runs"`
	Proxies   []Proxy   `json:"proxies"`
	Events    []Seen    `json:"events"` // hook events, by name
	Guards    string    `json:"guards"` // "ready", "compiling" or what is wrong
}

// OpenRun is a run under way.
type OpenRun struct {
	ID        string    `json:"id"`
	SessionID string    `json:"sessionId"`
	Prompt    string    `json:"prompt"` // redacted, cut to a line
	Steps     int       `json:"steps"`
	Pending   int       `json:"pending"` // calls of which one half is missing
	StartedAt time.Time `json:"startedAt"`
	Lossy     bool      `json:"lossy"`
}

// Proxy is a proxy that has registered.
type Proxy struct {
	Register
	LastSeen time.Time `json:"lastSeen"`
	Alive    bool      `json:"alive"`
	Calls    int       `json:"calls"`
}

// Seen says when a hook event came last, and how often.
type Seen struct {
	Event  string    `json:"event"`
	Last   time.Time `json:"last"`
	Count  int       `json:"count"`
	Missed int       `json:"missed,omitempty"` // past its deadline
}
