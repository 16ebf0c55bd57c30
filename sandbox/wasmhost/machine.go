package wasmhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

const pageBytes = 64 << 10

// machine is wazero with the compiled guest in it.
type machine struct {
	runtime  wazero.Runtime
	cache    wazero.CompilationCache
	compiled wazero.CompiledModule
}

// open makes a machine for the module. What is not in the cache is compiled.
func open(ctx context.Context, cacheDir string, module []byte, memoryPages uint32) (*machine, error) {
	cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
	if err != nil {
		return nil, fmt.Errorf("open the cache: %w", err)
	}
	// All memory is taken at once: growing by copies would need twice the cap.
	config := wazero.NewRuntimeConfig().WithCompilationCache(cache).WithDebugInfoEnabled(false).
		WithMemoryLimitPages(memoryPages).WithMemoryCapacityFromMax(true)
	m := &machine{cache: cache, runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if m.compiled, err = m.runtime.CompileModule(ctx, module); err == nil {
		_, err = wasi_snapshot_preview1.Instantiate(ctx, m.runtime)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile the evaluator: %w", err), m.close(ctx))
	}
	return m, nil
}

func (m *machine) close(ctx context.Context) error {
	return errors.Join(m.runtime.Close(ctx), m.cache.Close(ctx))
}

// instantiate makes the guest's memory. Nothing of the guest runs yet.
func (m *machine) instantiate(ctx context.Context, in io.Reader, out, errs io.Writer) (api.Module, error) {
	return m.runtime.InstantiateModule(ctx, m.compiled, world().WithStdin(in).WithStdout(out).WithStderr(errs))
}

// world is all that a guest has besides its three streams: no file, no argument, no
// variable, no socket, and no clock or chance but what its runtime needs.
func world() wazero.ModuleConfig {
	never := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	return wazero.NewModuleConfig().
		WithStartFunctions(). // the caller calls _start
		WithWalltime(func() (int64, int32) { return never, 0 }, 1).
		WithSysNanotime().
		WithSysNanosleep().
		WithRandSource(rand.NewChaCha8([32]byte{}))
}
