package machine

import (
	"slices"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/control/order"
	"github.com/bir-run/bir/control/transcript"
	"github.com/bir-run/bir/recorder"
)

// begin adds a call to a run, and to it the proxy's half where that came first.
func (s *step) begin(r *Run, c *correlate.Call) *correlate.Call {
	if c.AgentType == "" {
		c.AgentType = r.Agents[c.Agent]
	} else if c.Agent != "" {
		r.Agents[c.Agent] = c.AgentType
	}
	r.Calls[c.ID] = c
	r.Line.Begin(c.ID, c.Began, c.Expect)
	s.adopt(r, c)
	return c
}

// called is the call of the event as a hook tells of it.
func (s *step) called() *correlate.Call {
	c := &correlate.Call{
		ID: s.e.ToolUse, Tool: s.e.Tool, Server: s.e.Server, Began: s.e.At,
		Agent: s.e.Agent, AgentType: s.e.AgentType, Asked: s.e.Input, CallID: s.e.CallID, Expect: s.e.Expect,
	}
	if s.e.Fingerprint != "" {
		c.Fingerprints = []string{s.e.Fingerprint}
	}
	return c
}

func (s *step) pre() {
	r := s.run()
	if r == nil || r.known(s.e.ToolUse) {
		return
	}
	if s.e.Agent == "" {
		s.alive(r)
	}
	s.begin(r, s.called())
}

// known says that a call is no news. A report without a hook may have made it.
func (r *Run) known(id string) bool {
	return r.Calls[id] != nil || r.Done[id] || r.held(id) != nil
}

func (r *Run) held(id string) *correlate.Call {
	for _, h := range r.Held {
		if h.Call.ID == id {
			return h.Call
		}
	}
	return nil
}

// permission notes that a person is asked. The host does not say for which call: it
// asks for one at a time, and the last that began is the likeliest.
func (s *step) permission() {
	r := s.RunOf(s.e)
	if r == nil {
		return
	}
	var last *correlate.Call
	for _, c := range r.Calls {
		if c.End == nil && c.Tool == s.e.Tool && c.Agent == s.e.Agent && !c.AskedPerson && (last == nil || c.Began.After(last.Began)) {
			last = c
		}
	}
	if last != nil {
		last.AskedPerson = true
	}
}

func (s *step) denied() {
	if r := s.RunOf(s.e); r != nil && r.Calls[s.e.ToolUse] != nil {
		r.Calls[s.e.ToolUse].Denied = true
	}
}

// post ends a call as the hook tells it. Its input is what ran; PreToolUse had what
// was asked for.
func (s *step) post() {
	r := s.run()
	if r == nil || r.Done[s.e.ToolUse] || r.held(s.e.ToolUse) != nil {
		return
	}
	c := r.Calls[s.e.ToolUse]
	if c == nil {
		c = s.called()
		c.Began = s.e.At.Add(-time.Duration(s.e.DurationMS * float64(time.Millisecond)))
		s.begin(r, c)
	}
	if c.End != nil {
		return
	}
	c.Expect = c.Expect || s.e.Expect
	if s.e.Fingerprint != "" && !slices.Contains(c.Fingerprints, s.e.Fingerprint) {
		c.Fingerprints = append(c.Fingerprints, s.e.Fingerprint)
	}
	c.End = &correlate.End{
		At: s.e.At, Status: s.postStatus(), Ran: s.e.Input, Result: s.e.Output,
		Error: s.e.Error, DurationMS: s.e.DurationMS,
	}
	s.adopt(r, c)
}

func (s *step) postStatus() recorder.Status {
	switch {
	case s.e.Kind == "PostToolUse":
		return recorder.StatusOK
	case s.e.Interrupted:
		return recorder.StatusInterrupted
	}
	return recorder.StatusToolError
}

