package worker

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// maxCallDepth is far below Node's, since recursion through builtins unwinds in
// quadratic time in goja; no sane body needs it.
const maxCallDepth = 1000

// evaluation is one body in its own runtime.
type evaluation struct {
	req     *wire.Request
	limits  Limits
	vm      *goja.Runtime
	console *console
	program *program
	stopped atomic.Int32 // a stopReason; the first one stays
	regexps *regexps     // nil until one is needed

	tree     *ast.Program // of the body, once a message needs it
	treeless bool

	// Taken before the body runs, so that nothing it does to the builtins matters.
	stringify, defineProperty goja.Callable
	objectPrototype           *goja.Object

	eval, indirectEval *goja.Object // where the body makes code
}

// newEvaluation makes a runtime, and all in it that is the same for every body.
func newEvaluation() *evaluation {
	ev := &evaluation{vm: goja.New(), console: &console{}}
	ev.vm.SetMaxCallStackSize(maxCallDepth)
	// Without this a body's comment could name a source map, and goja would read it.
	ev.vm.SetParserOptions(parser.WithDisableSourceMaps)
	ev.stringify, _ = goja.AssertFunction(ev.vm.Get("JSON").(*goja.Object).Get("stringify"))
	ev.defineProperty, _ = goja.AssertFunction(ev.vm.Get("Object").(*goja.Object).Get("defineProperty"))
	ev.objectPrototype = ev.vm.NewObject().Prototype()
	removeGlobals(ev.vm)
	ev.installConsole()
	return ev
}

// take gives the runtime its one body, and the world that the body sees.
func (ev *evaluation) take(req *wire.Request, limits Limits) {
	ev.req, ev.limits = req, limits
	ev.vm.SetTimeSource(func() time.Time { return req.Now })
	random := rand.New(rand.NewPCG(req.Seed, 0))
	ev.vm.SetRandSource(random.Float64)
}

// stopFor interrupts the body. It is called from other goroutines.
func (ev *evaluation) stopFor(reason stopReason) {
	ev.stopped.CompareAndSwap(int32(notStopped), int32(reason))
	ev.vm.Interrupt(reason)
}

// stopFailure is the failure of a stopped evaluation, nil if it was not stopped.
func (ev *evaluation) stopFailure(stack []goja.StackFrame) *wire.Failure {
	f := &wire.Failure{}
	switch stopReason(ev.stopped.Load()) {
	case stoppedTime:
		f.Type, f.Message = typeTimeout, fmt.Sprintf("ran longer than %v and was stopped", ev.req.Timeout)
	case stoppedMemory:
		f.Type, f.Message = typeMemory, fmt.Sprintf("used more than %s of memory and was stopped", size(ev.limits.MemoryBytes))
	default:
		return nil
	}
	f.Line, f.Column = ev.position(stack)
	return f
}

// run calls the body and gives its result as JSON text.
func (ev *evaluation) run(program *program) (string, *wire.Failure) {
	ev.program = program
	ev.guardBuiltins()
	if err := ev.installFeatures(); err != nil {
		return "", ev.failure(err)
	}
	made, err := ev.vm.RunProgram(program.code)
	if err != nil {
		return "", ev.failure(err)
	}
	if made, err = ev.unwrap(program, made); err != nil {
		return "", ev.failure(err)
	}
	body, _ := goja.AssertFunction(made)
	if body == nil {
		return "", &wire.Failure{Type: typeSandbox, Message: "the compiled body is not a function"}
	}
	args, err := ev.arguments()
	if err != nil {
		return "", ev.failure(err)
	}
	value, err := body(goja.Undefined(), args...)
	if err != nil {
		return "", ev.failure(err)
	}
	return ev.result(value)
}

func (ev *evaluation) arguments() ([]goja.Value, error) {
	args := make([]goja.Value, len(ev.req.Args))
	for i, arg := range ev.req.Args {
		if len(arg.JSON) == 0 {
			args[i] = ev.vm.ToValue(arg.Text)
			continue
		}
		if err := ev.vm.Try(func() { args[i] = ev.readJSON(string(arg.JSON)) }); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// result checks what came back and serialises it, inside the guest and under the
// deadline: both run the body's getters, toJSON and proxy traps.
func (ev *evaluation) result(value goja.Value) (string, *wire.Failure) {
	if !ev.req.Plain {
		var failure *wire.Failure
		if value, failure = ev.settled(value); failure != nil {
			return "", failure
		}
	}
	s := &serializer{ev: ev}
	text, err := s.serialize(value)
	if stopped := ev.stopFailure(nil); stopped != nil {
		return "", stopped
	}
	if s.failure != nil {
		return "", s.failure
	}
	if err != nil {
		return "", ev.failure(err)
	}
	return text, nil
}

// settled is the value of a promise that has settled; other values are themselves.
// All jobs have run by now, so a promise that is pending stays so.
func (ev *evaluation) settled(value goja.Value) (goja.Value, *wire.Failure) {
	if value == nil || value.ExportType() != promiseType {
		return value, nil
	}
	promise := value.Export().(*goja.Promise)
	switch promise.State() {
	case goja.PromiseStateFulfilled:
		return promise.Result(), nil
	case goja.PromiseStateRejected:
		return nil, ev.thrown(promise.Result(), nil)
	default:
		return nil, resultFailure("a promise that never settles")
	}
}

var (
	promiseType = reflect.TypeFor[*goja.Promise]()
	proxyType   = reflect.TypeFor[goja.Proxy]()
)

// failure sorts an error of goja. errors.As must not see it: unwrapping an exception
// asks the thrown value for its prototype, which may be a trap of the body's.
func (ev *evaluation) failure(err error) *wire.Failure {
	switch err := err.(type) {
	case *goja.InterruptedError:
		if f := ev.stopFailure(err.Stack()); f != nil {
			return f
		}
	case *goja.StackOverflowError:
		f := &wire.Failure{Type: typeThrow, Message: "RangeError: Maximum call stack size exceeded"}
		f.Line, f.Column = ev.position(err.Stack())
		return f
	case *goja.Exception:
		return ev.thrown(err.Value(), err.Stack())
	}
	return &wire.Failure{Type: typeSandbox, Message: fmt.Sprintf("the evaluator failed: %v", err)}
}

func resultFailure(what string) *wire.Failure {
	return &wire.Failure{Type: typeResult, Message: "returned " + what}
}

// size is n bytes for people.
func size(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MB", n>>20)
	}
	if n >= 1<<10 && n%(1<<10) == 0 {
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
