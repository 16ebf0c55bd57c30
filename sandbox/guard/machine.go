package guard

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bir-run/bir/sandbox/guard/harden"
	"github.com/bir-run/bir/sandbox/guardsdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// machine is the one wazero runtime of a host, made when it is first needed.
type machine struct {
	cacheDir string
	log      *slog.Logger

	mu      sync.Mutex // guards the fields below
	runtime wazero.Runtime
	cache   wazero.CompilationCache
	turns   map[[sha256.Size]byte]*sync.Mutex // by code
}

func (m *machine) start(ctx context.Context) (wazero.Runtime, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runtime != nil {
		return m.runtime, nil
	}
	cfg := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithDebugInfoEnabled(false)
	m.cache = m.openCache()
	if m.cache != nil {
		cfg = cfg.WithCompilationCache(m.cache)
	}
	r := wazero.NewRuntimeWithConfig(ctx, cfg)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	m.runtime = r
	return r, nil
}

// openCache gives nil when there is no usable folder. Then each process compiles
// anew, which costs seconds but changes no verdict.
func (m *machine) openCache() wazero.CompilationCache {
	if m.cacheDir == "" {
		return nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(m.cacheDir)
	if err != nil {
		m.log.Warn("guard.no_cache", "error", err.Error())
		return nil
	}
	return cache
}

func (m *machine) close(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runtime == nil {
		return nil
	}
	err := m.runtime.Close(ctx)
	if m.cache != nil {
		err = errors.Join(err, m.cache.Close(ctx))
	}
	m.runtime, m.cache = nil, nil
	return err
}

// compile makes a module ready to be asked, or says in a sentence why it cannot.
func (m *machine) compile(ctx context.Context, code []byte, s settings) (*program, error) {
	r, err := m.start(ctx)
	if err != nil {
		return nil, fmt.Errorf("start wazero: %w", err)
	}
	hardened, err := harden.Module(code, uint32(s.memoryBytes/harden.PageBytes))
	if err != nil {
		return nil, err
	}
	compiled, err := m.compileOnce(ctx, r, hardened)
	if err != nil {
		return nil, fmt.Errorf("it is not a valid WebAssembly 2.0 module (%s)", firstLine(err))
	}
	p, err := newProgram(r, compiled, s)
	if err == nil {
		err = p.tryOut(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, compiled.Close(ctx))
	}
	return p, nil
}

// compileOnce lets copies of one module compile one after the other. wazero hands a
// module that it has just read from its cache to a second caller before the first
// has finished it.
func (m *machine) compileOnce(ctx context.Context, r wazero.Runtime, code []byte) (wazero.CompiledModule, error) {
	turn := m.turnOf(sha256.Sum256(code))
	turn.Lock()
	defer turn.Unlock()
	return r.CompileModule(ctx, code)
}

func (m *machine) turnOf(digest [sha256.Size]byte) *sync.Mutex {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.turns == nil {
		m.turns = map[[sha256.Size]byte]*sync.Mutex{}
	}
	if m.turns[digest] == nil {
		m.turns[digest] = &sync.Mutex{}
	}
	return m.turns[digest]
}

const wasiModule = "wasi_snapshot_preview1"

// wasiFunctions are the imports that a module may have. They let the toolchains
// link; there is no file, argument, variable or socket behind them.
var wasiFunctions = strings.Fields(`
	args_get args_sizes_get clock_res_get clock_time_get environ_get environ_sizes_get
	fd_advise fd_allocate fd_close fd_datasync fd_fdstat_get fd_fdstat_set_flags fd_fdstat_set_rights
	fd_filestat_get fd_filestat_set_size fd_filestat_set_times fd_pread fd_prestat_dir_name fd_prestat_get
	fd_pwrite fd_read fd_readdir fd_renumber fd_seek fd_sync fd_tell fd_write
	path_create_directory path_filestat_get path_filestat_set_times path_link path_open path_readlink
	path_remove_directory path_rename path_symlink path_unlink_file
	poll_oneoff proc_exit random_get sched_yield`)

func checkImports(compiled wazero.CompiledModule) error {
	var alien []string
	for _, f := range compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		if module != wasiModule || !slices.Contains(wasiFunctions, name) {
			alien = append(alien, module+"."+name)
		}
	}
	for _, memory := range compiled.ImportedMemories() {
		module, name, _ := memory.Import()
		alien = append(alien, module+"."+name+" (a memory)")
	}
	if len(alien) > 0 {
		return fmt.Errorf("it imports %s, which guards may not have; build it for WASI preview 1, without files or sockets "+
			"(AssemblyScript: --use abort=)", strings.Join(alien, ", "))
	}
	return nil
}

