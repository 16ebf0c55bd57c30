package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bir-run/bir/relay/jsonrpc"
	"github.com/bir-run/bir/relay/origin"
	"github.com/bir-run/bir/relay/sse"
)

// legacy is the transport of 2024-11-05 (R27): one stream for all that the server
// says, whose first event names where to POST.
type legacy struct {
	u       *Upstream
	origin  *origin.Origin
	session *session
	backoff backoff
	within  time.Duration // for the stream to open and its first event to come
	wake    chan struct{} // holds a token while someone waits for a connection

	mu    sync.Mutex    // guards all below
	line  *line         // what to POST to; nil while there is none
	err   error         // why there is none
	dead  bool          // and never will be
	tried chan struct{} // closed, and replaced, when an attempt has ended
}

// line is one connection of the stream.
type line struct {
	endpoint *url.URL
	gone     chan struct{} // closed when the stream has ended
	hidden   string        // key of a repeated initialize; the stream's reader's own
	shaken   chan string   // gets the version in the answer to that
}

func newLegacy(u *Upstream, o *origin.Origin, cfg Config) *legacy {
	return &legacy{u: u, origin: o, session: newSession(), backoff: backoff{first: cfg.RetryDelay}, within: cfg.ConnectTimeout,
		wake: make(chan struct{}, 1), tried: make(chan struct{})}
}

// run keeps the stream open. A server that cannot be reached at first is like a
// process that cannot be started; one that was lost is looked for again.
func (l *legacy) run(ctx context.Context) {
	var at place
	for reached := false; ; {
		opened, err := l.connect(ctx, &at)
		if ctx.Err() != nil {
			return
		}
		reached = reached || opened
		l.set(nil, err, !reached)
		if !reached {
			l.u.log.Error("connect to the server", "error", err)
			close(l.u.lost)
			return
		}
		if !l.pause(ctx, &at) {
			return
		}
	}
}

// pause waits before the next attempt, but not while someone needs it.
func (l *legacy) pause(ctx context.Context, at *place) bool {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	// Ends with waiting.
	go func() {
		select {
		case <-l.wake:
			cancel()
		case <-waiting.Done():
		}
	}()
	l.backoff.pause(waiting, at)
	return ctx.Err() == nil
}

func (l *legacy) set(to *line, err error, dead bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line, l.err, l.dead = to, err, dead
	close(l.tried)
	l.tried = make(chan struct{})
}

// state is the line, or why there is none, and what to wait for, if anything.
func (l *legacy) state() (to *line, tried <-chan struct{}, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return nil, nil, l.err
	}
	return l.line, l.tried, l.err
}

