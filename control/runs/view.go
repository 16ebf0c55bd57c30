package runs

import (
	"maps"
	"slices"

	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/control/runs/machine"
	"github.com/bir-run/bir/control/runs/turn"
	"github.com/bir-run/bir/control/transcript"
)

// subjectsLocked are the runs whose transcript an event makes worth reading: the one
// that it belongs to, or those that may end with it.
func (b *Book) subjectsLocked(e machine.Event) (out []*turn.Run) {
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

// outline copies what view reads of a run, without the lock. Of its calls these are
// those that are over and nobody knows how.
func outline(r *turn.Run) *turn.Run {
	o := *r
	o.Agents = maps.Clone(r.Agents)
	o.Windows = slices.Clone(r.Windows)
	o.Calls = nil
	for id, c := range r.Calls {
		if c.Over && c.End == nil {
			if o.Calls == nil {
				o.Calls = map[string]*correlate.Call{}
			}
			o.Calls[id] = c
		}
	}
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
func (b *Book) view(e machine.Event, run *turn.Run) *turn.View {
	if run.Mark == nil || run.Mark.Path == "" {
		return nil
	}
	reader, fresh := b.reader(run)
	reader.mu.Lock()
	defer reader.mu.Unlock()
	if err := reader.l.Read(); err != nil {
		b.cfg.Logger.Warn("a transcript cannot be read", "err", err)
		return nil
	}
	v := &turn.View{Run: run.ID, Said: said(reader.l)}
	switch {
	case ends(e.Kind):
		b.whole(e, run, reader.l, v)
	case fresh, len(run.Calls) > 0:
		// The control server was away, or is new, or nobody knows how a call ended: what
		// ended meanwhile comes before what is heard of now.
		v.Behind, v.Agents = true, join(run, reader.l)
		v.Found = b.found(run, reader.l, func(c transcript.Call) bool {
			return !c.Ended.IsZero() && c.ID != e.ToolUse && (fresh || run.Calls[c.ID] != nil)
		})
	}
	if len(v.Said)+len(v.Found) == 0 && !ends(e.Kind) {
		return nil
	}
	return v
}

// reader is the one of a run, made anew after a restart.
func (b *Book) reader(run *turn.Run) (r *reader, fresh bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r = b.ledgers[run.ID]
	if fresh = r == nil; fresh {
		r = &reader{l: transcript.Open(*run.Mark)}
		b.ledgers[run.ID] = r
	}
	return r, fresh
}

func said(l *transcript.Ledger) map[string]string {
	out := l.Said()
	for id, s := range out {
		out[id] = text(s)
	}
	return out
}

// whole reads what a turn used and which of its calls were missed.
func (b *Book) whole(e machine.Event, run *turn.Run, l *transcript.Ledger, v *turn.View) {
	v.Agents = join(run, l)
	v.Whole = true
	v.Usage, v.Measured = l.Usage(run.Owns)
	for agent := range run.Agents {
		v.Measured = v.Measured && l.Has(agent)
	}
	if !v.Measured {
		v.Usage = nil
	}
	v.Version = l.Version()
	v.Answer = text(l.Answer())
	v.GoesOn = !run.Stopped.IsZero() && l.Asked().After(run.Stopped)
	v.Found = b.found(run, l, func(transcript.Call) bool { return true })
}

// join adds the subagents to a run of whose start nobody was there to hear.
func join(run *turn.Run, l *transcript.Ledger) (more []string) {
	for agent, prompt := range l.Agents() {
		if _, known := run.Agents[agent]; !known && slices.Contains(run.Prompts, prompt) {
			run.Agents[agent] = ""
			more = append(more, agent)
		}
	}
	slices.Sort(more)
	return more
}

// found are the calls of a run in the transcript whose end would be news.
func (b *Book) found(run *turn.Run, l *transcript.Ledger, which func(transcript.Call) bool) []transcript.Call {
	calls, err := l.Calls(func(c transcript.Call) bool {
		return run.Owns(c.Agent, c.Began) && which(c) && b.wants(run.ID, c.ID)
	})
	if err != nil {
		b.cfg.Logger.Warn("a call cannot be read from a transcript", "err", err)
	}
	for i := range calls {
		calls[i].Input, calls[i].Result = clean(string(calls[i].Input)), clean(string(calls[i].Result))
		calls[i].Error = text(calls[i].Error)
	}
	return calls
}

func (b *Book) wants(run, id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.state.Runs[run]
	return r == nil || r.Wants(id)
}
