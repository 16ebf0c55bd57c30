package web

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/bir-run/bir/relay/budget"
	"github.com/bir-run/bir/relay/headers"
	"github.com/bir-run/bir/relay/jsonrpc"
	"github.com/bir-run/bir/relay/origin"
)

// The bounds of a shutdown. Together they leave some of the ten seconds (R11) to
// whoever still has something to deliver.
const (
	drainTimeout  = 5 * time.Second // for open requests to be answered once the host's input ended
	byeTimeout    = 2 * time.Second // for the session to be ended
	outputTimeout = time.Second     // for the host to read what is there
	// cancelGrace is how long an answer to a cancelled request is still waited for. On
	// the legacy wire a server often gives none, and leaves the stream open.
	cancelGrace = time.Minute
	// sendTimeout bounds what is owed no answer, so that what comes behind it is not kept
	// for ever.
	sendTimeout = 30 * time.Second
	// maxHeldBytes bounds the open requests, which are kept until they are answered.
	maxHeldBytes = 512 << 20
)

// carrier is one of the two transports.
type carrier interface {
	// run does what goes on in the background until ctx ends.
	run(ctx context.Context)
	// request sends a flight and returns when nothing more can come of it. The error is
	// why something is still owed.
	request(ctx context.Context, f *flight) error
	// send sends what is owed no answer.
	send(ctx context.Context, m message) error
	// welcomed is told the answer to initialize before the host is.
	welcomed(f *flight, answer []byte)
	// bye ends the session.
	bye(ctx context.Context)
}

// Upstream is a server that is reached over HTTP. It is used like a child process.
type Upstream struct {
	log     *slog.Logger
	limit   int // of a message
	carrier carrier
	tools   headers.Tools
	flights flights
	memory  *budget.Budget
	buffers sync.Pool     // of *buffer
	readers sync.Pool     // of *sse.Reader
	lost    chan struct{} // closed when there is no server to speak to, for good
	closing chan struct{}
	exited  chan struct{}
	out     *outbox
	tasks   sync.WaitGroup
	// start starts what a message asks for, under the context of Open.
	start func(message)

	mu     sync.Mutex      // guards all below
	line   []byte          // of the host, under way
	over   *jsonrpc.Pieces // names a line over the limit
	closed bool            // nothing is started any more
	gate   <-chan struct{} // closed when the handshake so far is acknowledged; nil likewise
	lane   <-chan struct{} // closed when the notification before has been sent
}

// Open makes an upstream. Nothing is sent before the host speaks, except that the
// legacy transport connects at once. When ctx ends, so does everything.
func Open(ctx context.Context, cfg Config) (*Upstream, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	o, err := cfg.Origin()
	if err != nil {
		return nil, err
	}
	u := &Upstream{log: cfg.Log, limit: cfg.MaxMessageBytes, memory: budget.New(budget.DefaultBytes),
		lost: make(chan struct{}), closing: make(chan struct{}), exited: make(chan struct{})}
	u.out = newOutbox()
	if cfg.Transport == SSE {
		u.carrier = newLegacy(u, o, cfg)
	} else {
		u.carrier = newStreamable(u, o, cfg)
	}
	ctx, cancel := context.WithCancel(ctx)
	u.start = func(m message) { u.dispatch(ctx, m) }
	// Ends with cancel.
	u.tasks.Go(func() { u.carrier.run(ctx) })
	// Ends with CloseWrite, Stop or ctx, within the bounds above.
	go u.run(ctx, cancel, o)
	return u, nil
}

// Read reads what the server says, a line for each message.
func (u *Upstream) Read(b []byte) (int, error) { return u.out.Read(b) }

// Write says something to the server. The lines may come in any pieces.
func (u *Upstream) Write(b []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return 0, os.ErrClosed
	}
	for rest := b; len(rest) > 0; {
		piece, after, ended := bytes.Cut(rest, []byte("\n"))
		u.take(piece)
		if ended {
			u.endLineLocked()
		}
		rest = after
	}
	return len(b), nil
}

// take adds to the line under way. The caller holds the lock, as that of dispatch does.
func (u *Upstream) take(piece []byte) {
	if u.over == nil && len(u.line)+len(piece) > u.limit {
		u.over = &jsonrpc.Pieces{}
		u.over.Add(u.line)
		u.line = nil
	}
	if u.over != nil {
		u.over.Add(piece)
		return
	}
	u.line = append(u.line, piece...)
}

// endLineLocked hands the line on. It is the message's own memory from here on.
func (u *Upstream) endLineLocked() {
	m := message{}
	if u.over != nil {
		m = u.tooLong()
	} else {
		m = parse(u.line)
	}
	u.line, u.over = nil, nil
	if m.kind != jsonrpc.Blank {
		u.start(m)
	}
}

// tooLong is a line over the limit, of which only its name is left.
func (u *Upstream) tooLong() message {
	cut := u.over.Message()
	m := message{kind: cut.Kind, method: cut.Method}
	m.owe(cut)
	return m
}

// CloseWrite ends what is said to the server. Open requests are still waited for,
// within a bound; then Read ends.
func (u *Upstream) CloseWrite() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return nil
	}
	u.endLineLocked() // the last line may have no end
	u.closed = true
	close(u.closing)
	return nil
}

// Stop is CloseWrite, and waits for the end.
func (u *Upstream) Stop() {
	_ = u.CloseWrite() // which cannot fail
	<-u.exited
}

