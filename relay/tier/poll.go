package tier

import (
	"context"
	"errors"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/relay/call"
)

const (
	pollWait = 25 * time.Second
	// pollPause is how long a control server is left alone that dispatches nothing: it
	// refuses a poll, or answers it at once.
	pollPause          = 30 * time.Second
	atOnce             = time.Second
	defaultCallTimeout = time.Minute
	// resultTimeout bounds the word of what came of a call, and lastTimeout that word
	// when nobody may wait for it any more.
	resultTimeout = 5 * time.Second
	lastTimeout   = 500 * time.Millisecond
)

// poller makes the calls that a control server wants made.
type poller struct {
	t    *Tier
	link Link
	call Call
}

// run polls until the control server is gone or ctx ends, which ends the calls, too:
// nobody waits for them any more. There are as many at once as the control server has
// callers.
func (p *poller) run(ctx context.Context) {
	idle := 0 // answers in a row that came at once and were none
	for {
		asked := time.Now()
		d, err := p.link.Poll(ctx, client.Poll{ProxyID: p.t.self.ProxyID, WaitMS: int(pollWait / time.Millisecond)})
		switch {
		case isGone(err) || isStranger(err):
			return
		case err == nil && (d.ID != "" || time.Since(asked) >= atOnce):
			idle = 0
		default:
			idle++
		}
		// One that leaves answers at once, too, and is told apart by the next answer.
		if idle > 1 && !rest(ctx, pollPause) {
			return
		}
		if d.ID != "" {
			// Ends with ctx, or, when the upstream does not read, with the upstream.
			p.t.calls.Go(func() { p.make(ctx, d) })
		}
	}
}

// make makes one call and says what came of it.
func (p *poller) make(ctx context.Context, d client.Dispatch) {
	result := client.Result{ID: d.ID, ProxyID: p.t.self.ProxyID}
	if p.t.paused() {
		result.Error = "bir is switched off here"
	} else {
		p.fill(ctx, d, &result)
	}
	limit := resultTimeout
	if ctx.Err() != nil {
		limit = lastTimeout // and yet the call was made
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if err := p.link.Result(ctx, result); err != nil {
		p.t.log.Warn("the control server does not take a result", "tool", d.ToolName, "error", err)
	}
}

// fill makes the call. The result is whole and unredacted: a replay goes on with it,
// and it does not leave this machine.
func (p *poller) fill(ctx context.Context, d client.Dispatch, result *client.Result) {
	ctx, cancel := context.WithTimeout(ctx, budget(d.TimeoutMS))
	defer cancel()
	out, err := p.call(ctx, d.ToolName, d.Args)
	var unsent *call.NotSentError
	result.Sent = !errors.As(err, &unsent)
	if result.Result = out; err != nil {
		result.Result, result.Error = nil, err.Error()
	}
}

// budget is somewhat less than the control server waits, so that the upstream hears of
// the end first.
func budget(ms int) time.Duration {
	limit := time.Duration(ms) * time.Millisecond
	if limit <= 0 {
		limit = defaultCallTimeout
	}
	return limit - min(time.Second, limit/10)
}
