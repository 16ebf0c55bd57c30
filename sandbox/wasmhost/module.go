package wasmhost

import (
	"context"
	_ "embed" // the guest
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/bir-run/bir/sandbox/internal/wasmfile"
	"github.com/gofrs/flock"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/cpu"
)

//go:embed guest.wasm.gz
var packed []byte

//go:embed guest.sum
var sum []byte

// ErrNotCompiled is the error of Serve before Compile was called on this machine.
var ErrNotCompiled = errors.New("level wasm is not compiled yet")

const (
	moduleFile = "guest.wasm"
	// keepFor is how long the compiled guest of another version is kept.
	keepFor  = 30 * 24 * time.Hour
	lockPoll = 100 * time.Millisecond
)

// folder is where this guest is compiled to. Another wazero and another processor need
// other code, so each has a folder: a home may be shared by machines.
func folder(cacheDir string) string {
	features := fmt.Sprint(wazeroVersion(), runtime.GOOS, runtime.GOARCH, cpu.X86, cpu.ARM64)
	guest := wasmfile.ParseSum(sum)["sha256"]
	return filepath.Join(cacheDir, "body-"+wasmfile.Digest([]byte(guest + features))[:16])
}

// wazeroVersion is that of the build, empty where a build does not say, as in tests.
func wazeroVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == "github.com/tetratelabs/wazero" {
			return dep.Version
		}
	}
	return ""
}

// Compiled tells whether Serve can start.
func Compiled(cacheDir string) bool {
	_, err := read(folder(cacheDir))
	return err == nil
}

// read gives the guest of a folder that has its code, too, for this version of
// wazero, which makes an empty folder where it finds none. Anything less, and
// anything damaged, is to be compiled again.
func read(dir string) ([]byte, error) {
	module, err := os.ReadFile(filepath.Join(dir, moduleFile))
	if err != nil || wasmfile.Digest(module) != wasmfile.ParseSum(sum)["sha256"] {
		return nil, ErrNotCompiled
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, ErrNotCompiled
	}
	defer cache.Close(context.Background())
	versions, err := filepath.Glob(filepath.Join(dir, "wazero-*"))
	if err != nil || len(versions) != 1 {
		return nil, ErrNotCompiled
	}
	if code, err := os.ReadDir(versions[0]); err != nil || len(code) == 0 {
		return nil, ErrNotCompiled
	}
	return module, nil
}

// Compile makes level wasm ready on this machine. It does nothing when it is; two at
// once do the work once. Others see the result whole or not at all.
func Compile(ctx context.Context, cacheDir string) error {
	if err := os.MkdirAll(cacheDir, 0o700); err != nil {
		return fmt.Errorf("make the cache: %w", err)
	}
	lock := flock.New(filepath.Join(cacheDir, "body.lock"))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return fmt.Errorf("lock the cache: %w", err)
	}
	defer lock.Close()
	if Compiled(cacheDir) {
		return nil
	}
	forgetOld(cacheDir)
	made, err := os.MkdirTemp(cacheDir, "making-")
	if err != nil {
		return fmt.Errorf("make the cache: %w", err)
	}
	defer os.RemoveAll(made)
	if err := compileInto(ctx, made); err != nil {
		return err
	}
	dir := folder(cacheDir)
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("replace the cache: %w", err)
	}
	if err := os.Rename(made, dir); err != nil {
		return fmt.Errorf("replace the cache: %w", err)
	}
	return nil
}

func compileInto(ctx context.Context, dir string) error {
	module, err := wasmfile.Unpack(packed, sum)
	if err != nil {
		return fmt.Errorf("the evaluator for level wasm: %w; install bir again", err)
	}
	if err := os.WriteFile(filepath.Join(dir, moduleFile), module, 0o600); err != nil {
		return err
	}
	ctx = experimental.WithCompilationWorkers(ctx, runtime.NumCPU())
	m, err := open(ctx, dir, module, restBytes/pageBytes)
	if err != nil {
		return err
	}
	return m.close(ctx)
}

// forgetOld removes what other versions of bir have not used for long, and what a
// compilation left that was broken off.
func forgetOld(cacheDir string) {
	for pattern, keep := range map[string]time.Duration{"body-*": keepFor, "making-*": 0} {
		dirs, _ := filepath.Glob(filepath.Join(cacheDir, pattern)) // the pattern is fine
		for _, dir := range dirs {
			if info, err := os.Stat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) >= keep {
				_ = os.RemoveAll(dir) // it is only room that is lost
			}
		}
	}
}

// load reads the compiled guest.
func load(ctx context.Context, cacheDir string, memoryPages uint32) (*machine, error) {
	dir := folder(cacheDir)
	module, err := read(dir)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now) // for forgetOld, which keeps what is used
	return open(ctx, dir, module, memoryPages)
}
