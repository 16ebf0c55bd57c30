package client

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/spool"
	"github.com/bir-run/bir/recorder/truncate"
)

const (
	defaultQueueCalls  = 2000 // of small ones: the bytes are what bounds large ones
	defaultQueueBytes  = 32 << 20
	defaultSendTimeout = 10 * time.Second
	defaultRetryMin    = 5 * time.Second
	defaultRetryMax    = 60 * time.Second
)

// RecorderConfig says where reports go. Only Connect is required.
type RecorderConfig struct {
	// Connect finds the service, and is asked again when it has moved or no longer
	// knows the token. It runs in the background and may take its time.
	Connect func(context.Context) (*Client, error)
	// SpoolDir is where reports wait for the service, a folder of that service's
	// own. Without one they are lost while it is away.
	SpoolDir      string
	SpoolMaxBytes int64 // 0: spool.MaxBytes

	QueueCalls      int           // calls in memory before the oldest is dropped; 0: 2,000
	QueueBytes      int           // and their bytes; 0: 32 MiB
	MaxPayloadBytes int           // 0: truncate.MaxBytes
	SendTimeout     time.Duration // of one request; 0: 10 s
	RetryMin        time.Duration // first pause after a failure; 0: 5 s
	RetryMax        time.Duration // the longest; 0: 60 s
	Logger          *slog.Logger  // nil: discard
}

func (cfg RecorderConfig) withDefaults() RecorderConfig {
	cfg.QueueCalls = orDefault(cfg.QueueCalls, defaultQueueCalls)
	cfg.QueueBytes = orDefault(cfg.QueueBytes, defaultQueueBytes)
	cfg.MaxPayloadBytes = orDefault(cfg.MaxPayloadBytes, truncate.MaxBytes)
	cfg.SpoolMaxBytes = orDefault(cfg.SpoolMaxBytes, spool.MaxBytes)
	cfg.SendTimeout = orDefault(cfg.SendTimeout, defaultSendTimeout)
	cfg.RetryMin = orDefault(cfg.RetryMin, defaultRetryMin)
	cfg.RetryMax = max(orDefault(cfg.RetryMax, defaultRetryMax), cfg.RetryMin)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return cfg
}

func orDefault[T int | int64 | time.Duration](v, otherwise T) T {
	if v <= 0 {
		return otherwise
	}
	return v
}

// StreamRecorder reports runs to the service. Its methods only queue; one
// goroutine redacts, truncates, sends and spools, in the order of the reports.
//
//	StartRun, RecordCall, FinishRun
//	      │ queue: bounded, the oldest call goes first
//	      ▼
//	redact ─► truncate ─► service answers? ── yes, and nothing of the run waits ─► send
//	                              └── no ─► spool ── once it answers, in order ─► send
//
// What could not be kept (a full queue, a full disk, a refusal by the service)
// marks the run lossy.
type StreamRecorder struct {
	queue *queue
	chain *chain

	start  func() // the worker, once
	cancel context.CancelFunc
	done   chan struct{} // closed when the worker has ended
}

var _ recorder.Recorder = (*StreamRecorder)(nil)

// NewRecorder returns a recorder that does nothing until its first report. Close
// it: what is still queued would be lost.
func NewRecorder(cfg RecorderConfig) *StreamRecorder {
	cfg = cfg.withDefaults()
	s := &StreamRecorder{
		queue: newQueue(cfg.QueueCalls, cfg.QueueBytes),
		done:  make(chan struct{}),
	}
	s.chain = newChain(cfg, s.queue.waiting)
	// The worker has a context of its own: the requests that reports come from end
	// long before these are sent.
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.start = sync.OnceFunc(func() { go s.work(ctx) }) // ends once Close has closed the queue
	return s
}

// StartRun opens a run. A run that goes on counts its rows from run.StepCount.
func (s *StreamRecorder) StartRun(run recorder.Run) {
	s.push(report{run: run.ID, start: &run})
}

// RecordCall adds a call to an open run. The recorder owns the call's bytes from
// here on: a caller that reuses its buffers passes copies.
func (s *StreamRecorder) RecordCall(runID string, call recorder.Call) {
	bytes := len(call.Args) + len(call.Asked) + len(call.Result) + len(call.Error) + len(call.Context)
	s.push(report{run: runID, call: &call, bytes: bytes})
}

// FinishRun closes a run.
func (s *StreamRecorder) FinishRun(runID string, end recorder.Finish) {
	if end.FinishedAt.IsZero() {
		end.FinishedAt = time.Now().UTC()
	}
	s.push(report{run: runID, finish: &end})
}

// Flush waits until everything reported so far is sent or spooled, or ctx ends.
func (s *StreamRecorder) Flush(ctx context.Context) error {
	flushed := make(chan struct{})
	if !s.push(report{flushed: flushed}) {
		flushed = s.done // closed: then the end of the worker is what to wait for
	}
	select {
	case <-flushed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close sends what is queued and spooled until ctx ends, spools the rest, and
// returns when that is done: shortly after ctx at the latest. Reports that come
// later are dropped.
func (s *StreamRecorder) Close(ctx context.Context) error {
	s.queue.close()
	s.start() // it may not have been, by a report that comes just now
	stop := context.AfterFunc(ctx, s.cancel)
	<-s.done
	stop()
	s.cancel()
	return s.chain.lost()
}

// push queues a report and says whether it was taken.
func (s *StreamRecorder) push(r report) bool {
	if !s.queue.push(r) {
		return false
	}
	s.start()
	return true
}

func (s *StreamRecorder) work(ctx context.Context) {
	defer close(s.done)
	for {
		reports, open := s.queue.take()
		s.chain.accept(ctx, reports)
		if len(reports) > 0 {
			continue // more may have come; draining can wait
		}
		if !open {
			s.chain.end(ctx)
			return
		}
		s.wait(ctx)
	}
}

// wait ends with a report, or when something that waits is due again.
func (s *StreamRecorder) wait(ctx context.Context) {
	var due <-chan time.Time
	if pause, waiting := s.chain.pause(); waiting {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-s.queue.wake:
	case <-s.queue.timer.C:
	case <-due:
		s.chain.retry(ctx)
	}
}