// current is the line, after an attempt to make one where there is none.
func (l *legacy) current(ctx context.Context) (*line, error) {
	to, tried, why := l.state()
	if to != nil {
		return to, nil
	}
	if tried == nil {
		return nil, why
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
	select {
	case <-tried:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if to, _, why = l.state(); to != nil {
		return to, nil
	}
	return nil, why
}

// connect opens the stream and reads it to its end. It reports whether it was open,
// and why it ended.
func (l *legacy) connect(ctx context.Context, at *place) (opened bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(l.within, cancel)
	defer late.Stop()
	res, err := l.origin.Do(ctx, http.MethodGet, l.origin.URL, l.origin.NewHeader(acceptStream), nil)
	if err != nil {
		return false, l.slow(err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return false, statusFailure(res.StatusCode)
	}
	if !isStream(res) {
		return false, failf(codeNoAnswer, "upstream answered no event stream")
	}
	to := &line{gone: make(chan struct{}), shaken: make(chan string, 1)}
	defer close(to.gone)
	var refused error
	err = l.u.events(ctx, res.Body, at, func(e sse.Event) bool {
		switch {
		case to.endpoint == nil:
			if refused = l.begin(ctx, cancel, to, res.Request.URL, e); refused != nil {
				return true
			}
			late.Stop()
		case e.Type == "" && len(e.Data) > 0:
			l.message(to, e)
		}
		return false
	})
	if refused != nil {
		err = refused
	}
	if to.endpoint == nil {
		return false, l.slow(err)
	}
	return true, err
}

// slow names what the bound on connecting did.
func (l *legacy) slow(err error) error {
	if err == context.Canceled {
		return failf(origin.CodeUnreachable, "upstream unreachable: no event stream within %v", l.within)
	}
	return err
}

// begin takes the first event, which is the endpoint.
func (l *legacy) begin(ctx context.Context, giveUp func(), to *line, base *url.URL, e sse.Event) error {
	if e.Type != "endpoint" {
		return failf(origin.CodeRefused, "upstream named no endpoint")
	}
	endpoint, err := base.Parse(strings.TrimSpace(string(e.Data)))
	if err != nil || !l.origin.Same(endpoint) {
		return failf(origin.CodeRefused, "upstream named an endpoint of another origin")
	}
	endpoint.User = nil
	to.endpoint = endpoint
	hello, ready := l.session.handshake()
	if hello == nil {
		l.set(to, nil, false)
		return nil
	}
	again := parse(hello)
	to.hidden = again.owed[0].key
	// Ends with ctx, or when the handshake is done.
	l.u.tasks.Go(func() {
		if err := l.shake(ctx, to, again, ready); err != nil {
			l.u.log.Warn("server refused another session", "error", err)
			giveUp()
			return
		}
		l.set(to, nil, false)
	})
	return nil
}

// shake repeats the host's handshake on another connection, unseen by the host.
func (l *legacy) shake(ctx context.Context, to *line, hello message, ready []byte) error {
	if err := l.tell(ctx, to, hello); err != nil {
		return err
	}
	var version string
	select {
	case version = <-to.shaken:
	case <-to.gone:
	case <-ctx.Done():
	}
	if version == "" {
		return failf(origin.CodeRefused, "upstream refused another session")
	}
	l.session.begin(hello.raw, "", version)
	if ready == nil {
		return nil
	}
	return l.tell(ctx, to, parse(ready))
}

// message passes on what the server says, but for the answer to a repeated
// initialize.
func (l *legacy) message(to *line, e sse.Event) {
	if to.hidden != "" {
		m := jsonrpc.Head(e.Data)
		if key, _ := jsonrpc.Key(m.ID); m.Kind == jsonrpc.Response && key == to.hidden {
			to.hidden = ""
			to.shaken <- agreedVersion(e.Data) // has room for one
			return
		}
	}
	if !l.u.deliver(nil, e.Data) {
		l.u.log.Warn("upstream sent an event that is no JSON-RPC message", "bytes", e.Size)
	}
}

// post sends one message; what the server has to say about it comes on the stream.
func (l *legacy) post(ctx context.Context, to *line, m message) (*http.Response, error) {
	h := l.origin.NewHeader(acceptBoth)
	h.Set("Content-Type", "application/json")
	if t, _ := l.session.current(); m.method != methodInitialize {
		t.setOn(h)
	}
	return l.origin.Do(ctx, http.MethodPost, to.endpoint, h, m.raw)
}

// tell posts what is owed no answer.
func (l *legacy) tell(ctx context.Context, to *line, m message) error {
	res, err := l.post(ctx, to, m)
	if err != nil {
		return err
	}
	if origin.Discard(res); res.StatusCode/100 != 2 {
		return statusFailure(res.StatusCode)
	}
	return nil
}

func (l *legacy) send(ctx context.Context, m message) error {
	to, err := l.current(ctx)
	if err != nil {
		return err
	}
	if err := l.tell(ctx, to, m); err != nil {
		return err
	}
	if m.method == methodInitialized {
		t, _ := l.session.current()
		l.session.opened(m.raw, t.epoch)
	}
	return nil
}

func (l *legacy) request(ctx context.Context, f *flight) error {
	to, err := l.current(ctx)
	if err != nil {
		return err
	}
	res, err := l.post(ctx, to, f.message)
	if err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		defer res.Body.Close()
		return l.u.refusal(f, res)
	}
	origin.Discard(res)
	select {
	case <-f.done:
		return nil
	case <-to.gone:
		return failf(origin.CodeLost, "upstream ended its stream before the answer")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *legacy) welcomed(f *flight, answer []byte) {
	if v := agreedVersion(answer); v != "" {
		l.session.begin(f.raw, "", v)
	}
}

// bye has nothing to say: the end of the stream is the end of the session.
func (l *legacy) bye(context.Context) {}
