// Package relay carries an MCP conversation between a host and an upstream
// without changing a byte of it, and reports the tool calls that pass. It owns the
// table of requests in flight and the queue of reports. It must never delay, decode
// or re-encode a message that it does not change, and no failure of recording may
// reach the conversation.
//
//	host ──► read ─► note the calls ─► feed ─► upstream  (Late: noted, then sent)
//	host ◄── outlet ◄── read ◄──────────────── upstream  (Early: sent, then noted)
//	                      └─► ended calls ─► queue (250) ─► Recorder
//
// Why note requests before they are sent and answers after? An answer can come
// before the sender is scheduled again; noted later, its request would be unknown.
// A request is small and the note costs under a microsecond. An answer may be
// large, and nobody waits for the note.
//
// Why a table for every method when only tools/call is recorded? When the upstream
// ends, each request in flight is owed an answer.
//
// Why is a message over the limit cut and not held back? To hold it until its size is
// known would cost its size in memory and its time in delay, for every message. So
// its head has gone when the limit is met: the host gets a line that is no JSON,
// which it must be able to skip, and then the answer that ends its call.
//
// Why does a call end when the host cancels it, and not with the answer that may
// still come? The host will not look at that answer, so no run was built on it.
package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	caller "github.com/bir-run/bir/relay/call"
	"github.com/bir-run/bir/relay/callid"
	"github.com/bir-run/bir/relay/jsonrpc"
)

const (
	// maxCopyBytes is the largest message of which a copy is kept for the record.
	// The recorder keeps 64 KiB of it; what it needs whole are images, to hash them.
	maxCopyBytes = 8 << 20
	// maxRequestBytes is how much of a request is kept to find out which tool it calls.
	maxRequestBytes = 32 << 20
	// deliverTimeout bounds the wait for a host that does not read, once the upstream
	// is gone.
	deliverTimeout = 500 * time.Millisecond
)

// Upstream is the wrapped server. Read fails once it has said its last word.
type Upstream interface {
	io.Reader
	io.Writer
	// Stop ends it within a bound and waits; Read goes on meanwhile.
	Stop()
}

// Config says what to relay. Host and Upstream are needed.
type Config struct {
	// HostIn is closed when the upstream has ended, which should end a Read that
	// waits.
	HostIn   io.ReadCloser
	HostOut  io.Writer
	Upstream Upstream
	Name     string       // the server's name, in answers and in the record
	Log      *slog.Logger // nil discards
	// Record, with a Recorder, is where tool calls are reported.
	Record Record
	// MaxMessageBytes is the largest message of the upstream that the host gets; 0
	// sets no limit.
	MaxMessageBytes int
	// CallIDs declares and takes out the member of package callid. Each line then
	// waits for its end; a request over 32 MiB and a list over 8 MiB pass unchanged.
	CallIDs bool
	// Declares says whether a list of tools is to declare it now; nil always does. It is
	// asked at each list.
	Declares func() bool
	// Self is who we say we are in calls of our own (Call), on the modern wire.
	Self caller.Info
	// Restart starts another upstream in place of one that ended; it is called once, if
	// at all. nil, or an error, ends the conversation.
	Restart func(ctx context.Context) (Upstream, error)
	// StayUp answers requests when the upstream has ended for good, until the host ends.
	StayUp bool
}

// Relay is one conversation.
type Relay struct {
	cfg       Config
	log       *slog.Logger
	table     table
	handshake handshake
	toHost    outlet
	feed      *feed
	own       own
	reporter  *reporter // nil records nothing
	blind     atomic.Bool
	// These belong to fromHost.
	line    int64 // of the host, under way
	inBatch bool  // it is a batch
	// These belong to fromUpstream, and to Run once that has ended.
	readAt time.Time // when the upstream was last read
	noise  int       // its lines that were no JSON
}

// New makes a relay; Run starts it.
func New(cfg Config) *Relay {
	r := &Relay{cfg: cfg, log: cfg.Log, table: table{open: map[string]*call{}}, handshake: handshake{keep: cfg.Restart != nil},
		toHost: outlet{seam: seam{to: cfg.HostOut}}, feed: newFeed(cfg.Upstream, cfg.Restart != nil)}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if cfg.Record.Recorder != nil {
		r.reporter = newReporter(cfg.Record, cfg.Name, r.log)
	}
	return r
}

