package control

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/recorder/api"
)

// nothing is the answer that changes nothing for the host.
var nothing = []byte("{}")

func (s *Server) hook(e event.Event) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		payload, err := api.ReadBody(r)
		if err != nil {
			return err
		}
		api.WriteText(w, "application/json", http.StatusOK, s.ask(r.Context(), e, payload))
		return nil
	}
}

// ask hands an event to the book and waits for its answer until the event's deadline.
// The event is applied all the same when the deadline passes first, or when the hook
// that brought it is gone.
func (s *Server) ask(ctx context.Context, e event.Event, payload []byte) []byte {
	answered := make(chan []byte, 1)
	// Ends when the book has taken the event; Serve waits for it.
	s.hooks.Go(func() { answered <- s.apply(context.WithoutCancel(ctx), e.Name, payload) })
	deadline := time.NewTimer(e.Answer)
	defer deadline.Stop()
	select {
	case answer := <-answered:
		return answer
	case <-deadline.C:
	}
	s.missed.add(e.Name)
	s.log.LogAttrs(ctx, slog.LevelWarn, "control.hook_deadline", slog.String("event", e.Name), slog.Duration("after", e.Answer))
	return nothing
}

// apply survives a panic of the book: it costs one event, and ending would cost the
// session's recording.
func (s *Server) apply(ctx context.Context, name string, payload []byte) (answer []byte) {
	defer func() {
		if p := recover(); p != nil {
			s.log.LogAttrs(ctx, slog.LevelError, "control.hook_panic",
				slog.String("event", name), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			answer = nothing
		}
	}()
	if answer = s.cfg.Book.Hook(ctx, name, payload); len(answer) == 0 {
		return nothing
	}
	return answer
}

// missed counts the answers that came too late, by event.
type missed struct {
	mu     sync.Mutex // guards counts
	counts map[string]int
}

func (m *missed) add(event string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts == nil {
		m.counts = map[string]int{}
	}
	m.counts[event]++
}

func (m *missed) addTo(events []client.Seen) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range events {
		events[i].Missed += m.counts[events[i].Event]
	}
}