// batch ends calls that did not run: no other hook tells of them. Whatever else has
// no end then has one in the transcript.
func (s *step) batch() {
	r := s.run()
	if r == nil {
		return
	}
	for _, b := range s.e.Batch {
		status := correlate.Answered(b.Text)
		if status == "" || r.Done[b.ToolUse] || r.held(b.ToolUse) != nil {
			continue
		}
		c := r.Calls[b.ToolUse]
		if c == nil {
			c = s.begin(r, &correlate.Call{
				ID: b.ToolUse, Tool: b.Tool, Began: s.e.At, Asked: b.Input, Agent: s.e.Agent, AgentType: s.e.AgentType,
			})
		}
		if c.End == nil {
			c.End = &correlate.End{At: s.e.At, Status: status, Error: b.Text}
			if c.Denied {
				c.End.Status = recorder.StatusDenied
			}
		}
	}
}

// recover takes from the transcript what no hook told.
func (s *step) recover(r *Run) {
	if s.e.View == nil || s.e.View.Run != r.ID {
		return
	}
	for _, t := range s.e.View.Found {
		if !r.Wants(t.ID) {
			continue
		}
		if c := r.Calls[t.ID]; c != nil {
			c.End = correlate.Recovered(t)
			continue
		}
		if r.Agents[t.Agent] == "" && t.Agent != "" {
			r.Agents[t.Agent] = ""
		}
		c := s.begin(r, foundCall(t))
		c.End = correlate.Recovered(t)
	}
}

func foundCall(t transcript.Call) *correlate.Call {
	return &correlate.Call{ID: t.ID, Tool: t.Tool, Began: t.Began, Agent: t.Agent, Asked: t.Input}
}

// wire takes in a proxy's report.
func (s *step) wire() {
	w := *s.e.Wire
	if s.reported[w.ID] {
		return
	}
	s.report(w.ID)
	if w.Lost > 0 {
		s.lost(w)
	}
	for _, r := range s.ordered() {
		if r.late(w) {
			return
		}
		if c := r.match(w); c != nil {
			s.join(r, c, w)
			return
		}
	}
	s.Orphans = append(s.Orphans, Orphan{At: s.e.At, Wire: w, Run: s.e.NewRun})
}

func (s *State) report(id string) {
	s.reported[id] = true
	s.Reports = append(s.Reports, id)
	if len(s.Reports) > 2*maxReports {
		for _, old := range s.Reports[:maxReports] {
			delete(s.reported, old)
		}
		s.Reports = slices.Clone(s.Reports[maxReports:])
	}
}

// lost marks the runs that the lost reports may have belonged to.
func (s *step) lost(w client.StepReport) {
	session := s.Proxies[w.ProxyID].SessionID
	own := s.Sessions[session] != nil && s.Runs[s.Sessions[session].Run] != nil
	for _, r := range s.Runs {
		if !own || r.Session == session {
			r.Lossy = true
		}
	}
}

// late takes a half that comes after its call was numbered. It corrects what is not
// reported yet, and nothing that is: a row is written once.
func (r *Run) late(w client.StepReport) bool {
	if w.ToolUseID == "" {
		return false
	}
	if c := r.held(w.ToolUseID); c != nil {
		c.TakeWire(w)
		return true
	}
	return r.Done[w.ToolUseID]
}

// match finds the call that a report is of: by the host's id, by an injected one, or
// by its fingerprint. Of several equal calls at once it takes the oldest.
func (r *Run) match(w client.StepReport) *correlate.Call {
	if w.ToolUseID != "" {
		return r.Calls[w.ToolUseID]
	}
	var best *correlate.Call
	for _, c := range r.Calls {
		if w.CallID != "" && c.CallID == w.CallID {
			return c
		}
		if c.Matches(w) && (best == nil || c.Began.Before(best.Began) || (c.Began.Equal(best.Began) && c.ID < best.ID)) {
			best = c
		}
	}
	return best
}

func (s *step) join(r *Run, c *correlate.Call, w client.StepReport) {
	if c.CallID != "" && w.CallID == "" {
		s.noIDs(r.Session, w.ServerName)
	}
	c.TakeWire(w)
	r.Line.Known(c.ID, c.WireEnd())
	r.Last = s.e.At
}

