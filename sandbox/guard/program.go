package guard

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/bir-run/bir/sandbox/guardsdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/sys"
)

const (
	maxVerdictBytes = 64 << 10
	maxPrintedBytes = 4 << 10
)

// program is a compiled module and its idle instances.
type program struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	form     Form
	kinds    []guardsdk.Kind
	settings settings
	slots    chan struct{} // one token a running call; close takes them all
	gone     chan struct{} // closed when the module is replaced

	mu   sync.Mutex // guards idle
	idle []*instance
}

// failure is why a module gave no verdict.
type failure struct {
	code   string
	detail string // for the log; holds nothing of the request
}

func newProgram(r wazero.Runtime, compiled wazero.CompiledModule, s settings) (*program, error) {
	if err := checkImports(compiled); err != nil {
		return nil, err
	}
	form, able, err := formOf(compiled)
	if err != nil {
		return nil, err
	}
	p := &program{runtime: r, compiled: compiled, form: form, settings: s,
		slots: make(chan struct{}, max(2, runtime.NumCPU())), gone: make(chan struct{})}
	for _, kind := range able {
		if s.wants(kind) {
			p.kinds = append(p.kinds, kind)
		}
	}
	return p, nil
}

// tryOut makes the first instance ahead of the first call, and asks a reactor
// which ABI it speaks.
func (p *program) tryOut(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxStartTime)
	defer cancel()
	if p.form == FormCommand {
		inst, err := p.instantiate(ctx, nil, nil, "")
		if err != nil {
			return fmt.Errorf("it does not start (%s)", firstLine(err))
		}
		return inst.close(ctx)
	}
	inst, err := p.newReactor(ctx)
	if err != nil {
		return fmt.Errorf("it does not start (%s)", firstLine(err))
	}
	version, err := inst.module.ExportedFunction("bir_guard_v1").Call(ctx)
	if err != nil {
		return fmt.Errorf("its bir_guard_v1 broke off (%s)", firstLine(err))
	}
	if version[0] != guardsdk.ABI {
		return fmt.Errorf("it speaks ABI %d and this bir speaks %d; build it with the matching guardsdk",
			int32(version[0]), guardsdk.ABI)
	}
	p.idle = append(p.idle, inst)
	return nil
}

// answer is what came back from one call.
type answer struct {
	verdict []byte
	printed string
	memory  uint64 // bytes of the instance, after the call
	failed  *failure
}

func noAnswer(code, detail string) answer { return answer{failed: &failure{code, detail}} }

// ask sends one request. Time spent waiting for a free slot counts against the
// caller's context, not against the module.
func (p *program) ask(ctx context.Context, kind guardsdk.Kind, request []byte) answer {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-p.gone:
		return noAnswer(CodeNotReady, "the module was replaced meanwhile")
	case <-ctx.Done():
		return noAnswer(CodeTimeout, "the caller gave up while the module was busy")
	}
	ctx, cancel := context.WithTimeout(ctx, p.settings.timeout)
	defer cancel()
	if p.form == FormCommand {
		return p.runCommand(ctx, request)
	}
	inst, err := p.takeReactor(ctx)
	if err != nil {
		return answer{failed: p.explain(ctx, err, inst)}
	}
	verdict, err := inst.ask(ctx, kind, request)
	a := answer{verdict: verdict, printed: inst.printed.take(), memory: inst.memory.most}
	if err != nil {
		a.failed = p.explain(ctx, err, inst)
	}
	p.putBack(ctx, inst, a.failed)
	return a
}

func (p *program) takeReactor(ctx context.Context) (*instance, error) {
	p.mu.Lock()
	n := len(p.idle)
	if n == 0 {
		p.mu.Unlock()
		return p.newReactor(ctx)
	}
	inst := p.idle[n-1]
	p.idle = p.idle[:n-1]
	p.mu.Unlock()
	return inst, nil
}

// putBack keeps an instance for the next call, unless it failed (wazero leaves a
// trapped instance in no state to be called) or has grown so far that the next
// call might not have the memory it needs.
func (p *program) putBack(ctx context.Context, inst *instance, failed *failure) {
	if failed != nil || inst.memory.size() > p.settings.memoryBytes/4*3 {
		_ = inst.close(ctx) // nothing that a caller could do about it
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, inst)
}

func (p *program) runCommand(ctx context.Context, request []byte) answer {
	out := capped{limit: maxVerdictBytes}
	inst, err := p.instantiate(ctx, request, &out, "_start")
	defer inst.close(ctx)
	a := answer{verdict: out.data, printed: inst.printed.take(), memory: inst.memory.most}
	var exit *sys.ExitError
	switch {
	case err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 0):
		a.failed = p.explain(ctx, err, inst)
	case out.over:
		a.failed = &failure{CodeBadVerdict, tooLong}
	}
	return a
}

// close waits for running calls and frees the module. Freeing code that runs would
// end the process, so it comes strictly after.
func (p *program) close(ctx context.Context) {
	close(p.gone)
	for range cap(p.slots) {
		p.slots <- struct{}{} // kept, so that no late caller gets one
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, inst := range p.idle {
		_ = inst.close(ctx)
	}
	p.idle = nil
	_ = p.compiled.Close(ctx)
}

// explain sorts a failed call by its cause.
func (p *program) explain(ctx context.Context, err error, inst *instance) *failure {
	var exit *sys.ExitError
	switch {
	case errors.Is(err, errBadAnswer):
		return &failure{CodeBadVerdict, err.Error()}
	case ctx.Err() != nil:
		return &failure{CodeTimeout, fmt.Sprintf("stopped after %v", p.settings.timeout)}
	case inst != nil && inst.memory.refused:
		return &failure{CodeMemory, fmt.Sprintf("asked for more than %d MiB", p.settings.memoryBytes>>20)}
	case errors.As(err, &exit):
		return &failure{CodeTrap, fmt.Sprintf("exited with code %d", exit.ExitCode())}
	}
	return &failure{CodeTrap, firstLine(err)}
}

func (s settings) wants(kind guardsdk.Kind) bool {
	if s.kinds == nil {
		return true
	}
	for _, k := range s.kinds {
		if k == kind {
			return true
		}
	}
	return false
}
