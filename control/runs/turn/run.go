// Package turn is one turn of a conversation as it is being recorded: an open run. It
// knows which calls the run has, which messages of the transcript are its, and in which
// order, under which ids, its calls are reported. It is plain data and pure, as package
// machine is, which knows which turn an event belongs to.
package turn

import (
	"time"

	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/control/order"
	"github.com/bir-run/bir/control/transcript"
	"github.com/bir-run/bir/recorder"
)

// Run is one turn: a prompt and all that served it.
type Run struct {
	ID        string           `json:"id"`
	Session   string           `json:"session,omitempty"`
	Proxy     string           `json:"proxy,omitempty"` // that a run without hooks belongs to
	Prompts   []string         `json:"prompts,omitempty"`
	Input     string           `json:"input,omitempty"`
	CWD       string           `json:"cwd,omitempty"`
	Started   time.Time        `json:"started"`
	Mark      *transcript.Mark `json:"mark,omitempty"`
	Windows   []Window         `json:"windows,omitempty"`
	Announced bool             `json:"announced,omitempty"`
	Version   string           `json:"version,omitempty"` // of the host

	Agents map[string]string          `json:"agents,omitempty"` // their types
	Tasks  map[string]*Background     `json:"tasks,omitempty"`
	Calls  map[string]*correlate.Call `json:"calls,omitempty"` // without a number
	Line   order.Line                 `json:"line"`
	Held   []Held                     `json:"held,omitempty"`
	Done   map[string]string          `json:"done,omitempty"` // tools of reported calls, by their ids
	Said   map[string]string          `json:"said,omitempty"` // before calls that are not known yet
	Usage  map[string]recorder.Usage  `json:"usage,omitempty"`

	Measured  bool      `json:"measured,omitempty"`
	Compacted bool      `json:"compacted,omitempty"`
	Lossy     bool      `json:"lossy,omitempty"`
	Answer    string    `json:"answer,omitempty"`
	Stopped   time.Time `json:"stopped,omitzero"` // by a Stop that nothing followed
	Deadline  time.Time `json:"deadline,omitzero"`
	Closed    time.Time `json:"closed,omitzero"` // waits for late halves only
}

// Window is a stretch of the main thread that belongs to a run.
type Window struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to,omitzero"`
}

// Background is work that may outlive the turn that began it.
type Background struct {
	Agent bool `json:"agent,omitempty"`
	Ended bool `json:"ended,omitempty"`
}

// Held is a numbered call that waits for what the model said before it.
type Held struct {
	N    int             `json:"n"`
	Call *correlate.Call `json:"call"`
}

// Restore makes a run that was read from JSON usable.
func (r *Run) Restore() {
	if r.Agents == nil {
		r.Agents = map[string]string{}
	}
	if r.Tasks == nil {
		r.Tasks = map[string]*Background{}
	}
	if r.Calls == nil {
		r.Calls = map[string]*correlate.Call{}
	}
	if r.Done == nil {
		r.Done = map[string]string{}
	}
	if r.Said == nil {
		r.Said = map[string]string{}
	}
}

// Running counts the work in the background.
func (r *Run) Running() int {
	n := 0
	for _, t := range r.Tasks {
		if !t.Ended {
			n++
		}
	}
	return n
}

// Resume says that the main thread is at work for the run again.
func (r *Run) Resume(at time.Time) {
	r.Stopped, r.Deadline, r.Closed = time.Time{}, time.Time{}, time.Time{}
	if n := len(r.Windows); n > 0 && !r.Windows[n-1].To.IsZero() {
		r.Windows = append(r.Windows, Window{From: Moment(at)})
	}
}

// Shut ends the stretch of the main thread that belongs to a run.
func (r *Run) Shut(at time.Time) {
	if n := len(r.Windows); n > 0 && r.Windows[n-1].To.IsZero() {
		r.Windows[n-1].To = at
	}
}

// BeginAt puts the beginning of a run before the event that it was opened for.
func (r *Run) BeginAt(mark transcript.Mark, at time.Time) {
	mark.At = Moment(at)
	r.Mark, r.Started, r.Windows[0].From = &mark, at, mark.At
}

// Moment is a time as a transcript would write it, in milliseconds.
func Moment(at time.Time) time.Time { return at.Truncate(time.Millisecond) }
