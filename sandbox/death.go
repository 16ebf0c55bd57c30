package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/bir-run/bir/sandbox/wire"
)

// fatalError is a body's fault that cost the worker.
type fatalError struct{ fault *Error }

func (e *fatalError) Error() string { return e.fault.Error() }

// lostError is the end of a worker that was not the body's fault.
type lostError struct{ reason string }

func (e *lostError) Error() string { return e.reason }

// killOf is the counter of an evaluation that cost its worker.
func killOf(err error) Kill {
	var fatal *fatalError
	var lost *lostError
	switch {
	case errors.As(err, &lost):
		return KillLost
	case !errors.As(err, &fatal):
		return KillCaller
	case fatal.fault.Type == TypeTimeout:
		return KillTime
	case fatal.fault.Type == TypeMemory:
		return KillMemory
	}
	return KillCrash
}

// death reaps a worker that did not answer and says whose fault it was.
func (w *process) death(ctx context.Context, timeout time.Duration, err error) error {
	ended := w.end()
	switch killCause(w.cause.Load()) {
	case killedForCaller:
		return fmt.Errorf("evaluate: %w", ctx.Err())
	case killedForTime:
		return fatal(TypeTimeout, fmt.Sprintf("ran longer than %v%s and was stopped", timeout, w.slowness()))
	case killedForMemory:
		return w.overMemory()
	}
	var exit *exec.ExitError
	if errors.As(ended, &exit) {
		switch exit.ExitCode() {
		case wire.ExitMemory:
			return w.overMemory()
		case exitCrash:
			return w.crash(w.lastWords(ended))
		}
	}
	return &lostError{reason: w.lastWords(errors.Join(ended, err))}
}

// slowness is what an author has to know of a timeout besides the time.
func (w *process) slowness() string {
	if w.level == LevelWasm {
		return " at level wasm, which is ten times slower than level process,"
	}
	return ""
}

// exitCrash is how a Go program ends that panics or that its runtime gives up.
const exitCrash = 2

// crash sorts what the Go runtime said as it gave up. All of it is the body's doing,
// so there is no second try.
func (w *process) crash(said string) error {
	for _, words := range stackWords {
		if strings.Contains(said, words) {
			return fatal(TypeMemory, "nested or recursed too deep and was stopped")
		}
	}
	for _, words := range memoryWords {
		if strings.Contains(said, words) {
			return w.overMemory()
		}
	}
	return fatal(TypeSandbox, "the evaluator crashed on this body: "+said)
}

// What the Go runtime writes when the stack's limit, or the process's memory limit,
// is reached: it also needs memory to start a thread or to handle a signal.
var (
	stackWords  = []string{"stack overflow", "goroutine stack exceeds"}
	memoryWords = []string{"out of memory", "cannot allocate memory", "failed to create new OS thread", "pthread_create failed", "SIGSEGV"}
)

func (w *process) overMemory() error {
	return fatal(TypeMemory, fmt.Sprintf("used more than %d MB of memory and was stopped", w.config.MemoryBytes>>20))
}

func fatal(t ErrorType, message string) error {
	return &fatalError{&Error{Type: t, Message: message}}
}

// lastWords is what a worker said before it ended, or how it ended.
func (w *process) lastWords(err error) string {
	said, _, _ := strings.Cut(strings.TrimSpace(w.stderr.String()), "\n")
	if said != "" {
		return said
	}
	return strings.ReplaceAll(err.Error(), "\n", ", ")
}

// maxStderrBytes is what is kept of a worker's standard error: the reason of a
// crash comes first, the goroutines after it are not wanted.
const maxStderrBytes = 4 << 10

// head keeps the beginning of what is written to it.
type head struct {
	mu   sync.Mutex // guards kept
	kept []byte
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = append(h.kept, p[:min(len(p), maxStderrBytes-len(h.kept))]...)
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.kept)
}
