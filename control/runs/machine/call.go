package machine

import (
	"slices"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/control/order"
	"github.com/bir-run/bir/control/runs/turn"
	"github.com/bir-run/bir/control/transcript"
	"github.com/bir-run/bir/recorder"
)

// begin adds a call to a run, and to it the proxy's half where that came first.
func (s *step) begin(r *turn.Run, c *correlate.Call) *correlate.Call {
	r.Begin(c)
	if !r.Closed.IsZero() && r.Deadline.IsZero() {
		r.Deadline = s.e.At.Add(taskWait) // of a subagent that is left behind
	}
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
	if r == nil || r.Known(s.e.ToolUse) {
		return
	}
	if s.e.Agent == "" {
		s.alive(r)
	}
	s.begin(r, s.called())
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
		if c.End == nil && c.Tool == s.e.Tool && c.Agent == s.e.Agent && !c.AskedPerson && (last == nil || last.Before(c)) {
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
	if r == nil || r.IsDone(s.e.ToolUse) || r.HeldCall(s.e.ToolUse) != nil {
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

// batch ends calls that did not run: no other hook tells of them.
func (s *step) batch() {
	r := s.run()
	if r == nil {
		return
	}
	for _, b := range s.e.Batch {
		status, c := correlate.Answered(b.Text), r.Calls[b.ToolUse]
		if c == nil && status != "" && !r.Known(b.ToolUse) {
			c = s.begin(r, &correlate.Call{
				ID: b.ToolUse, Tool: b.Tool, Began: s.e.At, Asked: b.Input, Agent: s.e.Agent, AgentType: s.e.AgentType,
			})
		}
		if c != nil && c.End == nil {
			s.over(r, c, status, b.Text)
		}
	}
}

// over ends a call that is over and of which no hook told the end. Where nobody knows
// how it ended, the transcript will; the calls that follow wait for that a moment.
func (s *step) over(r *turn.Run, c *correlate.Call, status recorder.Status, told string) {
	switch {
	case c.Denied:
		status = recorder.StatusDenied
	case status == "" && c.Wire != nil:
		status = c.Wire.Status
	}
	if status == "" {
		c.Over = true
		r.Line.Known(c.ID, s.e.At)
		return
	}
	c.End = &correlate.End{At: s.e.At, Status: status, Error: told}
}

// recover takes from the transcript what no hook told.
func (s *step) recover(r *turn.Run) {
	v := s.view(r)
	if v == nil {
		return
	}
	for _, t := range v.Found {
		if !r.Wants(t.ID) {
			continue
		}
		c := r.Calls[t.ID]
		if c == nil {
			c = s.begin(r, foundCall(t))
		}
		if c.End = correlate.Recovered(t); c.End != nil && c.Denied {
			c.End.Status = recorder.StatusDenied
		}
	}
}

func foundCall(t transcript.Call) *correlate.Call {
	return &correlate.Call{ID: t.ID, Tool: t.Tool, Began: t.Began, Agent: t.Agent, Asked: t.Input}
}

// wire takes in a proxy's report.
func (s *step) wire() {
	w := *s.e.Wire
	if s.Reports.Has(w.ID) {
		return
	}
	s.Reports.add(w.ID)
	if w.Lost > 0 {
		s.lost(w)
	}
	if w.ToolUseID != "" {
		s.Senders[w.ProxyID] = true
	}
	if s.join(w) || s.Past.Has(w.ToolUseID) {
		return
	}
	s.Orphans = append(s.Orphans, Orphan{At: s.e.At, Wire: w, Run: s.e.NewRun})
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

// join adds a report to its call: by the host's id, by an injected one, or by its
// fingerprint. Of several equal calls it takes the oldest, and those of the session
// that the proxy was started in before others.
func (s *step) join(w client.StepReport) bool {
	var run *turn.Run
	var best *correlate.Call
	for _, r := range s.ordered() {
		if r.Late(w) {
			return true
		}
		for _, c := range r.Calls {
			if !s.matches(c, w) {
				continue
			}
			own, bestOwn := s.native(r, w), run != nil && s.native(run, w)
			if best == nil || (own && !bestOwn) || (own == bestOwn && c.Before(best)) {
				run, best = r, c
			}
		}
	}
	if best == nil {
		return false
	}
	s.take(run, best, w)
	return true
}

// native says whether a run is of the session that the proxy was started in.
func (s *step) native(r *turn.Run, w client.StepReport) bool {
	return r.Session != "" && s.Proxies[w.ProxyID].SessionID == r.Session
}

// matches says whether a report can be of a call.
func (s *step) matches(c *correlate.Call, w client.StepReport) bool {
	switch {
	case w.ToolUseID != "":
		return c.Is(w)
	case w.CallID != "" && c.CallID != "":
		return c.CallID == w.CallID
	}
	return !s.Senders[w.ProxyID] && c.Matches(w)
}

func (s *step) take(r *turn.Run, c *correlate.Call, w client.StepReport) {
	if c.CallID != "" && w.CallID == "" {
		s.noIDs(r.Session, w.ServerName)
	}
	c.TakeWire(w)
	r.Line.Known(c.ID, correlate.WireEnd(*c.Wire))
}

// noIDs stops injecting ids for a server whose proxy hands none back.
func (s *step) noIDs(session, server string) {
	if known := s.Sessions[session]; known != nil && !slices.Contains(known.NoIDs, server) {
		known.NoIDs = append(known.NoIDs, server)
	}
}

// adopt joins reports that came before their call.
func (s *step) adopt(r *turn.Run, c *correlate.Call) {
	s.Orphans = slices.DeleteFunc(s.Orphans, func(o Orphan) bool {
		if !s.matches(c, o.Wire) {
			return false
		}
		s.take(r, c, o.Wire)
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
		switch {
		case r.Proxy != "" && slices.Contains(s.e.Gone, r.Proxy):
			s.close(r, false)
		case r.ID == s.e.Run && !r.Deadline.IsZero() && !s.e.At.Before(r.Deadline):
			s.deadline(r)
		}
	}
}

// deadline ends a run that was held open long enough.
func (s *step) deadline(r *turn.Run) {
	if v := s.view(r); v != nil && v.GoesOn {
		s.alive(r) // a hook of somebody else sent the model back to work
		return
	}
	if !r.Closed.IsZero() {
		r.EndOpen(s.e.At, func(*correlate.Call) bool { return true }, false)
		r.Deadline = time.Time{}
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

// place books a report that no hook speaks of: hooks do not fire for it, or nobody
// heard them.
func (s *step) place(o Orphan) {
	w := o.Wire
	r := s.home(w)
	if r == nil {
		r = &turn.Run{ID: o.Run, Proxy: w.ProxyID, CWD: s.Proxies[w.ProxyID].CWD, Started: w.StartedAt}
		r.Restore()
		s.Runs[r.ID] = r
	}
	id := w.ToolUseID
	if id == "" || r.Known(id) {
		id = turn.Derive("call", w.StartedAt, r.ID, w.ID)
	}
	c := &correlate.Call{
		ID: id, Tool: recorder.QualifiedName(w.ServerName, w.ToolName), Server: w.ServerName, Began: w.StartedAt,
		Said: true, // by whom, nobody knows
	}
	c.TakeWire(w)
	c.End = &correlate.End{At: correlate.WireEnd(*c.Wire), Status: w.Status}
	s.begin(r, c)
	if r.Proxy != "" {
		r.Deadline = s.e.At.Add(aloneWait)
	}
}

// home is the run that a report without a hook belongs to: the turn of the session
// that the proxy was started in is the likeliest, then the only turn there is. It is
// nil where there is none; then the proxy gets a run of its own, one at a time.
func (s *step) home(w client.StepReport) *turn.Run {
	if session := s.Sessions[s.Proxies[w.ProxyID].SessionID]; session != nil {
		if r := s.Runs[session.Run]; r != nil {
			return r
		}
	}
	var bound []*turn.Run
	for _, r := range s.ordered() {
		if r.Proxy == w.ProxyID {
			return r
		}
		if r.Session != "" && r.Closed.IsZero() {
			bound = append(bound, r)
		}
	}
	if len(bound) == 1 {
		return bound[0]
	}
	return nil
}

// placeAll books what a run that is about to end would be the home of.
func (s *step) placeAll(r *turn.Run) {
	for {
		i := slices.IndexFunc(s.Orphans, func(o Orphan) bool { return s.home(o.Wire) == r })
		if i < 0 {
			return
		}
		o := s.Orphans[i]
		s.Orphans = slices.Delete(s.Orphans, i, i+1)
		s.place(o)
	}
}
