package machine

import (
	"slices"
	"strings"
	"time"

	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/recorder"
)

// step is one event being applied.
type step struct {
	*State
	e   Event
	out []Change
}

// Apply takes in an event and returns what is to be reported for it.
func (s *State) Apply(e Event) []Change {
	st := &step{State: s, e: e}
	st.session()
	st.handle()
	for _, r := range s.ordered() {
		st.settle(r)
	}
	return st.out
}

// ordered lists the open runs by age, so that nothing hangs on the order of a map.
func (s *State) ordered() []*Run {
	runs := make([]*Run, 0, len(s.Runs))
	for _, r := range s.Runs {
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b *Run) int {
		if n := a.Started.Compare(b.Started); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return runs
}

// session notes what every hook event says of its session.
func (s *step) session() {
	if s.e.Session == "" || s.e.Kind == KindRegister || s.e.Kind == "SessionEnd" {
		return
	}
	known := s.Sessions[s.e.Session]
	if known == nil {
		known = &Session{ID: s.e.Session}
		s.Sessions[s.e.Session] = known
	}
	known.Seen = s.e.At
	if s.e.Transcript != "" {
		known.Transcript = s.e.Transcript
	}
	if s.e.CWD != "" {
		known.CWD = s.e.CWD
	}
}

// handle is one piece: the table of events.
func (s *step) handle() {
	switch s.e.Kind {
	case "SessionStart":
		s.sessionStart()
	case "SessionEnd":
		s.sessionEnd()
	case "UserPromptSubmit":
		s.prompt()
	case "UserPromptExpansion":
		s.expansion()
	case "PreToolUse":
		s.pre()
	case "PermissionRequest":
		s.permission()
	case "PermissionDenied":
		s.denied()
	case "PostToolUse", "PostToolUseFailure":
		s.post()
	case "PostToolBatch":
		s.batch()
	case "Stop", "StopFailure":
		s.stop()
	case "SubagentStart":
		s.agentStart()
	case "SubagentStop":
		s.agentStop()
	case "PreCompact":
		s.compact()
	case KindRegister:
		s.Proxies[s.e.Proxy.ProxyID] = *s.e.Proxy
	case KindWire:
		s.wire()
	case KindTick:
		s.tick()
	case KindOff:
		s.off()
	case KindTorn:
		for _, r := range s.Runs {
			r.Lossy = true
		}
	}
}

// sessionStart ends what a process of the host that is gone has left. A compaction
// starts nothing; clear and fork have ids of their own.
func (s *step) sessionStart() {
	if s.e.Source == "compact" {
		return
	}
	for _, r := range s.ordered() {
		if r.Session == s.e.Session {
			s.close(r, true)
		}
	}
}

func (s *step) sessionEnd() {
	for _, r := range s.ordered() {
		if r.Session == s.e.Session {
			s.see(r)
			s.close(r, r.Stopped.IsZero())
		}
	}
	delete(s.Sessions, s.e.Session)
}

// off ends a session's runs: what is off is not seen, so they are not whole.
func (s *step) off() {
	for _, r := range s.ordered() {
		if r.Session == s.e.Session {
			r.Lossy = true
			s.close(r, true)
		}
	}
	delete(s.Sessions, s.e.Session)
}

// noPrompt are commands of the host that are no prompts, should it tell of them.
var noPrompt = []string{"/clear", "/compact", "/exit", "/quit", "/model"}

func (s *step) prompt() {
	if s.e.Task != "" && s.goOn() {
		return
	}
	word, _, _ := strings.Cut(s.e.Text, " ")
	if slices.Contains(noPrompt, word) {
		return
	}
	if r := s.RunOf(s.e); r != nil && s.e.PromptID != "" && slices.Contains(r.Prompts, s.e.PromptID) {
		if r.Input == "" {
			r.Input = s.e.Text
		}
		return // a later event of the turn was heard first
	}
	s.leave(s.e.Session)
	r := s.open(s.e.Text)
	r.Mark = s.e.Mark
}

// goOn continues the run whose background work the host's own prompt tells of.
func (s *step) goOn() bool {
	for _, r := range s.ordered() {
		if r.Session != s.e.Session || (r.Tasks[s.e.Task] == nil && !r.Done[s.e.ToolUse]) {
			continue
		}
		if other := s.Sessions[s.e.Session].Run; other != r.ID {
			s.leave(s.e.Session)
		}
		if t := r.Tasks[s.e.Task]; t != nil {
			t.Ended = true
		}
		if s.e.PromptID != "" {
			r.Prompts = append(r.Prompts, s.e.PromptID)
		}
		s.Sessions[s.e.Session].Run = r.ID
		s.alive(r)
		return true
	}
	return false
}

// leave ends the turn under way in the main thread of a session, for another begins.
// One that waits for subagents stays open; other work in the background makes no
// calls and holds nothing open.
func (s *step) leave(session string) {
	r := s.Runs[s.Sessions[session].Run]
	if r == nil {
		return
	}
	s.see(r)
	for _, t := range r.Tasks {
		t.Ended = t.Ended || !t.Agent
	}
	if r.Stopped.IsZero() || r.running() == 0 {
		s.close(r, r.Stopped.IsZero())
	}
	r.shut(s.e.At)
	s.Sessions[session].Run = ""
}

// running counts the work in the background.
func (r *Run) running() int {
	n := 0
	for _, t := range r.Tasks {
		if !t.Ended {
			n++
		}
	}
	return n
}

// open opens the run that the event's session is in from now on.
func (s *step) open(input string) *Run {
	r := &Run{
		ID: s.e.NewRun, Session: s.e.Session, Input: input, CWD: s.e.CWD,
		Started: s.e.At, Last: s.e.At, Windows: []Window{{From: s.e.At}},
	}
	if s.e.PromptID != "" {
		r.Prompts = []string{s.e.PromptID}
	}
	r.restore()
	s.Runs[r.ID] = r
	if session := s.Sessions[s.e.Session]; session != nil {
		session.Run = r.ID
	}
	return r
}

// run finds the run of the event. Where its prompt was missed, since nobody was
// there, the transcript may have it; otherwise the run lacks its beginning.
func (s *step) run() *Run {
	r := s.RunOf(s.e)
	if r != nil {
		s.see(r)
		return r
	}
	if s.e.NewRun == "" || s.Sessions[s.e.Session] == nil {
		return nil
	}
	s.leave(s.e.Session)
	if s.e.Missed == nil {
		r = s.open("")
		r.Lossy = true
		return r
	}
	r = s.open(s.e.Missed.Prompt)
	mark := s.e.Missed.Mark
	r.Mark, r.Started, r.Windows[0].From = &mark, mark.At, mark.At
	s.see(r)
	return r
}

// see takes in what the transcript says of a run.
func (s *step) see(r *Run) {
	r.Last = s.e.At
	v := s.e.View
	if v == nil || v.Run != r.ID {
		return
	}
	if v.Version != "" {
		r.Version = v.Version
	}
	r.Usage, r.Measured = v.Usage, v.Measured
	if v.Answer != "" {
		r.Answer = v.Answer
	}
	for id, said := range v.Said {
		r.heard(id, said)
	}
}

// alive notes that the main thread of a run is at work again.
func (s *step) alive(r *Run) {
	r.Last = s.e.At
	if r.Stopped.IsZero() {
		return
	}
	r.Stopped, r.Deadline = time.Time{}, time.Time{}
	if n := len(r.Windows); n > 0 && !r.Windows[n-1].To.IsZero() {
		r.Windows = append(r.Windows, Window{From: s.e.At})
	}
}

// shut ends the stretch of the main thread that belongs to a run.
func (r *Run) shut(at time.Time) {
	if n := len(r.Windows); n > 0 && r.Windows[n-1].To.IsZero() {
		r.Windows[n-1].To = at
	}
}

// expansion is a slash command's: its text is what the model is given.
func (s *step) expansion() {
	if r := s.RunOf(s.e); r != nil && s.e.Text != "" && !r.Announced {
		r.Input = s.e.Text
	}
}

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
	s.see(r)
	s.recover(r)
	s.endOpen(r, func(c *correlate.Call) bool { return c.Agent == s.e.Agent }, false)
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
	s.endOpen(r, func(c *correlate.Call) bool { t := r.Tasks[c.Agent]; return t == nil || t.Ended }, false)
	r.Stopped = s.e.At
	r.shut(s.e.At)
	s.await(r)
}