// Exited is closed when everything has ended.
func (u *Upstream) Exited() <-chan struct{} { return u.exited }

// Status is what a process would exit with. It holds once Exited is closed.
func (u *Upstream) Status() int {
	select {
	case <-u.lost:
		return 1
	default:
		return 0
	}
}

// Signal does nothing: a server elsewhere gets no signals.
func (u *Upstream) Signal(os.Signal) {}

// Close gives back what is not read. Call it last.
func (u *Upstream) Close() error {
	u.out.close()
	return nil
}

func (u *Upstream) run(ctx context.Context, cancel func(), o *origin.Origin) {
	select {
	case <-u.closing:
	case <-u.lost:
	case <-ctx.Done():
	}
	_ = u.CloseWrite() // which cannot fail
	u.wind(ctx, cancel)
	o.Close()
	close(u.exited)
}

// wind lets open requests end, then ends all there is.
func (u *Upstream) wind(ctx context.Context, cancel func()) {
	drained := make(chan struct{})
	// Ends when every flight that someone waits for has, which the cancel below brings
	// about. A subscription has no end of its own.
	go func() {
		defer close(drained)
		for _, f := range u.flights.all() {
			if f.method != methodListen && !f.isCancelled() {
				<-f.done
			}
		}
	}()
	select {
	case <-drained:
	case <-time.After(drainTimeout):
	case <-ctx.Done():
	}
	bye, endBye := context.WithTimeout(context.WithoutCancel(ctx), byeTimeout)
	defer endBye()
	if ctx.Err() == nil {
		u.carrier.bye(bye)
	}
	cancel()
	late := time.AfterFunc(outputTimeout, u.out.end) // a host that does not read
	u.tasks.Wait()
	late.Stop()
	<-drained
	u.out.end()
}

// dispatch starts what a message asks for.
func (u *Upstream) dispatch(ctx context.Context, m message) {
	switch {
	case len(m.owed) > 0:
		u.fly(ctx, m)
	case m.method == methodCancelled && u.cancel(m):
	case m.kind == jsonrpc.Response || m.kind == jsonrpc.Batch:
		// Ends with its POST.
		u.tasks.Go(func() { u.send(ctx, m) })
	default:
		u.sendInOrder(ctx, m)
	}
}

// fly starts a request.
func (u *Upstream) fly(ctx context.Context, m message) {
	ctx, stop := context.WithCancel(ctx)
	f := &flight{message: m, stop: stop, done: make(chan struct{})}
	gate := u.gate
	if m.version != "" {
		gate = nil // the modern era has no handshake
	}
	if m.method == methodInitialize {
		u.gate = f.done
	}
	refused := m.raw == nil || u.flights.bytes()+len(m.raw) > maxHeldBytes
	u.flights.add(f)
	// Ends with its exchange.
	u.tasks.Go(func() {
		defer stop()
		defer u.flights.remove(f)
		defer f.endGrace()
		switch {
		case refused:
			u.fail(f, failf(codeTooLarge, "request too large"))
		case await(ctx, gate):
			u.end(f, u.carrier.request(ctx, f))
		default:
			u.end(f, ctx.Err())
		}
	})
}

// end answers what an exchange left owed.
func (u *Upstream) end(f *flight, err error) {
	if !f.owes() {
		return
	}
	switch why := err.(type) {
	case *failure:
		u.fail(f, why)
	case nil:
		u.fail(f, failf(codeNoAnswer, "upstream gave no answer"))
	default: // the context's
		if f.method == methodListen {
			return
		}
		u.fail(f, failf(codeStopped, "the proxy ended before the upstream answered"))
	}
}

// sendInOrder sends a notification, after those before it. What follows
// notifications/initialized waits for it: some servers refuse requests until then.
func (u *Upstream) sendInOrder(ctx context.Context, m message) {
	before, gate := u.lane, u.gate
	if m.version != "" || m.method == methodCancelled {
		gate = nil
	}
	sent := make(chan struct{})
	u.lane = sent
	if m.method == methodInitialized {
		u.gate = sent
	}
	// Ends with its POST.
	u.tasks.Go(func() {
		defer close(sent)
		if await(ctx, before) && await(ctx, gate) {
			u.send(ctx, m)
		}
	})
}

func (u *Upstream) send(ctx context.Context, m message) {
	if m.raw == nil {
		u.log.Warn("message too large; dropped", "method", m.method)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	if err := u.carrier.send(ctx, m); err != nil && ctx.Err() != context.Canceled {
		u.log.Warn("message not delivered", "method", m.method, "error", err)
	}
}

// cancel acts on notifications/cancelled (R24). It reports whether that is all: on
// the modern wire the end of the stream tells the server. On the legacy wire the
// notification does, and an answer may still come.
func (u *Upstream) cancel(m message) bool {
	members, _ := jsonrpc.Object(m.params, "requestId")
	key, ok := jsonrpc.Key(members[0])
	if !ok {
		return false
	}
	f := u.flights.find(key)
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancelled = true
	if f.version != "" {
		f.stop()
		return true
	}
	if f.grace == nil {
		f.grace = time.AfterFunc(cancelGrace, f.stop)
	}
	return false
}

// await waits for c, which may be nil for what need not be waited for.
func await(ctx context.Context, c <-chan struct{}) bool {
	if c == nil {
		return ctx.Err() == nil
	}
	select {
	case <-c:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
