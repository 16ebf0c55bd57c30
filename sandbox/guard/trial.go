package guard

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bir-run/bir/sandbox/guards"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// Trial is one module by itself, which need not be installed, for its author. It
// pins nothing, counts nothing, and asks no other guard.
type Trial struct {
	host  *Host
	entry *entry
}

// OpenTrial compiles the module in a file, or a built-in one by its name. The error
// says why the file is no guard.
func OpenTrial(ctx context.Context, cfg Config, path string) (*Trial, error) {
	h := New(Config{CacheDir: cfg.CacheDir, CallTimeout: cfg.CallTimeout, Logger: cfg.Logger})
	t := &Trial{host: h, entry: &entry{sighting: sightAlone(path), loaded: make(chan struct{})}}
	h.fill(ctx, t.entry)
	close(t.entry.loaded)
	if t.entry.module.State != StateReady {
		return nil, errors.Join(errors.New("guard "+t.entry.name+": "+t.entry.module.Problem), t.Close(ctx))
	}
	return t, nil
}

// Module describes it.
func (t *Trial) Module() Module { return t.entry.module }

// Ask puts one request to it. The error says why the request is none, or none for
// this module.
func (t *Trial) Ask(ctx context.Context, req guardsdk.Request) (ModuleVerdict, error) {
	q, err := newQuestion(req)
	if err != nil {
		return ModuleVerdict{}, err
	}
	v, asked := t.entry.ask(ctx, q)
	if !asked {
		return v, fmt.Errorf("guard %s does not answer questions of the kind %s", t.entry.name, req.Kind)
	}
	return v, nil
}

// Close frees the module.
func (t *Trial) Close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if t.entry.program != nil {
		t.entry.program.close(ctx)
	}
	return t.host.machine.close(ctx)
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
	return sight(filepath.Dir(path), file, name, ScopeHome, true)
}
