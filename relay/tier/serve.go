package tier

import (
	"context"
	"errors"
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

// send reports one call after the other, until the control server is gone.
func (t *Tier) send(ctx context.Context, link Link) {
	retried := "" // the id of a report that was refused once
	for {
		next, ok, greet := t.next()
		switch {
		case greet && t.register(ctx, link) != nil:
			return
		case greet:
			continue
		case !ok:
			select {
			case <-t.wake:
			case <-ctx.Done():
				return
			}
			continue
		}
		err := t.report(ctx, link, next)
		switch {
		case err == nil:
			t.sent(next.ID, next.Lost)
		case isGone(err):
			return
		case retried != next.ID:
			// Another control server may have taken the place of ours, and not know us.
			if retried = next.ID; t.register(ctx, link) != nil {
				return
			}
		default:
			t.log.Warn("the control server does not take a call", "server", next.ServerName, "error", err)
			t.sent(next.ID, 0)
			t.Lost()
		}
	}
}

// next is what is to be said now: who the host is, a report, or nothing.
func (t *Tier) next() (report client.StepReport, ok, greet bool) {
	t.mu.Lock()
	if t.unsaid || len(t.waiting) == 0 {
		defer t.mu.Unlock()
		return client.StepReport{}, false, t.unsaid
	}
	first, self, key, dropped := t.waiting[0], t.self, t.registered.FingerprintKey, t.dropped
	t.mu.Unlock()
	return first.report(self, key, dropped), true, false
}

func (t *Tier) report(ctx context.Context, link Link, r client.StepReport) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return link.Step(ctx, r)
}

// sent takes a report off what waits, unless a full queue has done so.
func (t *Tier) sent(id string, told int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropped -= told
	if len(t.waiting) > 0 && t.waiting[0].id == id {
		t.popLocked()
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
