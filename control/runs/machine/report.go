package machine

import (
	"maps"
	"slices"
	"time"

	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/control/runs/turn"
	"github.com/bir-run/bir/recorder"
)

// settle numbers the calls of a run that can be, reports those of which all is known
// and ends the run when nothing is missing.
func (s *step) settle(r *turn.Run) {
	numbered, last := r.Number(s.e.At, s.strayEnd(r))
	s.Steps += numbered
	if len(r.Calls)+len(r.Held) > 0 || last {
		s.announce(r)
	}
	for _, call := range r.Flush(last) {
		s.out = append(s.out, Change{Run: r.ID, Call: &call})
	}
	if last {
		s.finish(r)
	}
}

// strayEnd is when the first call ended of which only a proxy has told yet and that may
// turn out to be the run's; zero where there is none.
func (s *step) strayEnd(r *turn.Run) time.Time {
	var first time.Time
	for _, o := range s.Orphans {
		if end := correlate.WireEnd(o.Wire); (first.IsZero() || end.Before(first)) && s.home(o.Wire) == r {
			first = end
		}
	}
	return first
}

// announce reports that a run has begun. It waits for the run's first call, since
// proxies may come after the prompt, and what they wrap belongs to the run.
func (s *step) announce(r *turn.Run) {
	if r.Announced {
		return
	}
	r.Announced = true
	meta := recorder.Metadata{
		Recorder: "bir", Tier: recorder.TierBound, CWD: r.CWD, SessionID: r.Session, Lossy: r.Lossy,
		Host: recorder.App{App: "claude-code", Version: r.Version}, Servers: map[string]recorder.Server{},
	}
	if r.Proxy != "" {
		meta.Tier, meta.Host = recorder.TierStandalone, s.Proxies[r.Proxy].Host
	}
	for _, id := range slices.Sorted(maps.Keys(s.Proxies)) {
		p := s.Proxies[id]
		if r.Proxy != "" && r.Proxy != id {
			continue
		}
		meta.Servers[p.ServerName] = p.Server
		if meta.Host.Version == "" {
			meta.Host.Version = p.Host.Version
		}
	}
	meta.WrappedServers = slices.Sorted(maps.Keys(meta.Servers))
	s.out = append(s.out, Change{Run: r.ID, Start: &recorder.Run{
		ID: r.ID, Framework: "mcp", Input: r.Input, Metadata: meta, State: recorder.StateOpen, StartedAt: r.Started.UTC(),
	}})
}

// finish ends a run.
func (s *step) finish(r *turn.Run) {
	end := r.Finish()
	s.out = append(s.out, Change{Run: r.ID, Finish: &end})
	delete(s.Runs, r.ID)
	for _, id := range r.Prompts {
		s.Prompts.add(id)
	}
	for _, id := range slices.Sorted(maps.Keys(r.Done)) {
		s.Past.add(id)
	}
}
