package worker

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/bir-run/bir/sandbox/wire"
)

// The types of failure, as in sandbox.ErrorType.
const (
	typeTimeout = "timeout"
	typeMemory  = "memory"
	typeSyntax  = "syntax"
	typeThrow   = "throw"
	typeResult  = "result"
	typeSandbox = "sandbox"
)

// Limits bound one evaluation.
type Limits struct {
	MemoryBytes int64
	ResultBytes int64
}

// Evaluator runs bodies, one at a time. It keeps compiled programs and nothing
// else from one evaluation to the next.
type Evaluator struct {
	limits    Limits
	fresh     *evaluation // for the next body, untouched; nil: made when one comes
	programs  *programs
	zones     map[string]*time.Location
	onLong    func() // a body takes longer than a moment
	onRunaway func() // a body over its memory could not be interrupted
}

// New makes an evaluator.
func New(limits Limits) *Evaluator {
	return &Evaluator{
		limits:    limits,
		programs:  newPrograms(),
		zones:     map[string]*time.Location{},
		onLong:    func() {},
		onRunaway: func() {},
	}
}

// Eval runs one body. It never panics and always answers, unless a builtin never
// returns: then the pool's kill, or onRunaway, ends the process.
func (e *Evaluator) Eval(req *wire.Request) *wire.Response {
	start, heapBefore := time.Now(), heapBytes()
	e.prepare()
	ev := e.fresh
	e.fresh = nil
	ev.take(req, e.limits)
	watch := e.watch(ev, heapBefore)
	deadline := time.AfterFunc(req.Timeout, func() { ev.stopFor(stoppedTime) })
	value, failure := e.evaluate(ev)
	deadline.Stop()
	watch.end()
	resp := &wire.Response{
		Failure:     failure,
		Console:     ev.console.lines,
		Duration:    time.Since(start),
		MemoryBytes: max(0, watch.peak.Load()-heapBefore, heapBytes()-heapBefore),
	}
	if failure == nil {
		resp.Value = json.RawMessage(value)
	} else {
		resp.Retire = failure.Type == typeMemory || failure.Type == typeSandbox
	}
	return resp
}

// prepare makes the runtime of the next body ahead, while nobody waits: it takes
// longer than a small body runs.
func (e *Evaluator) prepare() {
	if e.fresh == nil {
		e.fresh = newEvaluation()
	}
}

func (e *Evaluator) watch(ev *evaluation, heapBefore int64) *watch {
	w := &watch{
		capBytes: heapBefore + e.limits.MemoryBytes,
		long:     e.onLong,
		stop:     ev.stopFor,
		runaway:  e.onRunaway,
	}
	w.again(sampleEvery, w.first)
	return w
}

// evaluate turns a panic of the interpreter into a failure: a body found a bug in
// it, and the worker is retired.
func (e *Evaluator) evaluate(ev *evaluation) (value string, failure *wire.Failure) {
	defer func() {
		if x := recover(); x != nil {
			value = ""
			failure = ev.stopFailure(nil)
			if failure == nil {
				failure = e.broken(x)
			}
		}
	}()
	if failure := e.enter(ev.req.Zone); failure != nil {
		return "", failure
	}
	program, failure := e.programs.compile(ev.req)
	if failure != nil {
		return "", failure
	}
	return ev.run(program)
}

// broken is the failure of a panic that the host did not cause. One allocation for
// which no machine has room is a body's memory.
func (e *Evaluator) broken(x any) *wire.Failure {
	said := fmt.Sprint(x)
	_, ofGo := x.(runtime.Error)
	if ofGo && (strings.Contains(said, "makeslice: ") || strings.Contains(said, "growslice: ")) {
		return &wire.Failure{Type: typeMemory, Message: fmt.Sprintf("used more than %s of memory and was stopped", size(e.limits.MemoryBytes))}
	}
	return &wire.Failure{Type: typeSandbox, Message: "the evaluator failed: " + said}
}

// enter makes zone the local one. goja reads time.Local; one evaluation at a time
// makes that safe.
func (e *Evaluator) enter(zone string) *wire.Failure {
	loc, known := e.zones[zone]
	if !known {
		var err error
		if loc, err = time.LoadLocation(zone); err != nil {
			return &wire.Failure{Type: typeSandbox, Message: fmt.Sprintf("time zone %q is not known", zone)}
		}
		e.zones[zone] = loc
	}
	if time.Local != loc { // the warming body must not write it: it has company
		time.Local = loc
	}
	return nil
}
