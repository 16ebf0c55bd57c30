package runs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/control/runs/turn"
)

// maxPromptLine is how much of a prompt health shows.
const maxPromptLine = 120

// Health says what is open and who was heard.
func (b *Book) Health() (steps int, open []client.OpenRun, proxies []client.Proxy, events []client.Seen) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.state.Runs {
		open = append(open, openRun(r))
	}
	slices.SortFunc(open, func(x, y client.OpenRun) int {
		return cmp.Or(x.StartedAt.Compare(y.StartedAt), strings.Compare(x.ID, y.ID))
	})
	for _, p := range b.proxies {
		p.Alive = b.cfg.Alive(p.PID)
		proxies = append(proxies, *p)
	}
	slices.SortFunc(proxies, func(x, y client.Proxy) int {
		return cmp.Or(strings.Compare(x.ServerName, y.ServerName), strings.Compare(x.ProxyID, y.ProxyID))
	})
	for _, e := range event.All() {
		if s := b.seen[e.Name]; s != nil {
			events = append(events, *s)
		}
	}
	return b.state.Steps, open, proxies, events
}

func openRun(r *turn.Run) client.OpenRun {
	pending := 0
	for _, c := range r.Calls {
		if c.End == nil || !c.Settled() {
			pending++
		}
	}
	return client.OpenRun{
		ID: r.ID, SessionID: r.Session, Prompt: line(r.Input), Steps: r.Line.Next, Pending: pending,
		StartedAt: r.Started, Lossy: r.Lossy,
	}
}

// line is the beginning of a text in one line.
func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxPromptLine {
		return s
	}
	return strings.ToValidUTF8(s[:maxPromptLine], "") + "…"
}

// Idle says that nobody needs the control server: no run is open, no proxy lives and
// no session has been heard of for a while.
func (b *Book) Idle(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.state.Empty() {
		return false
	}
	for _, p := range b.proxies {
		if b.cfg.Alive(p.PID) {
			return false
		}
	}
	for _, s := range b.state.Sessions {
		if now.Sub(s.Seen) < sessionWait {
			return false
		}
	}
	return true
}
