package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/bir-run/bir/sandbox/guardsdk"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// maxStartTime bounds what runs while a module is loaded: its start function and
// its initialisers, which may build tables that no single call would.
const maxStartTime = 2 * time.Second

const tooLong = "the verdict is longer than 64 KiB"

// errBadAnswer marks a call that came back, but with nothing to read a verdict from.
var errBadAnswer = errors.New("no verdict")

// instance is one running copy of a module. One call at a time uses it.
type instance struct {
	module  api.Module
	alloc   api.Function
	asks    map[guardsdk.Kind]api.Function
	memory  *memory
	printed capped
}

func (p *program) newReactor(ctx context.Context) (*instance, error) {
	inst, err := p.instantiate(ctx, nil, nil, "_initialize")
	if err != nil {
		return inst, err
	}
	inst.alloc = inst.module.ExportedFunction("bir_alloc")
	inst.asks = map[guardsdk.Kind]api.Function{}
	for _, kind := range p.kinds {
		inst.asks[kind] = inst.module.ExportedFunction(exportOf(kind))
	}
	return inst, nil
}

// instantiate starts a copy and runs the function called first, if the module has
// one. The instance comes back even with an error, for what it shows of the cause;
// then it has no module.
func (p *program) instantiate(ctx context.Context, in []byte, out io.Writer, first string) (*instance, error) {
	inst := &instance{memory: &memory{cap: p.settings.memoryBytes}}
	inst.printed.limit = maxPrintedBytes
	cfg := world().WithStderr(&inst.printed).WithStdin(bytes.NewReader(in)).WithStartFunctions()
	if first != "" {
		cfg = cfg.WithStartFunctions(first)
	}
	if out != nil {
		cfg = cfg.WithStdout(out)
	}
	ctx = experimental.WithMemoryAllocator(ctx, inst.memory)
	module, err := p.runtime.InstantiateModule(ctx, p.compiled, cfg)
	inst.module = module
	return inst, err
}

// ask is one call of a reactor: room for the request, the request, the question,
// and a copy of the verdict before anything else can run in the instance.
func (inst *instance) ask(ctx context.Context, kind guardsdk.Kind, request []byte) ([]byte, error) {
	length := uint64(len(request))
	result, err := inst.alloc.Call(ctx, length)
	if err != nil {
		return nil, err
	}
	at := uint32(result[0])
	if !inst.module.Memory().Write(at, request) {
		return nil, fmt.Errorf("%w: bir_alloc gave room outside the memory", errBadAnswer)
	}
	result, err = inst.asks[kind].Call(ctx, uint64(at), length)
	if err != nil {
		return nil, err
	}
	from, n := uint32(result[0]>>32), uint32(result[0])
	if n > maxVerdictBytes {
		return nil, fmt.Errorf("%w: %s", errBadAnswer, tooLong)
	}
	view, ok := inst.module.Memory().Read(from, n)
	if !ok {
		return nil, fmt.Errorf("%w: it lies outside the memory", errBadAnswer)
	}
	return bytes.Clone(view), nil
}

func (inst *instance) close(ctx context.Context) error {
	if inst.module == nil {
		return nil
	}
	return inst.module.Close(context.WithoutCancel(ctx))
}

// memory is an instance's linear memory, which refuses to grow past its cap and
// remembers that it did: that is how an overrun is told from any other trap.
type memory struct {
	cap     uint64
	buffer  []byte
	most    uint64 // bytes so far; stays when the memory is freed
	refused bool
}

// Allocate hands the memory to wazero. The module has only this one.
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate grows the memory, by doubling so that many small steps stay cheap.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.cap {
		m.refused = true
		return nil
	}
	if size > uint64(cap(m.buffer)) {
		bigger := make([]byte, size, min(m.cap, max(size, 2*uint64(cap(m.buffer)))))
		copy(bigger, m.buffer)
		m.buffer = bigger
	}
	m.buffer = m.buffer[:size]
	m.most = max(m.most, size)
	return m.buffer
}

// Free lets go of the memory.
func (m *memory) Free() { m.buffer = nil }

func (m *memory) size() uint64 { return uint64(len(m.buffer)) }

// capped keeps the start of what is written to it. It never refuses a write, since
// a module must not learn whether anyone reads.
type capped struct {
	limit int
	data  []byte
	over  bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := min(c.limit-len(c.data), len(p))
	c.data = append(c.data, p[:room]...)
	c.over = c.over || room < len(p)
	return len(p), nil
}

// take empties it and gives what is text of what was in it.
func (c *capped) take() string {
	text := string(bytes.ToValidUTF8(c.data, []byte(string(utf8.RuneError))))
	c.data, c.over = nil, false
	return text
}
