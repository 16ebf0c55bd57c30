package tier

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/bir-run/bir/control/client"
)

// serve speaks to a control server until it is gone or ctx ends.
func (t *Tier) serve(ctx context.Context, link Link, call Call) {
	linked, unlink := context.WithCancel(ctx)
	var polling sync.WaitGroup
	if call != nil {
		// Ends with linked, and ends it: an open poll is the first to notice a death.
		polling.Go(func() {
			defer unlink() // and with it the calls that were asked for
			p := poller{t: t, link: link, call: call}
			p.run(linked)
		})
	}
	t.send(linked, link)
	unlink()
	t.lose()
	polling.Wait()
}

// send reports calls, one after the other or some together, until the control server
// is gone.
func (t *Tier) send(ctx context.Context, link Link) {
	most, retried := maxTogether, "" // the id of a first report that was refused once
	for {
		next, greet := t.next(most)
		switch {
		case greet && t.register(ctx, link) != nil:
			return
		case greet:
			continue
		case len(next) == 0:
			select {
			case <-t.wake:
			case <-ctx.Done():
				return
			}
			continue
		}
		refused, err := t.report(ctx, link, next)
		switch {
		case err == nil:
			t.sent(next, refused)
		case isGone(err):
			return
		case retried != next[0].ID:
			// Another control server may have taken the place of ours, and not know us.
			if retried = next[0].ID; t.register(ctx, link) != nil {
				return
			}
		case len(next) > 1:
			most = 1 // so that only what is wrong with it is lost
		default:
			t.sent(next, []client.Untaken{{Why: err.Error()}})
		}
	}
}

// next is what is to be said now: who the host is, some reports, or nothing.
func (t *Tier) next(most int) (reports []client.StepReport, greet bool) {
	t.mu.Lock()
	if t.unsaid || len(t.waiting) == 0 {
		defer t.mu.Unlock()
		return nil, t.unsaid
	}
	items := slices.Clone(t.waiting[:t.togetherLocked(most)])
	self, key, dropped := t.self, t.registered.FingerprintKey, t.dropped
	t.mu.Unlock()
	for _, i := range items {
		reports = append(reports, i.report(self, key, dropped))
		dropped = 0 // it is told once
	}
	return reports, false
}

// report says which of the reports the control server will not take.
func (t *Tier) report(ctx context.Context, link Link, reports []client.StepReport) ([]client.Untaken, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if len(reports) == 1 {
		return nil, link.Step(ctx, reports[0])
	}
	taken, err := link.Steps(ctx, reports)
	return taken.Refused, err
}

// sent takes reports off what waits, unless a full queue has done so, and counts those
// that were refused among the lost.
func (t *Tier) sent(reports []client.StepReport, refused []client.Untaken) {
	told := reports[0].Lost
	for _, u := range refused {
		t.log.Warn("the control server does not take a call", "server", t.cfg.Self.ServerName, "why", u.Why)
		t.Lost()
		if u.Index == 0 {
			told = 0
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropped -= told
	for _, r := range reports {
		if len(t.waiting) > 0 && t.waiting[0].id == r.ID {
			t.popLocked()
		}
	}
}

// isStranger says whether another control server has taken the place of the one that
// we registered with.
func isStranger(err error) bool {
	var refused *client.Refused
	return errors.As(err, &refused) && refused.Code == client.CodeUnknownProxy
}

// isGone says whether there is no use in another word to this control server.
func isGone(err error) bool {
	return errors.Is(err, client.ErrUnreachable) || errors.Is(err, client.ErrUnauthorised) || errors.Is(err, context.Canceled)
}