// tasks notes what works on in the background. What belongs to no other run belongs
// to this one.
func (s *step) tasks(r *Run) {
	listed := map[string]bool{}
	for _, t := range s.e.Tasks {
		listed[t.ID] = true
		if s.taskOwner(t.ID, r) == nil && r.Tasks[t.ID] == nil {
			_, agent := r.Agents[t.ID]
			r.Tasks[t.ID] = &Background{Agent: agent || t.Type == "subagent"}
		}
	}
	for _, other := range s.Runs {
		if other.Session != r.Session {
			continue
		}
		for id, t := range other.Tasks {
			t.Ended = t.Ended || !listed[id]
		}
	}
}

// taskOwner finds another run that a task belongs to.
func (s *step) taskOwner(id string, not *Run) *Run {
	for _, r := range s.Runs {
		_, agent := r.Agents[id]
		if r != not && r.Session == not.Session && (agent || r.Tasks[id] != nil) {
			return r
		}
	}
	return nil
}

// await sets how long a stopped run is held open.
func (s *step) await(r *Run) {
	switch {
	case r.Stopped.IsZero():
	case r.running() > 0:
		r.Deadline = s.e.At.Add(taskWait)
	case s.e.Kind == "SubagentStop":
		r.Deadline = s.e.At.Add(reportWait)
	default:
		r.Deadline = s.e.At.Add(linger)
	}
}

// close ends a run: nothing new is expected but late halves of its calls.
func (s *step) close(r *Run, stopped bool) {
	if !r.Closed.IsZero() {
		return
	}
	s.recover(r)
	s.endOpen(r, func(*correlate.Call) bool { return true }, stopped)
	r.shut(s.e.At)
	r.Closed, r.Deadline = s.e.At, time.Time{}
	if session := s.Sessions[r.Session]; session != nil && session.Run == r.ID {
		session.Run = ""
	}
}

// endOpen ends calls that nobody will tell the end of any more.
func (s *step) endOpen(r *Run, which func(*correlate.Call) bool, stopped bool) {
	for _, c := range r.Calls {
		if c.End == nil && which(c) {
			c.End = &correlate.End{At: s.e.At, Status: c.Untold(stopped)}
			if c.End.Status == recorder.StatusUnreported {
				r.Lossy = true
			}
		}
	}
}
