package machine

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/control/order"
	"github.com/bir-run/bir/recorder"
)

// Payloads of calls that wait for what the model said before them are bounded: then
// they go without it.
const (
	maxHeld      = 64
	maxHeldBytes = 1 << 20
)

// settle numbers the calls of a run that can be, reports those of which all is known
// and ends the run when nothing is missing.
func (s *step) settle(r *Run) {
	for _, c := range r.waiting() {
		if c.Settled() || s.e.At.Sub(c.End.At) >= order.Grace {
			r.Line.End(c.ID, c.EndedAt())
		}
	}
	last := !r.Closed.IsZero() && len(r.Line.Open) == 0
	for _, n := range r.Line.Release(s.e.At, s.strayEnd(r), last) {
		r.Held = append(r.Held, Held{N: n.N, Call: r.Calls[n.ID]})
		delete(r.Calls, n.ID)
		s.Steps++
	}
	if len(r.Calls)+len(r.Held) > 0 || last {
		s.announce(r)
	}
	s.flush(r, last)
	if last {
		s.finish(r)
	}
}

// strayEnd is when the first call ended of which only a proxy has told yet and that may
// turn out to be the run's; zero where there is none.
func (s *step) strayEnd(r *Run) time.Time {
	var first time.Time
	for _, o := range s.Orphans {
		if end := correlate.WireEnd(o.Wire); (first.IsZero() || end.Before(first)) && s.home(o.Wire) == r {
			first = end
		}
	}
	return first
}

// waiting lists the calls with an end that are not in line, by the time they began.
func (r *Run) waiting() []*correlate.Call {
	var out []*correlate.Call
	for id := range r.Line.Open {
		if c := r.Calls[id]; c != nil && c.End != nil {
			out = append(out, c)
		}
	}
	return out
}

// heard adds what the model said before a call.
func (r *Run) heard(id, said string) {
	if c := r.Calls[id]; c != nil {
		c.Context, c.Said = said, true
	} else if c := r.held(id); c != nil {
		c.Context, c.Said = said, true
	} else if !r.done(id) {
		r.Said[id] = said
	}
}

// flush reports the calls of which all is known, in their order. Calls that did not
// wait in vain go first.
func (s *step) flush(r *Run, all bool) {
	bytes := 0
	for _, h := range r.Held {
		bytes += h.Call.Bytes()
	}
	all = all || len(r.Held) > maxHeld || bytes > maxHeldBytes
	r.Held = slices.DeleteFunc(r.Held, func(h Held) bool {
		if !all && !h.Call.Said {
			return false
		}
		call := h.Call.Merged()
		if call.AgentType == "" {
			call.AgentType = r.Agents[call.AgentID]
		}
		call.Place = r.place(2*h.N, call.ID, h.Call.EndedAt())
		s.out = append(s.out, Change{Run: r.ID, Call: &call})
		r.Done[h.Call.ID] = h.Call.Tool
		return true
	})
}

// place gives a call its rows: two, under ids that follow from the call.
func (r *Run) place(index int, id string, at time.Time) recorder.Place {
	return recorder.Place{Index: index, RowIDs: [2]string{
		derive("step", at, r.ID, id, "selected"), derive("step", at, r.ID, id, "response"),
	}}
}

// derive makes an id like recorder.NewID's that follows from its parts alone, so that
// a call read back from a journal has the rows that it had.
func derive(prefix string, at time.Time, parts ...string) string {
	hash := sha256.New()
	for _, p := range parts {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(p))))
		hash.Write([]byte(p))
	}
	var id uuid.UUID
	copy(id[:], hash.Sum(nil))
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(0, at.UnixMilli()))<<16)
	copy(id[:6], ms[:6])
	id[6] = id[6]&0x0f | 0x70 // version 7
	id[8] = id[8]&0x3f | 0x80 // RFC 9562's variant
	return prefix + "_" + id.String()
}

// announce reports that a run has begun. It waits for the run's first call, since
// proxies may come after the prompt, and what they wrap belongs to the run.
func (s *step) announce(r *Run) {
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
func (s *step) finish(r *Run) {
	end := recorder.Finish{Output: r.Answer, Lossy: r.Lossy, FinishedAt: r.Closed.UTC()}
	if !r.Stopped.IsZero() {
		end.FinishedAt = r.Stopped.UTC()
	}
	if r.Measured && !r.Compacted {
		end.Usage = r.Usage
	}
	if r.Answer != "" {
		end.Answer = r.place(2*r.Line.Next, "answer", end.FinishedAt)
	}
	s.out = append(s.out, Change{Run: r.ID, Finish: &end})
	delete(s.Runs, r.ID)
	for _, id := range r.Prompts {
		s.Prompts.add(id)
	}
	for _, id := range slices.Sorted(maps.Keys(r.Done)) {
		s.Past.add(id)
	}
}
