package turn

import (
	"crypto/sha256"
	"encoding/binary"
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

// Number gives the calls that can be numbered their places, and says how many those
// were and whether no more will come. strayEnd is when the first call ended that may
// turn out to be the run's; zero where there is none.
func (r *Run) Number(at, strayEnd time.Time) (numbered int, last bool) {
	for _, c := range r.waiting() {
		if c.Settled() || at.Sub(c.End.At) >= order.Grace {
			r.Line.End(c.ID, c.EndedAt())
		}
	}
	last = !r.Closed.IsZero() && len(r.Line.Open) == 0
	for _, n := range r.Line.Release(at, strayEnd, last) {
		r.Held = append(r.Held, Held{N: n.N, Call: r.Calls[n.ID]})
		delete(r.Calls, n.ID)
		numbered++
	}
	return numbered, last
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

// Flush gives the calls of which all is known, in their order, to be reported. Calls
// that did not wait in vain go first.
func (r *Run) Flush(all bool) (calls []recorder.Call) {
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
		calls = append(calls, call)
		r.Done[h.Call.ID] = h.Call.Tool
		return true
	})
	return calls
}

// Finish is the run's end, to be reported.
func (r *Run) Finish() recorder.Finish {
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
	return end
}

// place gives a call its rows: two, under ids that follow from the call.
func (r *Run) place(index int, id string, at time.Time) recorder.Place {
	return recorder.Place{Index: index, RowIDs: [2]string{
		Derive("step", at, r.ID, id, "selected"), Derive("step", at, r.ID, id, "response"),
	}}
}

// Derive makes an id like recorder.NewID's that follows from its parts alone, so that
// a call read back from a journal has the rows that it had.
func Derive(prefix string, at time.Time, parts ...string) string {
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
