package control

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// freshConns are connections whose first request has not come yet. Once its Shutdown is
// called, http.Server drops a request that it is just reading, without an answer; and
// it would wait 5 s for a connection on which nothing comes. So these are seen to
// first.
type freshConns struct {
	mu    sync.Mutex // guards what follows
	conns map[net.Conn]struct{}
}

type connKey struct{}

func (f *freshConns) context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// handler notes that the request of a connection has come.
func (f *freshConns) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, ok := r.Context().Value(connKey{}).(net.Conn); ok {
			f.forget(conn)
		}
		next.ServeHTTP(w, r)
	})
}

func (f *freshConns) note(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.conns[conn] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		f.forget(conn)
	}
}

func (f *freshConns) forget(conn net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, conn)
}

// settle waits for the first requests of what is accepted. A connection on which there
// is nothing after a while is closed: clients dial some ahead.
func (f *freshConns) settle(ctx context.Context) {
	for began := time.Now(); f.some() && ctx.Err() == nil; time.Sleep(lookPause) {
		if time.Since(began) > spareTimeout {
			f.closeSilent()
		}
	}
}

func (f *freshConns) some() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns) > 0
}

func (f *freshConns) closeSilent() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for conn := range f.conns {
		if !pending(conn) { // or it is about to be read
			_ = conn.Close()
			delete(f.conns, conn)
		}
	}
}
