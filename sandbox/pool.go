package sandbox

import (
	"context"
	"errors"
	"fmt"
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

	mu     sync.Mutex // guards idle, info and closed
	idle   []*process // the last used last: it is the warmest
	info   Info
	closed bool
	active sync.WaitGroup // evaluations; added to under mu, while not closed
}

// Info is what holds the workers, as the last one started reported it.
type Info struct {
	Started     int      // workers so far
	Confinement []string // by name, for people
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
	}
}

// Eval runs body on args. A fault of the body, and a worker that cannot be used,
// is an *Error; the end of ctx and ErrClosed are not.
func (p *Pool) Eval(ctx context.Context, body Body, args Args) (Result, error) {
	req, err := p.config.request(body, args)
	if err != nil {
		return Result{}, err
	}
	if refused := p.quarantine.refusal(body); refused != nil {
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
	resp, err := p.evaluate(ctx, frame)
	if err != nil {
		var fatal *fatalError
		if errors.As(err, &fatal) {
			p.quarantine.strike(body, fatal.fault)
			return Result{}, fatal.fault
		}
		return Result{}, err
	}
	return resultOf(resp)
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
func (p *Pool) evaluate(ctx context.Context, frame []byte) (*wire.Response, error) {
	w, err := p.worker(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := p.call(ctx, w, frame)
	var lost *lostError
	if !errors.As(err, &lost) {
		return resp, err
	}
	p.config.Logger.Warn("worker lost, trying once more", "reason", lost.reason)
	if w, err = p.start(ctx); err != nil {
		return nil, err
	}
	if resp, err = p.call(ctx, w, frame); errors.As(err, &lost) {
		return nil, &Error{Type: TypeSandbox, Message: "the evaluator ended twice: " + lost.reason}
	}
	return resp, err
}

// call makes one exchange, and keeps the worker if it is still good.
func (p *Pool) call(ctx context.Context, w *process, frame []byte) (*wire.Response, error) {
	resp, err := w.exchange(ctx, frame)
	if err != nil {
		return nil, err
	}
	if resp.Retire || w.evaluations >= p.config.MaxEvaluations || w.grown() {
		w.close()
	} else {
		p.keep(w)
	}
	return resp, nil
}

func (p *Pool) keep(w *process) {
	p.mu.Lock()
	keep := !p.closed
	if keep {
		p.idle = append(p.idle, w)
	}
	p.mu.Unlock()
	if !keep {
		w.close()
	}
}

// worker is a warm one, or a new one.
func (p *Pool) worker(ctx context.Context) (*process, error) {
	p.mu.Lock()
	var w *process
	if n := len(p.idle); n > 0 {
		w = p.idle[n-1]
		p.idle = p.idle[:n-1]
	}
	p.mu.Unlock()
	if w != nil {
		return w, nil
	}
	return p.start(ctx)
}

func (p *Pool) start(ctx context.Context) (*process, error) {
	w, err := startProcess(ctx, p.config, p.warden)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.info.Started++
	p.info.Confinement = w.hello.Confinement
	p.mu.Unlock()
	return w, nil
}

// Info reports what holds the workers; it is empty before the first evaluation.
func (p *Pool) Info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.info
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
	for _, w := range idle {
		w.close()
	}
	p.active.Wait()
	p.warden.close()
}
