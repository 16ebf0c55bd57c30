package control

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

// Why a call was not made, or is not known to have been.
var (
	ErrUnknownProxy   = errors.New("the proxy has not registered")
	ErrNoProxy        = errors.New("no proxy takes calls for the server")
	ErrAmbiguousProxy = errors.New("several proxies take calls for the server")
	ErrNoAnswer       = errors.New("the call did not answer in time")
)

const (
	// pickUp is how long a call waits for its proxy to ask: a proxy that lives asks
	// again as soon as it has an answer.
	pickUp = 2 * time.Second
	// answerSlack is left to a proxy that ends a call at its time to say so.
	answerSlack = 2 * time.Second
	// defaultCallTimeout bounds a call whose caller set no bound.
	defaultCallTimeout = 60 * time.Second
)

// Dispatch makes a call through a live proxy of the server and waits for what comes
// of it. ErrNoProxy and ErrAmbiguousProxy: nothing was sent. ErrNoAnswer: it was
// handed out, and may have run.
func (s *Server) Dispatch(ctx context.Context, order client.DispatchOrder) (client.Result, error) {
	timeout := time.Duration(order.TimeoutMS) * time.Millisecond
	if timeout <= 0 {
		timeout = defaultCallTimeout
	}
	j := &job{
		call: client.Dispatch{
			ID: recorder.NewID("dsp"), ToolName: order.ToolName, Args: order.Args, TimeoutMS: int(timeout.Milliseconds()),
		},
		taken:  make(chan struct{}),
		result: make(chan client.Result, 1),
	}
	if err := s.desk.put(order, j, time.Now()); err != nil {
		return client.Result{}, err
	}
	defer s.desk.forget(j)
	if err := s.pickedUp(ctx, j); err != nil {
		return client.Result{}, err
	}
	late := time.NewTimer(timeout + answerSlack)
	defer late.Stop()
	select {
	case result := <-j.result:
		return result, nil
	case <-late.C:
	case <-ctx.Done():
	case <-s.ending.begun:
	}
	return client.Result{}, ErrNoAnswer
}

// pickedUp waits until a poll has taken the call.
func (s *Server) pickedUp(ctx context.Context, j *job) error {
	late := time.NewTimer(pickUp)
	defer late.Stop()
	select {
	case <-j.taken:
		return nil
	case <-late.C:
	case <-ctx.Done():
	case <-s.ending.begun:
	}
	if s.desk.withdraw(j) {
		return ErrNoProxy
	}
	return nil // a poll took it just now
}

// put queues a call for the one proxy that it can mean.
func (d *desk) put(order client.DispatchOrder, j *job, now time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, at := range d.seats {
		if !at.serves(order) || !d.alive(at, now) {
			continue
		}
		if j.seat != nil {
			return ErrAmbiguousProxy
		}
		j.seat = at
	}
	if j.seat == nil {
		return ErrNoProxy
	}
	j.seat.queue = append(j.seat.queue, j)
	select {
	case j.seat.wake <- struct{}{}:
	default: // it is awake
	}
	return nil
}

func (at *seat) serves(order client.DispatchOrder) bool {
	return at.proxy.ServerName == order.ServerName &&
		cmp.Or(order.ProxyID, at.proxy.ProxyID) == at.proxy.ProxyID &&
		cmp.Or(order.SessionID, at.proxy.SessionID) == at.proxy.SessionID
}

// withdraw takes a call back that no poll has taken, and says whether it did.
func (d *desk) withdraw(j *job) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.Index(j.seat.queue, j)
	if at < 0 {
		return false
	}
	j.seat.queue = slices.Delete(j.seat.queue, at, at+1)
	return true
}

// forget ends the wait for a call's result.
func (d *desk) forget(j *job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.out, j.call.ID)
}

// settle gives a result to who waits for it, and says whether somebody does.
func (d *desk) settle(result client.Result) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	j := d.out[result.ID]
	if j == nil || j.seat.proxy.ProxyID != result.ProxyID {
		return false
	}
	delete(d.out, result.ID)
	j.result <- result // has room: a call is settled once
	return true
}
