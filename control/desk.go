package control

import (
	"context"
	"sync"
	"time"

	"github.com/bir-run/bir/control/client"
)

// seatKept is how long a proxy that says nothing is remembered. One that comes back
// later registers again.
const seatKept = 10 * time.Minute

// desk brings calls to the proxies that poll for them. A call goes to one proxy, once:
// handing it out again could do twice what was wanted once.
//
//	put ──► seat.queue ──► a poll of that proxy ──► out ──► settle
type desk struct {
	mu    sync.Mutex // guards what follows, and every seat
	seats map[string]*seat
	out   map[string]*job // handed out, by the call's id
}

// seat is one proxy.
type seat struct {
	proxy   client.Register
	seen    time.Time // zero: its last poll was broken off
	polling int       // polls that wait
	queue   []*job    // bounded by the requests that wait for them
	wake    chan struct{}
}

// job is a call on its way.
type job struct {
	call   client.Dispatch
	seat   *seat
	taken  chan struct{} // closed when a poll has it
	result chan client.Result
}

func newDesk() *desk { return &desk{seats: map[string]*seat{}, out: map[string]*job{}} }

// admit gives a proxy its seat, and drops those of proxies long gone.
func (d *desk) admit(proxy client.Register, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, at := range d.seats {
		if now.Sub(at.seen) > seatKept && at.polling == 0 && len(at.queue) == 0 {
			delete(d.seats, id)
		}
	}
	at := d.seats[proxy.ProxyID]
	if at == nil {
		at = &seat{wake: make(chan struct{}, 1)}
		d.seats[proxy.ProxyID] = at
	}
	at.proxy, at.seen = proxy, now
}

// alive says whether a proxy is likely to take a call: it asks for one, makes one, or
// did either a moment ago.
func (d *desk) alive(at *seat, now time.Time) bool {
	if at.polling > 0 || now.Sub(at.seen) < pickUp {
		return true
	}
	for _, j := range d.out {
		if j.seat == at {
			return true
		}
	}
	return false
}

// poll waits for a call for the proxy. None in time is an empty answer.
func (d *desk) poll(ctx context.Context, proxy string, wait time.Duration, ending <-chan struct{}) (client.Dispatch, error) {
	at, err := d.sit(proxy)
	if err != nil {
		return client.Dispatch{}, err
	}
	defer d.rise(ctx, at)
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		if call, ok := d.take(ctx, at); ok {
			return call, nil
		}
		select {
		case <-at.wake:
			continue
		case <-ctx.Done():
		case <-ending:
		case <-late.C:
		}
		return client.Dispatch{}, nil
	}
}

func (d *desk) sit(proxy string) (*seat, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.seats[proxy]
	if at == nil {
		return nil, ErrUnknownProxy
	}
	at.polling++
	return at, nil
}

func (d *desk) rise(ctx context.Context, at *seat) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at.polling--
	at.seen = time.Now()
	if ctx.Err() != nil {
		at.seen = time.Time{}
	}
}

// take hands out the oldest call, but not to a proxy that is gone.
func (d *desk) take(ctx context.Context, at *seat) (client.Dispatch, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(at.queue) == 0 || ctx.Err() != nil {
		return client.Dispatch{}, false
	}
	j := at.queue[0]
	at.queue = at.queue[1:]
	d.out[j.call.ID] = j
	close(j.taken)
	return j.call, true
}
