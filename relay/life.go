package relay

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bir-run/bir/relay/jsonrpc"
)

const (
	methodInitialize  = "initialize"
	methodInitialized = "notifications/initialized"
	// replayID is the id of a handshake that we repeat (R5).
	replayID = `"bir:restart"`
	// replayTimeout bounds the wait for its answer: what the host says waits, too.
	replayTimeout = 30 * time.Second
)

// live relays with one upstream, or with two where the first is restarted, until the
// conversation is over.
func (r *Relay) live(ctx context.Context, hostEnded <-chan struct{}) error {
	up, again := r.cfg.Upstream, (*replay)(nil)
	for {
		ended := make(chan error, 1)
		// Ends with the upstream's output, or, when the host does not read, with the process.
		go func() { ended <- r.fromUpstream(up, again) }()
		select {
		case err := <-ended:
			if err != nil || closed(hostEnded) || ctx.Err() != nil {
				up.Stop()
				return err
			}
		case <-hostEnded:
			return r.windDown(up, ended)
		case <-ctx.Done():
			return r.windDown(up, ended)
		}
		if again == nil {
			again = r.restart(ctx, up)
		} else {
			again = nil // only once
		}
		if again == nil {
			r.mourn(ctx, up, hostEnded)
			return nil
		}
		up = again.up
	}
}

// windDown ends the upstream while its answers still reach the host (R11).
func (r *Relay) windDown(up Upstream, upstreamEnded <-chan error) error {
	up.Stop()
	timer := time.NewTimer(deliverTimeout)
	defer timer.Stop()
	select {
	case err := <-upstreamEnded:
		return err
	case <-timer.C:
		return errors.New("host does not read its answers")
	}
}

// mourn answers what an upstream that ended for good left open, and under StayUp
// goes on to answer until the host has ended.
func (r *Relay) mourn(ctx context.Context, up Upstream, hostEnded <-chan struct{}) {
	r.feed.giveUp()
	r.answerOpen()
	up.Stop()
	if !r.cfg.StayUp {
		return
	}
	r.feed.close()
	r.log.Warn("the server has ended; its requests are answered with an error", "server", r.cfg.Name)
	select {
	case <-hostEnded:
	case <-ctx.Done():
	}
}

// restart starts another upstream in place of one that ended, once, and repeats the
// host's handshake to it. It returns nil where the conversation is over.
func (r *Relay) restart(ctx context.Context, old Upstream) *replay {
	if r.cfg.Restart == nil {
		return nil
	}
	ask, told, ok := r.handshake.get()
	if !ok {
		return nil // a server that ends before it is initialised would do so again
	}
	old.Stop() // it may have closed its output only
	r.feed.cut()
	r.answerOpen()
	up, err := r.cfg.Restart(ctx)
	if err != nil {
		r.log.Error("restart the server", "server", r.cfg.Name, "error", err)
		return nil
	}
	r.log.Warn("the server ended and was started again", "server", r.cfg.Name)
	again := &replay{up: up, feed: r.feed, told: told}
	if ask == nil {
		r.feed.resume(up)
		return again
	}
	again.late = time.AfterFunc(replayTimeout, up.Stop)
	if _, err := up.Write(ask); err != nil {
		r.log.Error("repeat the handshake", "server", r.cfg.Name, "error", err) // its output ends, too
	}
	return again
}

// replay is a handshake that is repeated to an upstream; what the host says waits
// until it is answered.
type replay struct {
	up   Upstream
	feed *feed
	told []byte // what follows the answer, nil where the host has not said it
	late *time.Timer
}

// is says whether a line is the answer to the repeated handshake.
func (p *replay) is(m jsonrpc.Message) bool {
	return p != nil && m.Kind == jsonrpc.Response && string(m.ID) == replayID
}

func (p *replay) done(m jsonrpc.Message) {
	if !p.late.Stop() {
		return
	}
	if !m.HasResult() {
		go p.up.Stop() // ends within Stop's bound, and with it the upstream's output
		return
	}
	_, _ = p.up.Write(p.told) // of an upstream that is gone the output ends
	p.feed.resume(p.up)
}

// handshake keeps what the host said to open the conversation.
type handshake struct {
	keep bool // the messages, for another upstream

	mu       sync.Mutex // guards all below
	ask      []byte     // initialize under replayID
	told     []byte     // notifications/initialized
	begun    bool       // initialize was said
	answered bool
	opened   bool // notifications/initialized was said
	modern   bool // the upstream was spoken to without all that
}

func (h *handshake) note(m jsonrpc.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch m.Method {
	case methodInitialize:
		h.begun, h.answered, h.opened = true, false, false
		if h.keep {
			h.ask = m.WithID(replayID)
		}
	case methodInitialized:
		h.opened = true
		if h.keep {
			h.told = bytes.Clone(m.Raw)
		}
	}
}

// noteModern notes that host and upstream speak the modern wire.
func (h *handshake) noteModern() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.modern = true
}

// era says how the upstream is to be spoken to; ok is false before the host has
// opened the conversation.
func (h *handshake) era() (modern, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.begun {
		return false, h.answered && h.opened
	}
	return true, h.modern
}

func (h *handshake) noteAnswer(m jsonrpc.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answered = m.HasResult()
}

// get returns the handshake; ok is false while it is under way. Without one, as on
// the modern wire, there is nothing to repeat.
func (h *handshake) get() (ask, told []byte, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ask, h.told, h.ask == nil || h.answered
}
