// Package correlate makes one call of what hooks and proxy tell of it. It is pure and
// keeps nothing but the call; who may be joined with whom is decided here, when is
// not.
//
// The hook knows who called, with what reasoning and what the model asked for; the
// proxy knows what really went over the wire and what came back. Where both speak of
// the same thing, the wire wins: a hook shows results as the model sees them, with
// images moved, annotations dropped and long texts replaced.
package correlate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

// FingerprintWindow is how long after a hook's start of a call a proxy's report may be
// joined to it by its fingerprint: a person may be reading a permission prompt.
const FingerprintWindow = 10 * time.Minute

// Call is a call under way, with the halves that have come. It is plain data, so that
// a journal can keep it.
type Call struct {
	ID           string          `json:"id"` // the host's tool use id, or made up
	Tool         string          `json:"tool"`
	Server       string          `json:"server,omitempty"` // as the hook named it
	Began        time.Time       `json:"began"`
	Agent        string          `json:"agent,omitempty"`
	AgentType    string          `json:"agentType,omitempty"`
	Asked        json.RawMessage `json:"asked,omitempty"` // what the model asked for
	Context      string          `json:"context,omitempty"`
	Said         bool            `json:"said,omitempty"` // Context is known, if empty
	Fingerprints []string        `json:"fingerprints,omitempty"`
	CallID       string          `json:"callId,omitempty"` // that was injected
	AskedPerson  bool            `json:"askedPerson,omitempty"`
	Denied       bool            `json:"denied,omitempty"`
	Over         bool            `json:"over,omitempty"` // it ended, nobody told how

	End      *End               `json:"end,omitempty"`
	Wire     *client.StepReport `json:"wire,omitempty"` // the last one
	Attempts int                `json:"attempts,omitempty"`
	// Expect says that a proxy is there which will tell its half.
	Expect bool `json:"expect,omitempty"`
}

// End is how a call ended as the host tells it, through a hook or its transcript.
type End struct {
	At         time.Time       `json:"at"`
	Began      time.Time       `json:"began,omitzero"` // where nobody heard the start
	Status     recorder.Status `json:"status"`
	Ran        json.RawMessage `json:"ran,omitempty"` // the input, as it ran
	Result     json.RawMessage `json:"result,omitempty"`
	Error      string          `json:"error,omitempty"`
	DurationMS float64         `json:"durationMs,omitempty"`
}

// TakeWire adds the proxy's half. Sent twice under one id by the host, a call is one
// call with two attempts, and the later one is what came of it.
func (c *Call) TakeWire(r client.StepReport) {
	c.Attempts++
	if c.Wire == nil || !r.StartedAt.Before(c.Wire.StartedAt) {
		c.Wire = &r
	}
}

// Is says whether a report is of this call, by the host's id. The tool that a host asks
// for permission gets the id of the call that is asked about, and is another call.
func (c *Call) Is(w client.StepReport) bool {
	return c.ID == w.ToolUseID && (!IsMCP(c.Tool) || Names(c.Tool, w.ToolName))
}

// Settled says that no more is to be waited for: the host has told the end and the
// proxy, where there is one, its half.
func (c *Call) Settled() bool {
	return c.End != nil && (c.Wire != nil || !c.Expect || !ran(c.End.Status))
}

// ran says whether a call that ended so can have reached its upstream.
func ran(s recorder.Status) bool {
	switch s {
	case recorder.StatusDenied, recorder.StatusRejected, recorder.StatusInvalid, recorder.StatusUnreported:
		return false
	}
	return true
}

// WireEnd is when the proxy saw the end.
func WireEnd(w client.StepReport) time.Time { return w.StartedAt.Add(duration(w.DurationMS)) }

// EndedAt is when the call ended, by the one who was nearest.
func (c *Call) EndedAt() time.Time {
	if c.Wire != nil {
		return WireEnd(*c.Wire)
	}
	return c.End.At
}

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// Matches says whether a report without the host's id can be this call's, by its
// fingerprint. A report whose call has its half already is another call's.
func (c *Call) Matches(w client.StepReport) bool {
	return w.ToolUseID == "" && c.Wire == nil && w.Fingerprint != "" && slices.Contains(c.Fingerprints, w.Fingerprint) &&
		w.StartedAt.Sub(c.Began) < FingerprintWindow
}

// Before orders calls by when they began.
func (c *Call) Before(d *Call) bool {
	return cmp.Or(c.Began.Compare(d.Began), cmp.Compare(c.ID, d.ID)) < 0
}

// Bytes is about what the call's payloads take.
func (c *Call) Bytes() int {
	n := len(c.Asked) + len(c.Context)
	if c.End != nil {
		n += len(c.End.Ran) + len(c.End.Result) + len(c.End.Error)
	}
	if c.Wire != nil {
		n += len(c.Wire.Args) + len(c.Wire.Result) + len(c.Wire.Error)
	}
	return n
}

// Merged is the call that both halves make. A call that nobody told the end of must
// have been given one before.
func (c *Call) Merged() recorder.Call {
	m := recorder.Call{
		ID: c.ID, Args: c.Asked, Status: c.End.Status, Result: c.End.Result, Error: c.End.Error,
		StartedAt: c.Began, Duration: max(0, c.End.At.Sub(c.Began)),
		Context: c.Context, AgentID: c.Agent, AgentType: c.AgentType,
	}
	m.ServerName, m.ToolName = Split(c.Tool, c.Server)
	if c.End.DurationMS > 0 {
		m.Duration = duration(c.End.DurationMS)
	}
	if len(c.End.Ran) > 0 {
		m.Args = c.End.Ran
	}
	if c.Wire != nil {
		c.overlay(&m)
	}
	if c.Attempts > 1 {
		m.Attempts = c.Attempts
	}
	if len(c.Asked) > 0 && !sameJSON(c.Asked, m.Args) {
		m.Asked = c.Asked
	}
	return m
}

// overlay puts what went over the wire in the place of what the hook showed of it.
func (c *Call) overlay(m *recorder.Call) {
	w := c.Wire
	m.ServerName, m.ToolName = w.ServerName, w.ToolName
	m.Result, m.StartedAt, m.Duration = w.Result, w.StartedAt, duration(w.DurationMS)
	if len(w.Args) > 0 {
		m.Args = w.Args
	}
	// The host cancels for several reasons; that a person stopped it only the host knows.
	if w.Status != recorder.StatusCancelled || m.Status != recorder.StatusInterrupted {
		m.Status = w.Status
	}
	if w.Error != "" || w.Result != nil {
		m.Error = w.Error
	}
}

// sameJSON compares what the JSON says. Texts that are equal are the common case.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, err1 := canonical(a)
	y, err2 := canonical(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

func canonical(raw json.RawMessage) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
