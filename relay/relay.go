// Package relay carries an MCP conversation between a host and an upstream
// without changing a byte of it, and reports the tool calls that pass. It owns the
// table of requests in flight and the queue of reports. It must never delay, decode
// or re-encode a message that it does not change, and no failure of recording may
// reach the conversation.
//
//	host ──► read ─► note the calls ─► upstream        (Late: noted, then sent)
//	host ◄── read ◄─────────────────── upstream        (Early: sent, then noted)
//	               └─► answered calls ─► queue (250) ─► Recorder
//
// Why note requests before they are sent and answers after? An answer can come
// before the sender is scheduled again; noted later, its request would be unknown.
// A request is small and the note costs under a microsecond. An answer may be
// large, and nobody waits for the note.
//
// Why a table for every method when only tools/call is recorded? When the upstream
// ends, each request in flight is owed an answer.
package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

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
	// Intercept sees every line of the host before it is forwarded, and may give the
	// bytes that go on in its place; nil leaves the line alone. Set, it makes each line
	// wait for its end. A line over 32 MiB passes by it.
	Intercept func(jsonrpc.Message) []byte
}

// Relay is one conversation.
type Relay struct {
	cfg      Config
	log      *slog.Logger
	table    table
	reporter *reporter // nil records nothing
	blind    atomic.Bool
	// These belong to fromUpstream, and to Run once that has ended.
	readAt  time.Time // when the upstream was last read
	noise   int       // its lines that were no JSON
	midLine bool      // its last line had no end
}

// New makes a relay; Run starts it.
func New(cfg Config) *Relay {
	r := &Relay{cfg: cfg, log: cfg.Log, table: table{open: map[string]*call{}}}
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
	upstreamEnded := make(chan error, 1)
	// Ends with the upstream's output, or, when the host does not read, with the process.
	go func() { upstreamEnded <- r.fromUpstream() }()

	var err error
	select {
	case err = <-upstreamEnded:
		if err == nil && !closed(hostEnded) && ctx.Err() == nil {
			r.answerOpen()
		}
		r.cfg.Upstream.Stop()
	case <-hostEnded:
		err = r.windDown(upstreamEnded)
	case <-ctx.Done():
		err = r.windDown(upstreamEnded)
	}
	// Ends at once, but where a system does not close a file under a waiting read.
	go func() { _ = r.cfg.HostIn.Close() }()
	r.finish(ctx)
	return err
}

// windDown ends the upstream while its answers still reach the host (R11).
func (r *Relay) windDown(upstreamEnded <-chan error) error {
	r.cfg.Upstream.Stop()
	timer := time.NewTimer(deliverTimeout)
	defer timer.Stop()
	select {
	case err := <-upstreamEnded:
		return err
	case <-timer.C:
		return errors.New("host does not read its answers")
	}
}

// fromHost passes on what the host says. When the upstream no longer takes it, it
// reads on: the requests are answered when the upstream has ended.
func (r *Relay) fromHost() {
	in := jsonrpc.Reader{Source: r.cfg.HostIn, Forward: &sink{to: r.cfg.Upstream}, When: jsonrpc.Late, MaxBytes: maxRequestBytes}
	if r.cfg.Intercept != nil {
		in.When = jsonrpc.Held
	}
	for {
		m, err := in.Next()
		if m.Size > 0 {
			r.guard("host", func() { r.noteHost(m) })
		}
		if m.Size > 0 && r.cfg.Intercept != nil {
			if b := r.cfg.Intercept(m); b != nil {
				in.Replace(m, b)
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *Relay) fromUpstream() error {
	source := stamped{r.cfg.Upstream, &r.readAt}
	out := jsonrpc.Reader{Source: source, Forward: r.cfg.HostOut, MaxBytes: maxCopyBytes, Wanted: r.table.records}
	for {
		m, err := out.Next()
		if m.Size > 0 {
			r.guard("upstream", func() { r.noteUpstream(m) })
		}
		switch {
		case err == nil:
		case errors.Is(err, jsonrpc.ErrTruncated):
			r.midLine = true
			return nil
		case err == io.EOF:
			return nil
		default:
			return err
		}
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
	for _, c := range r.table.drain() {
		r.reporter.unanswered(c)
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

// sink takes everything, and after the first error passes nothing on.
type sink struct {
	to     io.Writer
	broken bool
}

func (s *sink) Write(b []byte) (int, error) {
	if !s.broken {
		_, err := s.to.Write(b)
		s.broken = err != nil
	}
	return len(b), nil
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