// shape is the signature of an export.
type shape struct{ params, results []api.ValueType }

var (
	i32, i64 = api.ValueTypeI32, api.ValueTypeI64

	exportShapes = map[string]shape{
		"bir_guard_v1": {nil, []api.ValueType{i32}},
		"bir_alloc":    {[]api.ValueType{i32}, []api.ValueType{i32}},
		"bir_pin":      {[]api.ValueType{i32, i32}, []api.ValueType{i64}},
		"bir_value":    {[]api.ValueType{i32, i32}, []api.ValueType{i64}},
		"bir_step":     {[]api.ValueType{i32, i32}, []api.ValueType{i64}},
		"_initialize":  {nil, nil},
		"_start":       {nil, nil},
	}
)

// formOf tells from the exports which form a module has and what it can be asked.
func formOf(compiled wazero.CompiledModule) (Form, []guardsdk.Kind, error) {
	exports := compiled.ExportedFunctions()
	for name, want := range exportShapes {
		f, ok := exports[name]
		if ok && (!slices.Equal(f.ParamTypes(), want.params) || !slices.Equal(f.ResultTypes(), want.results)) {
			return "", nil, fmt.Errorf("its export %s must be %s%s", name, name, want)
		}
	}
	// A command may export the rest, too, from a source that serves both forms; but
	// nothing in it may be called before _start has made it ready.
	if exports["_start"] != nil {
		return FormCommand, slices.Clone(allKinds), nil
	}
	if exports["bir_guard_v1"] == nil {
		return "", nil, errors.New("it exports neither bir_guard_v1 (a reactor) nor _start (a command), so it is no guard; " +
			"see the examples")
	}
	if compiled.ExportedMemories()["memory"] == nil {
		return "", nil, errors.New("it does not export its memory under the name memory")
	}
	if exports["bir_alloc"] == nil {
		return "", nil, errors.New("it does not export bir_alloc(len i32) -> i32, where requests are written to")
	}
	var kinds []guardsdk.Kind
	for _, kind := range allKinds {
		if exports[exportOf(kind)] != nil {
			kinds = append(kinds, kind)
		}
	}
	if kinds == nil {
		return "", nil, errors.New("it exports none of bir_pin, bir_value and bir_step, so there is nothing to ask it")
	}
	return FormReactor, kinds, nil
}

func exportOf(kind guardsdk.Kind) string { return "bir_" + string(kind) }

func (s shape) String() string {
	names := func(types []api.ValueType) string {
		var all []string
		for _, t := range types {
			all = append(all, api.ValueTypeName(t))
		}
		return strings.Join(all, ", ")
	}
	if len(s.results) == 0 {
		return "(" + names(s.params) + ")"
	}
	return "(" + names(s.params) + ") -> " + names(s.results)
}

// world is what a module sees besides its request, always the same. Only the
// monotonic clock is real: the collector of a Go module is paced by it, and
// with a clock that stands still it lets memory run full.
func world() wazero.ModuleConfig {
	never := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	return wazero.NewModuleConfig().
		WithName(""). // unnamed, so that one module can have several instances
		WithWalltime(func() (int64, int32) { return never, 0 }, 1).
		WithSysNanotime().
		WithRandSource(rand.NewChaCha8([32]byte{}))
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
