package turn

import (
	"cmp"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/recorder"
)

// Begin adds a call.
func (r *Run) Begin(c *correlate.Call) {
	if c.Agent != "" {
		c.AgentType = cmp.Or(c.AgentType, r.Agents[c.Agent])
		r.Agents[c.Agent] = c.AgentType
	}
	r.Calls[c.ID] = c
	if said, ok := r.Said[c.ID]; ok {
		c.Context, c.Said = said, true
		delete(r.Said, c.ID)
	}
	r.Line.Begin(c.ID, c.Began, c.Expect)
}

// Known says that a call is no news. A report without a hook may have made it.
func (r *Run) Known(id string) bool {
	return r.Calls[id] != nil || r.IsDone(id) || r.HeldCall(id) != nil
}

// IsDone says that a call is reported.
func (r *Run) IsDone(id string) bool {
	_, ok := r.Done[id]
	return ok
}

// HeldCall is a numbered call that is not reported yet, or nil.
func (r *Run) HeldCall(id string) *correlate.Call {
	for _, h := range r.Held {
		if h.Call.ID == id {
			return h.Call
		}
	}
	return nil
}

// Late takes a half that comes after its call was numbered. It corrects what is not
// reported yet, and nothing that is: a row is written once.
func (r *Run) Late(w client.StepReport) bool {
	if c := r.HeldCall(w.ToolUseID); c != nil && c.Is(w) {
		c.TakeWire(w)
		return true
	}
	tool, ok := r.Done[w.ToolUseID]
	return ok && correlate.Names(tool, w.ToolName)
}

// EndOpen ends calls that nobody will tell the end of any more.
func (r *Run) EndOpen(at time.Time, which func(*correlate.Call) bool, stopped bool) {
	for _, c := range r.Calls {
		if c.End == nil && which(c) {
			c.End = &correlate.End{At: at, Status: c.Untold(stopped)}
			if c.End.Status == recorder.StatusUnreported {
				r.Lossy = true
			}
		}
	}
}
