package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder/api"
)

// ErrEnding says that the server takes no more.
var ErrEnding = errors.New("the control server is ending")

const (
	// drainTimeout bounds what is under way once the server is told to end. Hooks
	// that come meanwhile wait for the next server, and hosts wait for hooks.
	drainTimeout = 3 * time.Second
	// spareTimeout is how long a connection may bring nothing once the server ends:
	// clients dial some ahead.
	spareTimeout = time.Second
	// lookPause is between two looks at what has come in the end.
	lookPause     = time.Millisecond
	headerTimeout = 10 * time.Second
	// readTimeout bounds the arrival of a request, and so is longer than a poll's
	// wait: past it a connection counts as dead.
	readTimeout    = 60 * time.Second
	keepAlive      = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	// idleLooks is how often Idle is divided into looks at the book.
	idleLooks = 20
)

// ending is the order to end, given once.
type ending struct {
	once  *sync.Once
	begun chan struct{}
	order *client.Shutdown // read only after begun
}

func newEnding() ending {
	return ending{once: new(sync.Once), begun: make(chan struct{}), order: new(client.Shutdown)}
}

func (e ending) begin(order client.Shutdown) {
	e.once.Do(func() {
		*e.order = order
		close(e.begun)
	})
}

// shutdown answers before the listeners close: the request is itself under way.
func (s *Server) shutdown(w http.ResponseWriter, r *http.Request) error {
	var order client.Shutdown
	if r.ContentLength != 0 {
		if err := api.ReadJSON(r, &order); err != nil {
			return err
		}
	}
	s.ending.begin(order)
	api.WriteText(w, "application/json", http.StatusAccepted, []byte(`{"ok":true}`))
	return nil
}

// Serve answers what comes to the listeners until ctx ends, a shutdown is asked for or
// nobody has needed the server for Config.Idle. What is under way is finished first.
// It says whether a newer server takes over. It is called once.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) (handedOver bool, err error) {
	fresh := &freshConns{conns: map[net.Conn]struct{}{}}
	srv := &http.Server{
		Handler:           fresh.handler(s),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       keepAlive,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnState:         fresh.note,
		ConnContext:       fresh.context,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	failed := make(chan error, len(listeners))
	var accepting, watching sync.WaitGroup
	for _, l := range listeners {
		accepting.Go(func() { failed <- srv.Serve(l) }) // ends with endAccepting, or on its own error
	}
	ctxWatching, stopWatching := context.WithCancel(ctx)
	watching.Go(func() { s.watchIdle(ctxWatching) }) // ends with stopWatching
	select {
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	case <-s.ending.begun:
	}
	stopWatching()
	s.ending.begin(client.Shutdown{}) // where nobody has
	order := *s.ending.order
	s.log.LogAttrs(ctx, slog.LevelInfo, "control.ending", slog.Bool("handOver", order.HandOver))
	if order.HandOver && s.cfg.HandOver != nil {
		s.cfg.HandOver(order.Socket)
	}
	for _, l := range listeners {
		endAccepting(l)
	}
	accepting.Wait()
	watching.Wait()
	return order.HandOver, errors.Join(err, s.drain(ctx, srv, fresh))
}

// endAccepting closes a listener once its server has what came to it: what the kernel
// has taken and we have not would be reset.
func endAccepting(l net.Listener) {
	for until := time.Now().Add(drainTimeout); pending(l) && time.Now().Before(until); {
		time.Sleep(lookPause)
	}
	_ = l.Close() // which one that has failed is already
}

// drain lets requests finish, and the events that they brought be applied.
func (s *Server) drain(ctx context.Context, srv *http.Server, fresh *freshConns) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	fresh.settle(ctx)
	if err := srv.Shutdown(ctx); err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "control.cut", slog.Any("error", err))
		_ = srv.Close() // what is cut was told nothing, and its event is still applied
	}
	applied := make(chan struct{})
	go func() { // ends with the last event; it can outlive a book that hangs
		s.hooks.Wait()
		close(applied)
	}()
	select {
	case <-applied:
		return nil
	case <-ctx.Done():
		return errors.New("drain: an event is not applied yet")
	}
}

// watchIdle begins the end once the book has been idle for long enough.
func (s *Server) watchIdle(ctx context.Context) {
	if s.cfg.Idle <= 0 {
		return
	}
	look := time.NewTicker(max(s.cfg.Idle/idleLooks, time.Millisecond))
	defer look.Stop()
	busy := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-look.C:
			if !s.cfg.Book.Idle(now) {
				busy = now
			} else if now.Sub(busy) >= s.cfg.Idle {
				s.log.LogAttrs(ctx, slog.LevelInfo, "control.idle")
				s.ending.begin(client.Shutdown{})
				return
			}
		}
	}
}
