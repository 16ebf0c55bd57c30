package runs

import (
	"maps"
	"slices"
	"time"

	"github.com/bir-run/bir/control/runs/machine"
	"github.com/bir-run/bir/control/transcript"
)

// subjectsLocked are the runs whose transcript an event makes worth reading: the one
// that it belongs to, or those that may end with it.
func (b *Book) subjectsLocked(e machine.Event) (out []*machine.Run) {
	switch e.Kind {
	case "SessionStart", "PermissionRequest", "PermissionDenied", "UserPromptExpansion", "PreCompact":
	case "UserPromptSubmit":
		// The turn before: nobody else may have told of its end.
		if s := b.state.Sessions[e.Session]; s != nil && b.state.Runs[s.Run] != nil {
			out = append(out, outline(b.state.Runs[s.Run]))
		}
	case "SessionEnd":
		for _, r := range b.state.Runs {
			if r.Session == e.Session {
				out = append(out, outline(r))
			}
		}
	default:
		if r := b.state.RunOf(e); r != nil {
			out = append(out, outline(r))
		}
	}
	return out
}

// outline copies what view reads of a run, without the lock.
func outline(r *machine.Run) *machine.Run {
	o := *r
	o.Agents = maps.Clone(r.Agents)
	o.Windows = slices.Clone(r.Windows)
	return &o
}

// ends are the events at which the whole of a turn is read: what it used, and calls
// of which no hook told.
func ends(kind string) bool {
	switch kind {
	case "Stop", "StopFailure", "SubagentStop", "SessionEnd", "UserPromptSubmit", machine.KindTick:
		return true
	}
	return false
}

// view reads on in the transcript of a run.
func (b *Book) view(e machine.Event, run *machine.Run) *machine.View {
	if run.Mark == nil || run.Mark.Path == "" {
		return nil
	}
	reader := b.reader(run)
	reader.mu.Lock()
	defer reader.mu.Unlock()
	if err := reader.l.Read(); err != nil {
		b.cfg.Logger.Warn("a transcript cannot be read", "err", err)
		return nil
	}
	v := &machine.View{Run: run.ID, Said: said(reader.l)}
	if ends(e.Kind) {
		b.whole(e, run, reader.l, v)
	}
	if len(v.Said) == 0 && !ends(e.Kind) {
		return nil
	}
	return v
}

// reader is the one of a run, made anew after a restart.
func (b *Book) reader(run *machine.Run) *reader {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.ledgers[run.ID]
	if r == nil {
		r = &reader{l: transcript.Open(*run.Mark)}
		b.ledgers[run.ID] = r
	}
	return r
}

func said(l *transcript.Ledger) map[string]string {
	out := l.Said()
	for id, s := range out {
		out[id] = text(s)
	}
	return out
}

// whole reads what a turn used and which of its calls were missed.
func (b *Book) whole(e machine.Event, run *machine.Run, l *transcript.Ledger, v *machine.View) {
	owner := *run
	v.Whole = true
	for agent, prompt := range l.Agents() {
		if _, known := owner.Agents[agent]; !known && slices.Contains(run.Prompts, prompt) {
			owner.Agents[agent] = "" // nobody was there to hear of its start
			v.Agents = append(v.Agents, agent)
		}
	}
	slices.Sort(v.Agents)
	v.Usage, v.Measured = l.Usage(owner.Owns)
	for agent := range owner.Agents {
		v.Measured = v.Measured && l.Has(agent)
	}
	if !v.Measured {
		v.Usage = nil
	}
	v.Version = l.Version()
	v.Answer = text(l.Answer())
	v.GoesOn = !run.Stopped.IsZero() && l.Asked().After(run.Stopped)
	found, err := l.Calls(func(id, agent string, at time.Time) bool { return b.wants(run.ID, id) && owner.Owns(agent, at) })
	if err != nil {
		b.cfg.Logger.Warn("a call cannot be read from a transcript", "err", err)
	}
	for i := range found {
		found[i].Input, found[i].Result = clean(string(found[i].Input)), clean(string(found[i].Result))
		found[i].Error = text(found[i].Error)
	}
	v.Found = found
}

func (b *Book) wants(run, id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.state.Runs[run]
	return r == nil || r.Wants(id)
}
