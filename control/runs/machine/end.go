package machine

import (
	"time"

	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/control/runs/turn"
)

func (s *step) agentStart() {
	if r := s.run(); r != nil && s.e.Agent != "" {
		r.Agents[s.e.Agent] = s.e.AgentType
	}
}

// agentStop ends a subagent. A compaction says that one ended which never began.
func (s *step) agentStop() {
	r := s.RunOf(s.e)
	if r == nil {
		return
	}
	if _, ok := r.Agents[s.e.Agent]; !ok {
		return
	}
	s.recover(r)
	r.EndOpen(s.e.At, func(c *correlate.Call) bool { return c.Agent == s.e.Agent }, false)
	if t := r.Tasks[s.e.Agent]; t != nil {
		t.Ended = true
		s.await(r)
	}
}

// compact spoils the count of tokens: the request for a summary is in no transcript.
func (s *step) compact() {
	session := s.Sessions[s.e.Session]
	if session == nil {
		return
	}
	if r := s.Runs[session.Run]; r != nil && r.Stopped.IsZero() {
		r.Compacted = true
	}
}

func (s *step) stop() {
	if s.RunOf(s.e) == nil && s.Prompts.Has(s.e.PromptID) {
		return // of a turn that is in the books
	}
	r := s.run()
	if r == nil {
		return
	}
	if s.e.Kind == "Stop" && s.e.Text != "" {
		r.Answer = s.e.Text
	}
	if s.e.Kind == "StopFailure" {
		r.Answer = "" // of the client, about an error
	}
	s.recover(r)
	s.tasks(r)
	r.EndOpen(s.e.At, func(c *correlate.Call) bool { t := r.Tasks[c.Agent]; return t == nil || t.Ended }, false)
	r.Stopped = s.e.At
	s.Sessions[s.e.Session].Stopped = s.e.At
	r.Shut(s.e.At)
	s.await(r)
}

// tasks notes what works on in the background. What belongs to no other run belongs
// to this one.
func (s *step) tasks(r *turn.Run) {
	listed := map[string]bool{}
	for _, t := range s.e.Tasks {
		listed[t.ID] = true
		if s.taskOwner(t.ID, r) == nil && r.Tasks[t.ID] == nil {
			_, agent := r.Agents[t.ID]
			r.Tasks[t.ID] = &turn.Background{Agent: agent || t.Type == "subagent"}
		}
	}
	for _, other := range s.Runs {
		if other.Session != r.Session {
			continue
		}
		waited := other.Running() > 0
		for id, t := range other.Tasks {
			t.Ended = t.Ended || !listed[id]
		}
		if waited && other.Running() == 0 && !other.Deadline.IsZero() {
			other.Deadline = s.e.At.Add(reportWait)
		}
	}
}

// taskOwner finds another run that a task belongs to.
func (s *step) taskOwner(id string, not *turn.Run) *turn.Run {
	for _, r := range s.Runs {
		_, agent := r.Agents[id]
		if r != not && r.Session == not.Session && (agent || r.Tasks[id] != nil) {
			return r
		}
	}
	return nil
}

// await sets how long a stopped run is held open.
func (s *step) await(r *turn.Run) {
	switch {
	case r.Stopped.IsZero():
	case r.Running() > 0:
		r.Deadline = s.e.At.Add(taskWait)
	case s.e.Kind == "SubagentStop":
		r.Deadline = s.e.At.Add(reportWait)
	default:
		r.Deadline = s.e.At.Add(linger)
	}
}

// close ends a run: nothing new is expected but late halves of its calls.
func (s *step) close(r *turn.Run, stopped bool) {
	if !r.Closed.IsZero() {
		return
	}
	s.recover(r)
	s.placeAll(r)
	r.EndOpen(s.e.At, func(*correlate.Call) bool { return true }, stopped)
	r.Shut(s.e.At)
	r.Closed, r.Deadline = s.e.At, time.Time{}
	if session := s.Sessions[r.Session]; session != nil && session.Run == r.ID {
		session.Run = ""
	}
}
