package tier

import (
	"context"
	"time"
)

// seek returns the first control server that takes us; nil when ctx has ended. When
// the window is over, what waits goes elsewhere, and the search goes on.
func (t *Tier) seek(ctx context.Context) Link {
	until := time.Now().Add(window)
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		if link := t.look(ctx); link != nil {
			return link
		}
		t.revive()
		left := time.Until(until)
		if left <= 0 {
			t.settle()
			left, pause = lookAgain, lookAgain
		}
		if !rest(ctx, min(pause, left)) {
			return nil
		}
	}
}

// look asks each control server that there may be.
func (t *Tier) look(ctx context.Context) (found Link) {
	if t.paused() {
		return nil
	}
	for _, link := range t.cfg.Find() {
		if found == nil && t.register(ctx, link) == nil {
			found = link
			continue
		}
		link.Close()
	}
	return found
}

func (t *Tier) paused() bool { return t.cfg.Paused != nil && t.cfg.Paused() }

// register says who we are, and binds.
func (t *Tier) register(ctx context.Context, link Link) error {
	t.mu.Lock()
	self := t.self
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	registered, err := link.Register(ctx, self)
	if err != nil {
		t.log.Debug("register", "server", self.ServerName, "error", err)
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != bound {
		t.log.Info("tier.bound", "server", self.ServerName, "waited", len(t.waiting))
	}
	t.state, t.wasBound, t.revived, t.registered = bound, true, false, registered
	t.unsaid = t.self.Host != self.Host
	return nil
}

// lose notes that the control server is gone.
func (t *Tier) lose() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state = lost
	t.restLocked() // Flush is not to wait for the next one
}

// revive starts a control server that died under us.
func (t *Tier) revive() {
	t.mu.Lock()
	due := t.wasBound && !t.revived && t.cfg.Revive != nil
	t.mu.Unlock()
	if !due || t.paused() || !t.cfg.Revive() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.revived = true
}

// rest pauses; it is false when ctx ends first.
func rest(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