// Run relays until the upstream has ended, which the end of the host's input or of
// ctx brings about. The error is what broke the conversation, nil for an orderly
// end.
func (r *Relay) Run(ctx context.Context) error {
	if r.reporter != nil {
		go r.reporter.loop() // ends with finish
	}
	hostEnded := make(chan struct{})
	// Ends with the host's input. It can outlive Run where that cannot be closed under
	// a waiting Read, such as a terminal; the process ends it then.
	go func() { defer close(hostEnded); r.fromHost() }()
	err := r.live(ctx, hostEnded)
	r.feed.close()
	r.own.close()
	// Ends at once, but where a system does not close a file under a waiting read.
	go func() { _ = r.cfg.HostIn.Close() }()
	r.finish(ctx)
	return err
}

// fromHost passes on what the host says. When the upstream no longer takes it, it
// reads on: the requests are answered when the upstream has ended.
func (r *Relay) fromHost() {
	in := jsonrpc.Reader{Source: r.cfg.HostIn, Forward: r.feed, When: jsonrpc.Late, MaxBytes: maxRequestBytes}
	if r.cfg.CallIDs {
		in.When = jsonrpc.Held
	}
	for {
		m, err := in.Next()
		if m.Size > 0 {
			r.guard("host", func() { r.noteHost(m) })
			r.line++
		}
		if m.Size > 0 && r.cfg.CallIDs && !m.Cut {
			if b := callid.TakeFrom(m.Raw); b != nil {
				in.Replace(m, b)
			}
		}
		if err != nil {
			return
		}
	}
}

// fromUpstream passes on what an upstream says; replaying says that its first answer
// is to a handshake of ours.
func (r *Relay) fromUpstream(up Upstream, replaying *replay) error {
	out := jsonrpc.Reader{Source: stamped{up, &r.readAt}, Forward: &r.toHost, MaxBytes: maxCopyBytes,
		MaxForward: r.cfg.MaxMessageBytes, Wanted: r.table.records}
	if replaying != nil || r.cfg.CallIDs {
		out.When = jsonrpc.Held
	}
	out.Hold, out.MaxHeld = r.own.underWay, maxOwnBytes
	defer r.own.end()
	for {
		m, err := out.Next()
		switch {
		case m.Size == 0:
		case replaying.is(m):
			out.Replace(m, nil)
			if !r.cfg.CallIDs {
				out.When = jsonrpc.Early
			}
			replaying.done(m)
		default:
			r.hear(&out, m)
		}
		switch {
		case err == nil:
		case err == io.EOF, errors.Is(err, jsonrpc.ErrTruncated):
			return nil
		default:
			return err
		}
	}
}

// hear looks at one line of the upstream.
func (r *Relay) hear(out *jsonrpc.Reader, m jsonrpc.Message) {
	if r.isOwn(m) {
		out.Replace(m, nil)
		r.own.deliver(m)
		return
	}
	if r.cfg.CallIDs {
		r.declare(out, m)
	}
	if m.Clipped {
		out.Replace(m, nil) // where it was held it need not go at all
		r.guard("upstream", func() { r.tooLarge(m) })
		return
	}
	r.guard("upstream", func() { r.noteUpstream(m) })
}

// declare adds the call id's declaration to a list of tools.
func (r *Relay) declare(out *jsonrpc.Reader, m jsonrpc.Message) {
	listed := m.Kind == jsonrpc.Batch || m.Kind == jsonrpc.Response && r.table.asks(m.ID, methodList)
	if !listed || m.Cut || r.cfg.Record.paused() || r.cfg.Declares != nil && !r.cfg.Declares() {
		return
	}
	if b := callid.Declare(m.Raw); b != nil {
		out.Replace(m, b)
	}
}

// guard keeps a fault of ours in looking at a message from ending the
// conversation. What is lost is the record from here on.
func (r *Relay) guard(side string, note func()) {
	if r.blind.Load() {
		return
	}
	defer func() {
		if fault := recover(); fault != nil {
			r.blind.Store(true)
			r.log.Error("recording stopped", "side", side, "fault", fault)
			r.lose()
		}
	}()
	note()
}

// lose marks the record incomplete.
func (r *Relay) lose() {
	if r.reporter != nil {
		r.reporter.lose()
	}
}

// finish closes the record, within its own bound.
func (r *Relay) finish(ctx context.Context) {
	if r.noise > 0 {
		r.log.Warn("upstream wrote lines that are not JSON to its standard output", "server", r.cfg.Name, "lines", r.noise)
	}
	if r.reporter == nil {
		return
	}
	for _, c := range r.table.takeIf(func(*call) bool { return true }) {
		r.reporter.unanswered(*c)
	}
	r.reporter.close(context.WithoutCancel(ctx))
}

// stamped notes when a read returned.
type stamped struct {
	io.Reader
	at *time.Time
}

func (s stamped) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	*s.at = time.Now()
	return n, err
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
