package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/bir-run/bir/sandbox/guard"
)

// compileWait is how long a command waits for a guard that is compiled for the
// first time. A command has no hook's deadline to keep.
const compileWait = 2 * time.Minute

// GuardConfig says where this user's and this project's guards are.
func (a *App) GuardConfig() (guard.Config, error) {
	project, err := os.Getwd()
	if err != nil {
		return guard.Config{}, err
	}
	return guard.Config{
		HomeDir:     filepath.Join(a.Env.Home, "guards"),
		ProjectDir:  filepath.Join(project, ".bir", "guards"),
		CacheDir:    filepath.Join(a.Env.Home, "cache", "wazero"),
		PinFile:     filepath.Join(a.Env.Home, "guards.json"),
		CountsFile:  filepath.Join(a.Env.Home, "guard-counts.json"),
		BuiltIns:    true,
		CompileWait: compileWait,
		Logger:      a.Log,
		Trace:       a.Env.GuardTrace,
	}, nil
}

// Guards loads every guard of this user and this project. The caller closes the
// host.
func (a *App) Guards(ctx context.Context) (*guard.Host, error) {
	cfg, err := a.GuardConfig()
	if err != nil {
		return nil, err
	}
	host := guard.New(cfg)
	if err := a.LoadGuards(ctx, host); err != nil {
		return nil, errors.Join(err, host.Close(context.WithoutCancel(ctx)))
	}
	return host, nil
}

// LoadGuards compiles what the host finds, with a progress bar where people can see
// one: the first compilation takes seconds.
func (a *App) LoadGuards(ctx context.Context, host *guard.Host) error {
	progress := mpb.NewWithContext(ctx, mpb.WithOutput(a.progressOut()), mpb.WithAutoRefresh())
	var bar *mpb.Bar
	err := host.Load(ctx, func(done, total int, _ string) {
		if bar == nil {
			bar = progress.AddBar(int64(total), mpb.BarRemoveOnComplete(),
				mpb.PrependDecorators(decor.Name("compiling guards ")), mpb.AppendDecorators(decor.CountersNoUnit("%d/%d")))
		}
		bar.SetCurrent(int64(done))
	})
	if bar != nil {
		bar.Abort(true)
	}
	progress.Wait()
	return err
}