// noIDs stops injecting ids for a server whose proxy hands none back.
func (s *step) noIDs(session, server string) {
	if known := s.Sessions[session]; known != nil && !slices.Contains(known.NoIDs, server) {
		known.NoIDs = append(known.NoIDs, server)
	}
}

// adopt joins reports that came before their call.
func (s *step) adopt(r *Run, c *correlate.Call) {
	s.Orphans = slices.DeleteFunc(s.Orphans, func(o Orphan) bool {
		w := o.Wire
		own := w.ToolUseID == c.ID
		if !own && (w.ToolUseID != "" || !c.Matches(w) && (w.CallID == "" || w.CallID != c.CallID)) {
			return false
		}
		s.join(r, c, w)
		return true
	})
}

// tick does what is due.
func (s *step) tick() {
	for _, id := range s.e.Gone {
		delete(s.Proxies, id)
	}
	for _, o := range s.overdue() {
		s.place(o)
	}
	for _, r := range s.ordered() {
		gone := slices.Contains(s.e.Lost, r.Session) && r.Session != ""
		aloneGone := r.Proxy != "" && slices.Contains(s.e.Gone, r.Proxy)
		switch {
		case gone, aloneGone:
			s.see(r)
			s.close(r, true)
		case !r.Deadline.IsZero() && !s.e.At.Before(r.Deadline):
			s.deadline(r)
		}
	}
	for _, id := range s.e.Lost {
		delete(s.Sessions, id)
	}
}

func (s *step) deadline(r *Run) {
	last := r.Last
	s.see(r)
	r.Last = last // nothing happened but time
	if v := s.e.View; v != nil && v.Run == r.ID && v.GoesOn {
		s.alive(r) // a hook sent the model back to work
		return
	}
	s.close(r, false)
}

func (s *step) overdue() (out []Orphan) {
	s.Orphans = slices.DeleteFunc(s.Orphans, func(o Orphan) bool {
		due := s.e.At.Sub(o.At) >= order.Grace
		if due {
			out = append(out, o)
		}
		return due
	})
	return out
}

// place finds a run for a report that no hook speaks of: hooks do not fire for it, or
// nobody heard them. The turn of the session that the proxy was started in is the
// likeliest, then the only turn there is; without one the proxy gets a run of its own.
func (s *step) place(o Orphan) {
	r := s.home(o)
	w := o.Wire
	id := w.ToolUseID
	if id == "" {
		id = derive("call", w.StartedAt, r.ID, w.ID)
	}
	if r.known(id) {
		return
	}
	c := &correlate.Call{
		ID: id, Tool: recorder.QualifiedName(w.ServerName, w.ToolName), Server: w.ServerName, Began: w.StartedAt, Asked: w.Args,
	}
	c.TakeWire(w)
	r.Calls[id] = c
	r.Line.Begin(id, c.Began, false)
	c.End = &correlate.End{At: c.WireEnd(), Status: w.Status}
	if r.Proxy != "" {
		r.Last, r.Deadline = s.e.At, s.e.At.Add(aloneWait)
	}
}

func (s *step) home(o Orphan) *Run {
	proxy := s.Proxies[o.Wire.ProxyID]
	if session := s.Sessions[proxy.SessionID]; session != nil {
		if r := s.Runs[session.Run]; r != nil {
			return r
		}
	}
	var bound []*Run
	for _, r := range s.ordered() {
		if r.Proxy == o.Wire.ProxyID {
			return r
		}
		if r.Session != "" && r.Closed.IsZero() {
			bound = append(bound, r)
		}
	}
	if len(bound) == 1 {
		return bound[0]
	}
	r := &Run{ID: o.Run, Proxy: o.Wire.ProxyID, CWD: proxy.CWD, Started: o.Wire.StartedAt, Last: s.e.At}
	r.restore()
	s.Runs[r.ID] = r
	return r
}
