package turn

import (
	"slices"
	"time"

	"github.com/bir-run/bir/control/transcript"
	"github.com/bir-run/bir/recorder"
)

// View is what the transcript says about one run.
type View struct {
	Run      string                    `json:"run"`
	Said     map[string]string         `json:"said,omitempty"`  // by tool use id
	Whole    bool                      `json:"whole,omitempty"` // what follows is known, too
	Usage    map[string]recorder.Usage `json:"usage,omitempty"`
	Measured bool                      `json:"measured,omitempty"`
	Agents   []string                  `json:"agents,omitempty"` // that served its prompts
	Answer   string                    `json:"answer,omitempty"`
	Version  string                    `json:"version,omitempty"`
	Found    []transcript.Call         `json:"found,omitempty"`  // calls of which no end was heard
	Behind   bool                      `json:"behind,omitempty"` // nobody was there to hear of those
	GoesOn   bool                      `json:"goesOn,omitempty"`
}

// Owns says whether a message of the transcript belongs to the run: of the main
// thread (agent "") by when it began, of a subagent by who began that.
func (r *Run) Owns(agent string, at time.Time) bool {
	if agent != "" {
		_, ok := r.Agents[agent]
		return ok
	}
	return slices.ContainsFunc(r.Windows, func(w Window) bool {
		return !at.Before(w.From) && (w.To.IsZero() || !at.After(w.To))
	})
}

// Wants says whether the end of a call, as the transcript has it, would be news. A
// call that a proxy told of and a hook still may is none.
func (r *Run) Wants(id string) bool {
	if r.IsDone(id) || slices.ContainsFunc(r.Held, func(h Held) bool { return h.Call.ID == id }) {
		return false
	}
	c := r.Calls[id]
	return c == nil || c.End == nil
}

// See takes in what the transcript says of a run.
func (r *Run) See(v *View) {
	if v.Version != "" {
		r.Version = v.Version
	}
	if v.Whole {
		r.Usage, r.Measured = v.Usage, v.Measured
	}
	if v.Answer != "" {
		r.Answer = v.Answer
	}
	for _, agent := range v.Agents {
		if _, known := r.Agents[agent]; !known {
			r.Agents[agent] = ""
		}
	}
	for id, said := range v.Said {
		r.hear(id, said)
	}
}

// hear adds what the model said before a call.
func (r *Run) hear(id, said string) {
	if c := r.Calls[id]; c != nil {
		c.Context, c.Said = said, true
	} else if c := r.HeldCall(id); c != nil {
		c.Context, c.Said = said, true
	} else if !r.IsDone(id) {
		r.Said[id] = said
	}
}
