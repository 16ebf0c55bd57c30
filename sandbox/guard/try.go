package guard

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bir-run/bir/sandbox/guards"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// Try puts one request to one module file that need not be installed, for its
// author. It pins nothing and asks no other guard. The error says why the file is
// no guard, or why the request is none. A built-in module is tried by its name.
func Try(ctx context.Context, cfg Config, path string, req guardsdk.Request) (ModuleVerdict, error) {
	h := New(Config{CacheDir: cfg.CacheDir, CallTimeout: cfg.CallTimeout, Logger: cfg.Logger})
	defer h.machine.close(context.WithoutCancel(ctx))
	full, err := complete(req)
	if err != nil {
		return ModuleVerdict{}, fmt.Errorf("the request: %w", err)
	}
	e := &entry{sighting: sightAlone(path), loaded: make(chan struct{})}
	h.fill(ctx, e)
	close(e.loaded)
	if e.module.State != StateReady {
		return ModuleVerdict{}, errors.New("guard " + e.name + ": " + e.module.Problem)
	}
	defer e.program.close(context.WithoutCancel(ctx))
	v, asked := e.ask(ctx, full)
	if !asked {
		return v, fmt.Errorf("guard %s does not answer questions of the kind %s", e.name, req.Kind)
	}
	return v, nil
}

// sightAlone sees a file outside the folders. Its ending does not matter.
func sightAlone(path string) sighting {
	if _, ok := guards.Find(path); ok {
		return sighting{name: path, scope: ScopeBuiltIn}
	}
	file := filepath.Base(path)
	name, isModule := moduleName(file)
	if !isModule {
		name = file
	}
	return sight(filepath.Dir(path), file, name, ScopeHome)
}
