package tier

import (
	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

const (
	// maxWaiting bounds the calls that wait while nobody takes them. A control server that
	// is there takes them as they come, so that a burst may be longer.
	maxWaiting = 250
	maxBurst   = 2000
	// maxBytes bounds what they hold together: a host starts many proxies.
	maxBytes = 4 << 20
	// maxTogether and maxTogetherBytes bound what is reported in one request.
	maxTogether      = 64
	maxTogetherBytes = 256 << 10
)

// item is a call that waits, under the id by which its report is known however often
// it is sent.
type item struct {
	id   string
	call recorder.Call
}

func (i *item) size() int { return len(i.call.Args) + len(i.call.Result) + len(i.call.Error) }

// pushLocked lets a call wait. When too many do, a wait for a control server is over;
// where that is no way out, the oldest is dropped and counted.
func (t *Tier) pushLocked(call recorder.Call) {
	t.waiting = append(t.waiting, item{recorder.NewID("rep"), call})
	t.bytes += t.waiting[len(t.waiting)-1].size()
	if t.state.waits() && t.fullLocked() && !t.cfg.NoOwnRun {
		t.settleLocked()
		return
	}
	for t.fullLocked() {
		t.popLocked()
		t.dropped++
	}
	t.poke()
}

func (t *Tier) fullLocked() bool {
	most := maxBurst
	if t.state.waits() {
		most = maxWaiting
	}
	return len(t.waiting) > most || t.bytes > maxBytes && len(t.waiting) > 1
}

// popLocked lets go of the oldest.
func (t *Tier) popLocked() {
	t.bytes -= t.waiting[0].size()
	t.waiting[0] = item{}
	if t.waiting = t.waiting[1:]; len(t.waiting) == 0 {
		t.waiting = nil // the slice has walked along its array
		t.restLocked()
	}
}

// togetherLocked is how many of the oldest are reported in one request.
func (t *Tier) togetherLocked(most int) int {
	if !t.registered.Lists {
		most = 1
	}
	n, size := 0, 0
	for n < min(most, len(t.waiting)) {
		size += t.waiting[n].size()
		if n > 0 && size > maxTogetherBytes {
			break
		}
		n++
	}
	return n
}

// restLocked lets Flush go on.
func (t *Tier) restLocked() {
	if t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// report is what a control server is told of a call.
func (i *item) report(self client.Register, key string, dropped int) client.StepReport {
	c := i.call
	r := client.StepReport{
		ID: i.id, ProxyID: self.ProxyID, ServerName: c.ServerName, ToolName: c.ToolName,
		CallID:      c.HookID,
		Fingerprint: client.Fingerprint(key, c.ServerName, c.ToolName, c.Args),
		Args:        c.Args, Result: c.Result, Error: c.Error, Status: c.Status,
		StartedAt: c.StartedAt, DurationMS: float64(c.Duration.Microseconds()) / 1000,
		Lost: dropped,
	}
	if c.ID != c.HookID { // which stands in for the host's own where there is none
		r.ToolUseID = c.ID
	}
	return r.Clean()
}
