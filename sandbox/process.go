package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/bir-run/bir/sandbox/wire"
)

const closeTimeout = 2 * time.Second

// process is one worker. It serves one evaluation at a time.
type process struct {
	config      Config
	level       Level
	warden      *warden
	rest        *time.Timer // ends it after a long rest; nil: never
	cmd         *exec.Cmd
	in, from    *os.File      // the ends of the pipes that are ours
	out         *bufio.Reader // of from: one read takes a small answer whole
	stderr      *head
	hello       wire.Hello
	job         job
	restBytes   int64 // resident after the start; 0 where it cannot be read
	evaluations int
	cause       atomic.Int32 // a killCause; the first one stays
}

// killCause is why this side killed a worker.
type killCause int32

const (
	notKilled killCause = iota
	killedForTime
	killedForMemory
	killedForCaller
)

// startProcess starts a worker and waits until it is confined. No context is tied
// to the process: it outlives the evaluation that needed it first.
func startProcess(ctx context.Context, config Config, level Level, warden *warden) (*process, error) {
	w := &process{config: config, level: level, warden: warden, stderr: &head{}}
	command := config.command(level)
	w.cmd = exec.Command(command[0], command[1:]...)
	w.cmd.Env = []string{} // not nil, which would pass ours on
	w.cmd.Dir = workingDir(command[0])
	w.cmd.Stderr = w.stderr
	w.cmd.SysProcAttr = ownProcessGroup()
	w.cmd.WaitDelay = closeTimeout
	if err := w.start(); err != nil {
		return nil, unusable(fmt.Sprintf("start %s: %v", filepath.Base(command[0]), err))
	}
	w.job = newJob(w.cmd.Process, level, config.MemoryBytes)
	if err := w.greet(ctx); err != nil {
		return nil, err
	}
	w.restBytes = residentBytes(w.cmd.Process.Pid)
	return w, nil
}

// start starts the process with a pipe to it and one from it.
func (w *process) start() error {
	in, toWorker, err := pipe()
	if err != nil {
		return err
	}
	defer in.Close() // the worker has its own
	fromWorker, out, err := pipe()
	if err != nil {
		_ = toWorker.Close()
		return err
	}
	defer out.Close()
	w.in, w.from, w.out = toWorker, fromWorker, bufio.NewReader(fromWorker)
	w.cmd.Stdin, w.cmd.Stdout = in, out
	if err := w.cmd.Start(); err != nil {
		_ = toWorker.Close()
		_ = fromWorker.Close()
		return err
	}
	return nil
}

// failedToStart ends a worker that did not greet, and says why.
func (w *process) failedToStart(ctx context.Context, patience time.Duration, err error) error {
	ended := w.end()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("start an evaluator: %w", ctx.Err())
	case killCause(w.cause.Load()) == killedForTime:
		return unusable(fmt.Sprintf("start an evaluator: it was not ready after %v", patience))
	case errors.As(ended, &exit) && exit.ExitCode() == wire.ExitNotCompiled:
		return errNotCompiled
	}
	return unusable("start an evaluator: " + w.lastWords(errors.Join(err, ended)))
}

// errNotCompiled is the error of a worker at level wasm before Prepare.
var errNotCompiled = unusable("level wasm is not compiled yet")

func unusable(message string) *Error { return &Error{Type: TypeSandbox, Message: message} }

func (w *process) greet(ctx context.Context) error {
	setup := wire.Setup{
		Version:     wire.Version,
		MemoryBytes: w.config.MemoryBytes,
		ResultBytes: w.config.ResultBytes,
		FrameBytes:  w.config.requestBytes(),
	}
	frame, err := wire.Encode(setup)
	if err != nil {
		return unusable(fmt.Sprintf("encode setup: %v", err))
	}
	patience := w.config.startTimeout(w.level)
	stop := w.killWhen(ctx, patience)
	defer stop()
	if _, err = w.in.Write(frame); err == nil {
		err = wire.Read(w.out, frameSlack, &w.hello)
	}
	if err != nil {
		return w.failedToStart(ctx, patience, err)
	}
	if w.hello.Version != wire.Version {
		w.end()
		return unusable(fmt.Sprintf("the evaluator speaks version %d, this program %d: install them together", w.hello.Version, wire.Version))
	}
	return nil
}

// question is an evaluation as it is sent, and how long its body may run.
type question struct {
	frame   []byte
	timeout time.Duration
}

// exchange makes one evaluation. After an error the process is gone.
func (w *process) exchange(ctx context.Context, q question) (*wire.Response, error) {
	stop := w.watched(ctx, q.timeout)
	resp := new(wire.Response)
	_, err := w.in.Write(q.frame)
	if err == nil {
		err = wire.Read(w.out, w.config.responseBytes(), resp)
	}
	inTime := stop()
	if err != nil {
		return nil, w.death(ctx, q.timeout, err)
	}
	w.evaluations++
	resp.Retire = resp.Retire || !inTime // killed as it answered
	return resp, nil
}

// killWhen ends the process when ctx ends or the time is over. The function it
// returns calls that off and tells whether it was in time.
func (w *process) killWhen(ctx context.Context, after time.Duration) (stop func() bool) {
	timer := time.AfterFunc(after, func() { w.kill(killedForTime) })
	callOff := context.AfterFunc(ctx, func() { w.kill(killedForCaller) })
	return func() bool {
		inTime := timer.Stop()
		return callOff() && inTime && killCause(w.cause.Load()) == notKilled
	}
}

func (w *process) kill(cause killCause) {
	w.cause.CompareAndSwap(int32(notKilled), int32(cause))
	_ = w.cmd.Process.Kill() // it may have ended by itself
}

// end kills the process and reaps it.
func (w *process) end() error {
	_ = w.cmd.Process.Kill()
	_ = w.in.Close()
	err := w.cmd.Wait()
	w.release()
	return err
}

// close lets an idle worker go: it ends when its input does.
func (w *process) close() {
	_ = w.in.Close()
	timer := time.AfterFunc(closeTimeout, func() { _ = w.cmd.Process.Kill() })
	defer timer.Stop()
	_ = w.cmd.Wait() // how an idle worker ended is nobody's concern
	w.release()
}

func (w *process) release() {
	_ = w.from.Close()
	w.job.close()
}

// grown tells whether an idle worker keeps more memory than a new one should have.
func (w *process) grown() bool {
	if w.restBytes == 0 || w.evaluations%grownEvery != 0 {
		return false
	}
	return residentBytes(w.cmd.Process.Pid) > w.restBytes+w.config.MemoryBytes
}

// grownEvery spares most evaluations the look at the process.
const grownEvery = 16

// watched puts an evaluation under the warden, and ends it with ctx. The function it
// returns calls that off and tells whether the worker was left alone.
func (w *process) watched(ctx context.Context, timeout time.Duration) (stop func() bool) {
	now := time.Now()
	e := watched{since: now, deadline: now.Add(timeout + killAfter)}
	if w.restBytes > 0 { // 0: no way to read it on this system
		e.limitBytes = w.restBytes + 3*w.config.MemoryBytes
	}
	release := w.warden.watch(w, e)
	callOff := context.AfterFunc(ctx, func() { w.kill(killedForCaller) })
	return func() bool {
		alone := callOff()
		return release() && alone
	}
}

// workingDir is one that the worker may have without being given anything.
func workingDir(program string) string {
	if filepath.IsAbs(program) {
		return filepath.Dir(program)
	}
	return ""
}
