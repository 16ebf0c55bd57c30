package guard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bir-run/bir/sandbox/guards"
)

const maxModuleBytes = 16 << 20

// load is the job that fills an entry. Close waits for it, since a compilation
// cannot be broken off.
func (h *Host) load(ctx context.Context, e *entry) {
	defer h.jobs.Done()
	h.compiling <- struct{}{}
	defer func() { <-h.compiling }()
	h.fill(ctx, e)
	close(e.loaded)
	h.logLoaded(e)
}

// retire is the job that closes a replaced module.
func (h *Host) retire(ctx context.Context, e *entry) {
	defer h.jobs.Done()
	<-e.loaded
	if e.program != nil {
		e.program.close(ctx)
	}
}

// fill sets what others see once loaded is closed, and nothing else.
func (h *Host) fill(ctx context.Context, e *entry) {
	e.module = Module{Name: e.name, Path: e.path, Scope: e.scope, State: StateRejected, Problem: e.problem}
	defer func() {
		if p := recover(); p != nil { // a module that breaks the compiler is no guard
			e.module.State, e.module.Problem = StateRejected, fmt.Sprintf("compiling it failed (%v)", p)
		}
	}()
	if e.problem != "" {
		return
	}
	err := h.prepare(ctx, e)
	switch {
	case errors.Is(err, errChanged):
		e.module.State = StateChanged
		e.module.Problem = "its file or settings changed since it was first seen; " +
			"look at it, then run: bir guard trust " + e.name
	case err != nil:
		e.module.Problem = err.Error()
	default:
		e.module.State = StateReady
	}
}

var errChanged = errors.New("changed")

// prepare reads, compiles and tries the module, then holds it against its pin. The
// pin is written last: a file that is seen half copied must not be pinned.
func (h *Host) prepare(ctx context.Context, e *entry) error {
	code, err := h.read(e)
	if err != nil {
		return err
	}
	pinned, err := h.pinned(e)
	if err != nil {
		return err
	}
	if pinned != nil && *pinned != e.digests {
		return errChanged
	}
	p, err := h.machine.compile(ctx, code, e.settings)
	if err != nil {
		return err
	}
	e.module.Form, e.module.Kinds = p.form, p.kinds
	if pinned == nil && e.scope != ScopeBuiltIn {
		if err := h.pins.set(h.pinKey(e.sighting), e.digests); err != nil {
			p.close(ctx)
			return fmt.Errorf("its digest could not be pinned: %w", err)
		}
	}
	e.program = p
	return nil
}

func (h *Host) pinned(e *entry) (*digests, error) {
	if e.scope == ScopeBuiltIn {
		return nil, nil
	}
	pinned, err := h.pins.find(h.pinKey(e.sighting))
	if err != nil {
		return nil, fmt.Errorf("the digests of guards cannot be read: %w", err)
	}
	return pinned, nil
}

// read gets the module's bytes and its settings, and their digests.
func (h *Host) read(e *entry) ([]byte, error) {
	if e.scope == ScopeBuiltIn {
		return h.readBuiltIn(e)
	}
	code, err := readRegular(e.path)
	if err != nil {
		return nil, fmt.Errorf("its file cannot be read (%v)", reason(err))
	}
	e.identify(code)
	e.settings, err = defaultSettings(h.cfg.CallTimeout).carriedBy(code)
	if err != nil {
		return nil, err
	}
	e.settings, e.digests.Settings, err = e.settings.besideAt(e.settingsPath())
	return code, err
}

func (h *Host) readBuiltIn(e *entry) ([]byte, error) {
	b, _ := guards.Find(e.name)
	code, err := b.Module()
	if err != nil {
		return nil, fmt.Errorf("%w; install bir again", err)
	}
	e.identify(code)
	e.settings = defaultSettings(h.cfg.CallTimeout)
	e.settings.kinds = b.Kinds
	return code, nil
}

func (e *entry) identify(code []byte) {
	e.digests.Module = digestOf(code)
	e.module.SHA256, e.module.Size = e.digests.Module, int64(len(code))
}

// readRegular reads a module's file, which may have been swapped since the look.
func readRegular(path string) ([]byte, error) {
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("not an ordinary file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxModuleBytes+1))
	if err == nil && len(data) > maxModuleBytes {
		err = fs.ErrInvalid
	}
	return data, err
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (h *Host) logLoaded(e *entry) {
	if e.module.State == StateReady {
		h.log.Info("guard.ready", "module", e.name, "sha256", e.module.SHA256, "scope", e.scope)
		return
	}
	h.log.Warn("guard.refused", "module", e.name, "sha256", e.module.SHA256, "scope", e.scope,
		"state", e.module.State, "problem", e.module.Problem)
}
