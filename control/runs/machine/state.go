package machine

import (
	"slices"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/order"
	"github.com/bir-run/bir/control/runs/turn"
	"github.com/bir-run/bir/control/transcript"
)

// How long things are waited for.
const (
	// linger is how long after Stop a run is held open: a hook of somebody else may
	// send the model back to work, and a last report may be on its way.
	linger = 2 * time.Second
	// taskWait is how long background work may be silent before its run is closed.
	taskWait = 30 * time.Minute
	// reportWait is how long after the end of background work the host may take to
	// tell the model of it.
	reportWait = 5 * time.Minute
	// aloneWait is how long a run of a proxy without hooks may be silent.
	aloneWait = 5 * time.Minute
)

// State is everything that is known. It is plain data: its JSON is the snapshot that
// shortens a journal.
type State struct {
	Sessions map[string]*Session        `json:"sessions,omitempty"`
	Runs     map[string]*turn.Run       `json:"runs,omitempty"` // open ones
	Proxies  map[string]client.Register `json:"proxies,omitempty"`
	Orphans  []Orphan                   `json:"orphans,omitempty"`
	Steps    int                        `json:"steps,omitempty"` // numbered since the start

	// What came, or ended, not long ago: reports, prompts and calls by their ids.
	Reports Recent `json:"reports"`
	Prompts Recent `json:"prompts"`
	Past    Recent `json:"past"`
	// Senders are proxies whose host sends its own ids along: a call without one is
	// not the model's there.
	Senders map[string]bool `json:"senders,omitempty"`
}

// Session is one conversation of the host.
type Session struct {
	Run  string    `json:"run,omitempty"` // whose turn the main thread is in
	Seen time.Time `json:"seen"`
	// Ahead is a prompt that was typed ahead: it was told of under the id of the turn
	// before, and begins a turn under another.
	Ahead   *Ahead    `json:"ahead,omitempty"`
	Stopped time.Time `json:"stopped,omitzero"` // the turn before
	// NoIDs are servers whose proxies were seen not to hand an injected id back.
	NoIDs []string `json:"noIds,omitempty"`
}

// Ahead is a prompt whose turn has not begun.
type Ahead struct {
	Text string           `json:"text"`
	Mark *transcript.Mark `json:"mark,omitempty"`
	At   time.Time        `json:"at"`
}

// Orphan is a proxy's report that belongs to no call yet.
type Orphan struct {
	At   time.Time         `json:"at"`
	Wire client.StepReport `json:"wire"`
	Run  string            `json:"run"` // the id for a run of its own
}

// New is the state before anything happened.
func New() *State {
	s := &State{}
	s.Restore()
	return s
}

// Restore makes a state that was read from JSON usable.
func (s *State) Restore() {
	if s.Sessions == nil {
		s.Sessions = map[string]*Session{}
	}
	if s.Runs == nil {
		s.Runs = map[string]*turn.Run{}
	}
	if s.Proxies == nil {
		s.Proxies = map[string]client.Register{}
	}
	if s.Senders == nil {
		s.Senders = map[string]bool{}
	}
	for _, r := range s.Runs {
		r.Restore()
	}
}

// Empty says that nothing is open, so that nothing would be lost with a journal.
func (s *State) Empty() bool { return len(s.Runs) == 0 && len(s.Orphans) == 0 }

// RunOf finds the run that an event of a session belongs to, nil where it would open
// one or has none.
func (s *State) RunOf(e Event) *turn.Run {
	session := s.Sessions[e.Session]
	if session == nil {
		return nil
	}
	var prompted *turn.Run
	for _, r := range s.Runs {
		if r.Session != e.Session {
			continue
		}
		if _, ok := r.Agents[e.Agent]; (ok && e.Agent != "") || r.Calls[e.ToolUse] != nil {
			return r
		}
		if e.PromptID != "" && slices.Contains(r.Prompts, e.PromptID) {
			prompted = r
		}
	}
	if prompted != nil {
		return prompted
	}
	if r := s.Runs[session.Run]; r != nil && (e.PromptID == "" || len(r.Prompts) == 0) {
		return r
	}
	return nil
}

// Due is when the state wants to hear of the time again.
func (s *State) Due() (time.Time, bool) {
	var due time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	for _, o := range s.Orphans {
		sooner(o.At.Add(order.Grace))
	}
	stray := due
	for _, r := range s.Runs {
		sooner(r.Deadline)
		if at, ok := r.Line.Due(); ok {
			if at.Before(stray) {
				at = stray // which it may wait for
			}
			sooner(at)
		}
		for _, c := range r.Calls {
			if c.End != nil && !c.Settled() {
				sooner(c.End.At.Add(order.Grace))
			}
		}
	}
	return due, !due.IsZero()
}

// maxRecent is how many ids are remembered at least.
const maxRecent = 2048

// Recent remembers ids that came not long ago, so that a repeated one is known.
type Recent struct {
	Old map[string]bool `json:"old,omitempty"`
	New map[string]bool `json:"new,omitempty"`
}

// Has says whether an id is remembered.
func (r *Recent) Has(id string) bool { return r.New[id] || r.Old[id] }

func (r *Recent) add(id string) {
	if len(r.New) >= maxRecent {
		r.Old, r.New = r.New, nil
	}
	if r.New == nil {
		r.New = map[string]bool{}
	}
	r.New[id] = true
}
