package runs

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bir-run/bir/control/runs/journal"
	"github.com/bir-run/bir/control/runs/machine"
	"github.com/bir-run/bir/control/runs/turn"
)

const (
	// saveEvery is how long what was reported may not be on its way for sure.
	saveEvery = time.Second
	// lookEvery is how often processes are looked at.
	lookEvery = 15 * time.Second
	// leastWait keeps what is due again and again from taking the machine.
	leastWait = 10 * time.Millisecond
	// flushTimeout bounds how long the recorder is waited for.
	flushTimeout = 10 * time.Second
	// maxJournal is the size from which a journal is made shorter.
	maxJournal = 8 << 20
	// sessionWait is how long a session without a word counts as live. It may be waiting
	// for its user, and the next prompt needs somebody to hear it.
	sessionWait = 12 * time.Hour
	// sessionGone is how long one without a word does whose servers have all ended: its
	// host was killed, or its servers failed.
	sessionGone = 10 * time.Minute
	// proxyKept is how long a proxy that ended is remembered, longer than sessionGone.
	proxyKept = 15 * time.Minute
)

// Run does what time asks for: it gives up on halves that never come, closes runs, and
// keeps the journal short. It ends with ctx.
func (b *Book) Run(ctx context.Context) error {
	var saving sync.WaitGroup
	saving.Go(func() { b.keepSaving(ctx) }) // ends with ctx; apart, since a recorder may take its time
	defer saving.Wait()
	for {
		timer := time.NewTimer(b.wait())
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-b.changed:
			timer.Stop()
		case <-timer.C:
		}
		b.Tick(b.cfg.Now())
	}
}

// wait is how long nothing is due.
func (b *Book) wait() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait := lookEvery
	if due, ok := b.state.Due(); ok {
		wait = min(wait, due.Sub(b.cfg.Now()))
	}
	return max(wait, leastWait)
}

// keepSaving saves what was written, not more often than every saveEvery.
func (b *Book) keepSaving(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.unsaved:
		}
		if err := b.save(ctx); err != nil && ctx.Err() == nil {
			b.cfg.Logger.Warn("the journal is not shortened", "err", err)
			notify(b.unsaved)
		}
		timer := time.NewTimer(saveEvery)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// Tick does what is due at a time.
func (b *Book) Tick(now time.Time) {
	b.mu.Lock()
	due, ok := b.state.Due()
	e := machine.Event{Kind: machine.KindTick, At: now}
	var ended []string
	if now.Sub(b.lastLive) >= lookEvery {
		b.lastLive = now
		e.Gone, ended = b.goneLocked(now)
	}
	var held []*turn.Run
	for _, r := range b.state.Runs {
		if !r.Deadline.IsZero() && !now.Before(r.Deadline) {
			held = append(held, outline(r))
		}
	}
	b.mu.Unlock()
	for _, id := range ended {
		end := machine.Event{Kind: "SessionEnd", At: now, Session: id}
		b.prepare(&end)
		b.apply(end)
	}
	for _, r := range held {
		over := machine.Event{Kind: machine.KindTick, At: now, Run: r.ID}
		b.look(&over, r)
		b.apply(over)
	}
	if len(e.Gone) > 0 || (ok && !now.Before(due)) {
		b.apply(e)
	}
}

func (b *Book) apply(e machine.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.applyLocked(e)
}

// goneLocked finds proxies that ended, and sessions whose host ended without a word:
// all their servers did, and did not come again.
func (b *Book) goneLocked(now time.Time) (proxies, sessions []string) {
	alive, dead := map[string]bool{}, map[string]bool{}
	for id, p := range b.proxies {
		if p.Alive = b.cfg.Alive(p.PID); p.Alive {
			alive[p.SessionID] = true
			p.LastSeen = now
			continue
		}
		dead[p.SessionID] = true
		if now.Sub(p.LastSeen) >= proxyKept {
			proxies = append(proxies, id)
			delete(b.proxies, id)
		}
	}
	for id, s := range b.state.Sessions {
		quiet := now.Sub(s.Seen)
		if (dead[id] && !alive[id] && quiet >= sessionGone) || (quiet >= sessionWait) {
			sessions = append(sessions, id)
		}
	}
	slices.Sort(proxies)
	slices.Sort(sessions)
	return proxies, sessions
}

// save waits until all that was reported is on its way for sure, and then lets go of
// what the journal keeps for the case that it was not.
func (b *Book) save(ctx context.Context) error {
	b.mu.Lock()
	events, tail := b.events, b.journal.Size()
	var shot []byte
	var err error
	shorten := b.state.Empty() || b.journal.Size() > max(maxJournal, 2*b.journal.Base())
	if shorten && !b.state.Empty() {
		shot, err = journal.Entry{State: b.state}.Encode()
	}
	b.mu.Unlock()
	if err != nil || tail == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := b.cfg.Recorder.Flush(ctx); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !shorten {
		return b.journal.Write(journal.Entry{Sent: events})
	}
	b.events -= events
	return b.journal.Restart(shot, tail)
}
