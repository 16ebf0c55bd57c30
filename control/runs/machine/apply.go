package machine

import (
	"slices"
	"strings"
	"time"

	"github.com/bir-run/bir/control/runs/turn"
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
	for i := range e.Views {
		if r := s.Runs[e.Views[i].Run]; r != nil {
			r.See(&e.Views[i])
			if e.Views[i].Behind {
				st.recover(r)
			}
		}
	}
	st.handle()
	for _, r := range s.ordered() {
		st.settle(r)
	}
	return st.out
}

// ordered lists the open runs by age, so that nothing hangs on the order of a map.
func (s *State) ordered() []*turn.Run {
	runs := make([]*turn.Run, 0, len(s.Runs))
	for _, r := range s.Runs {
		runs = append(runs, r)
	}
	slices.SortFunc(runs, func(a, b *turn.Run) int {
		if n := a.Started.Compare(b.Started); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return runs
}

// session notes what every hook event says of its session.
func (s *step) session() {
	if s.e.Session == "" || s.e.Kind == "SessionEnd" {
		return
	}
	known := s.Sessions[s.e.Session]
	if known == nil {
		known = &Session{}
		s.Sessions[s.e.Session] = known
	}
	known.Seen = s.e.At
}

// handle is one piece: the table of events. A session's start changes nothing: what a
// process of the host has left that was killed is ended by the next prompt, and the
// news of the start may come after that, since it starts the control server, too.
func (s *step) handle() {
	switch s.e.Kind {
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

func (s *step) sessionEnd() {
	for _, r := range s.ordered() {
		if r.Session == s.e.Session {
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
		s.again(r)
		return
	}
	s.leave(s.e.Session)
	r := s.open(s.e.Text)
	r.Mark = s.e.Mark
	s.Sessions[s.e.Session].Ahead = nil
}

// again takes a prompt under the id of a turn that has begun: a later event of the turn
// was heard first, the host told of it twice, or it was typed ahead.
func (s *step) again(r *turn.Run) {
	switch {
	case r.Input == "":
		r.Input = s.e.Text
	case r.Input != s.e.Text:
		s.Sessions[s.e.Session].Ahead = &Ahead{Text: s.e.Text, Mark: s.e.Mark, At: s.e.At}
	}
}

// goOn continues the run whose background work the host's own prompt tells of.
func (s *step) goOn() bool {
	for _, r := range s.ordered() {
		if r.Session != s.e.Session || (r.Tasks[s.e.Task] == nil && !r.IsDone(s.e.ToolUse)) {
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
	for _, t := range r.Tasks {
		t.Ended = t.Ended || !t.Agent
	}
	if r.Stopped.IsZero() || r.Running() == 0 {
		s.close(r, r.Stopped.IsZero())
	}
	r.Shut(s.e.At)
	s.Sessions[session].Run = ""
}

// open opens the run that the event's session is in from now on.
func (s *step) open(input string) *turn.Run {
	r := &turn.Run{
		ID: s.e.NewRun, Session: s.e.Session, Input: input, CWD: s.e.CWD,
		Started: s.e.At, Windows: []turn.Window{{From: turn.Moment(s.e.At)}},
	}
	if s.e.PromptID != "" {
		r.Prompts = []string{s.e.PromptID}
	}
	r.Restore()
	s.Runs[r.ID] = r
	if session := s.Sessions[s.e.Session]; session != nil {
		session.Run = r.ID
	}
	return r
}

// run finds the run of the event. Where its prompt was missed, since nobody was
// there, the transcript may have it; otherwise the run lacks its beginning.
func (s *step) run() *turn.Run {
	r := s.RunOf(s.e)
	if r != nil || s.e.NewRun == "" || s.Sessions[s.e.Session] == nil {
		s.heard(r)
		return r
	}
	s.leave(s.e.Session)
	session := s.Sessions[s.e.Session]
	switch ahead := session.Ahead; {
	case s.Prompts.Has(s.e.PromptID):
		r = s.open("")
		r.Lossy = true // its beginning is in another run
	case s.e.Missed != nil:
		r = s.open(s.e.Missed.Prompt)
		r.BeginAt(s.e.Missed.Mark, s.e.Missed.Mark.At)
	case ahead != nil && ahead.Mark != nil:
		r = s.open(ahead.Text)
		r.BeginAt(*ahead.Mark, later(ahead.At, session.Stopped))
	case ahead != nil:
		r = s.open(ahead.Text)
	default:
		r = s.open("")
		r.Lossy = true
	}
	session.Ahead = nil
	if v := s.view(r); v != nil {
		r.See(v)
	}
	s.recover(r)
	return r
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// heard holds a run open whose work in the background goes on.
func (s *step) heard(r *turn.Run) {
	if r != nil && !r.Stopped.IsZero() && r.Running() > 0 {
		r.Deadline = s.e.At.Add(taskWait)
	}
}

// view is what the event's transcript says of a run.
func (s *step) view(r *turn.Run) *turn.View {
	for i := range s.e.Views {
		if s.e.Views[i].Run == r.ID {
			return &s.e.Views[i]
		}
	}
	return nil
}

// alive notes that the main thread of a run is at work again.
func (s *step) alive(r *turn.Run) {
	if r.Stopped.IsZero() {
		return
	}
	r.Resume(s.e.At)
	if session := s.Sessions[r.Session]; session != nil && session.Run == "" {
		session.Run = r.ID
	}
}

// expansion is a slash command's: its text is what the model is given.
func (s *step) expansion() {
	if r := s.RunOf(s.e); r != nil && s.e.Text != "" && !r.Announced {
		r.Input = s.e.Text
	}
}
