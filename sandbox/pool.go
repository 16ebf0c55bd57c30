package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bir-run/bir/sandbox/wire"
)

// killAfter is how long a worker has past the deadline to answer by itself. A
// body inside a builtin cannot be interrupted; only its process can be ended.
const killAfter = 75 * time.Millisecond

// ErrClosed is the error of an evaluation on a closed pool.
var ErrClosed = errors.New("the sandbox is closed")

// Pool runs bodies in worker processes, which it starts when it needs them and
// keeps warm.
type Pool struct {
	config     Config
	slots      chan struct{} // one token for every evaluation that may run
	closing    chan struct{}
	quarantine *quarantine
	warden     *warden
	counters   *counters

	mu     sync.Mutex           // guards idle and closed
	idle   map[Level][]*process // the last used last: it is the warmest
	closed bool
	active sync.WaitGroup // evaluations and dismissals; added to under mu, while not closed
}

// NewPool makes a pool. It starts nothing.
func NewPool(config Config) *Pool {
	config = config.withDefaults()
	return &Pool{
		config:     config,
		slots:      make(chan struct{}, config.Size),
		closing:    make(chan struct{}),
		quarantine: newQuarantine(),
		warden:     newWarden(),
		counters:   newCounters(),
		idle:       map[Level][]*process{},
	}
}

// Eval runs body on args. A fault of the body, and a worker that cannot be used,
// is an *Error; the end of ctx and ErrClosed are not. The result has its level even
// with a fault.
func (p *Pool) Eval(ctx context.Context, body Body, args Args) (Result, error) {
	started := time.Now()
	req, err := p.config.request(body, args)
	if err != nil {
		return Result{}, err
	}
	if refused := p.quarantine.refusal(body); refused != nil {
		p.counters.refuse()
		return Result{}, refused
	}
	frame, err := wire.Encode(req)
	if err != nil {
		return Result{}, &Error{Type: TypeSandbox, Message: fmt.Sprintf("encode the evaluation: %v", err)}
	}
	leave, err := p.enter(ctx)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	resp, level, err := p.evaluate(ctx, p.level(body), question{frame: frame, timeout: req.Timeout})
	var fatal *fatalError
	if errors.As(err, &fatal) {
		p.quarantine.strike(body, fatal.fault)
		err = fatal.fault
	}
	if err == nil || fatal != nil {
		p.counters.evaluated(level, time.Since(started))
	}
	if err != nil {
		return Result{Level: level}, err
	}
	result, err := resultOf(resp)
	result.Level = level
	return result, err
}

func resultOf(resp *wire.Response) (Result, error) {
	if f := resp.Failure; f != nil {
		return Result{}, &Error{Type: ErrorType(f.Type), Message: f.Message, Line: f.Line, Column: f.Column, Console: resp.Console}
	}
	return Result{Value: resp.Value, Console: resp.Console, Duration: resp.Duration, MemoryBytes: resp.MemoryBytes}, nil
}

// enter waits for a slot, which counts against the caller's time.
func (p *Pool) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("wait for an evaluator: %w", err)
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for an evaluator: %w", ctx.Err())
	case <-p.closing:
		return nil, ErrClosed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		<-p.slots
		return nil, ErrClosed
	}
	p.active.Add(1)
	return func() {
		<-p.slots
		p.active.Done()
	}, nil
}

// evaluate tries a second time, on a fresh worker, when a worker ended for a
// reason that is not the body's: somebody killed it, or it was the machine.
func (p *Pool) evaluate(ctx context.Context, wanted Level, q question) (*wire.Response, Level, error) {
	w, err := p.worker(ctx, wanted)
	if err != nil {
		return nil, "", err
	}
	level := w.level
	resp, err := p.call(ctx, w, q)
	var lost *lostError
	if !errors.As(err, &lost) {
		return resp, level, err
	}
	p.config.Logger.Warn("worker lost, trying once more", "reason", lost.reason)
	if w, err = p.start(ctx, level); err != nil {
		return nil, level, err
	}
	if resp, err = p.call(ctx, w, q); errors.As(err, &lost) {
		err = &Error{Type: TypeSandbox, Message: "the evaluator ended twice: " + lost.reason}
	}
	return resp, level, err
}

// call makes one exchange, and keeps the worker if it is still good.
func (p *Pool) call(ctx context.Context, w *process, q question) (*wire.Response, error) {
	resp, err := w.exchange(ctx, q)
	if err != nil {
		p.counters.killed(killOf(err))
		return nil, err
	}
	if resp.Retire || w.evaluations >= p.config.MaxEvaluations || w.grown() {
		w.close()
	} else {
		p.keep(w)
	}
	return resp, nil
}

// wasmRest is how long a worker at level wasm is kept idle: it has the compiled guest
// in memory, more than a hundred megabytes. One at level process is small.
const wasmRest = 30 * time.Second

func (p *Pool) keep(w *process) {
	p.mu.Lock()
	keep := !p.closed
	if keep {
		p.idle[w.level] = append(p.idle[w.level], w)
		if w.level == LevelWasm {
			w.rest = time.AfterFunc(wasmRest, func() { p.dismiss(w) })
		}
	}
	p.mu.Unlock()
	if !keep {
		w.close()
	}
}

// dismiss ends a worker that has been idle for long, unless somebody has it.
func (p *Pool) dismiss(w *process) {
	p.mu.Lock()
	at := slices.Index(p.idle[w.level], w)
	if at < 0 || p.closed {
		p.mu.Unlock()
		return
	}
	p.idle[w.level] = slices.Delete(p.idle[w.level], at, at+1)
	p.active.Add(1)
	p.mu.Unlock()
	defer p.active.Done()
	w.close()
}

// worker is a warm one, or a new one.
func (p *Pool) worker(ctx context.Context, level Level) (*process, error) {
	p.mu.Lock()
	var w *process
	if n := len(p.idle[level]); n > 0 {
		w = p.idle[level][n-1]
		p.idle[level] = p.idle[level][:n-1]
		if w.rest != nil {
			w.rest.Stop() // if it has begun, it finds nobody
		}
	}
	p.mu.Unlock()
	if w != nil {
		return w, nil
	}
	w, err := p.start(ctx, level)
	if errors.Is(err, errNotCompiled) {
		return p.notCompiled(ctx)
	}
	return w, err
}

func (p *Pool) start(ctx context.Context, level Level) (*process, error) {
	w, err := startProcess(ctx, p.config, level, p.warden)
	if err != nil {
		return nil, err
	}
	p.counters.started(w.level, w.hello.Confinement)
	return w, nil
}

// Close ends the workers and waits for them. Evaluations under way are finished,
// which takes no longer than their timeout.
func (p *Pool) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	close(p.closing)
	for _, workers := range idle {
		for _, w := range workers {
			if w.rest != nil {
				w.rest.Stop()
			}
			w.close()
		}
	}
	p.active.Wait()
	p.warden.close()
}
