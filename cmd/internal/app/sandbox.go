package app

import (
	"context"
	"path/filepath"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/sandbox"
)

func (a *App) sandboxConfig() (sandbox.Config, error) {
	worker, err := a.Binary("bir-sandbox")
	if err != nil {
		return sandbox.Config{}, err
	}
	return sandbox.Config{
		Command:     []string{worker},
		CacheDir:    filepath.Join(a.Env.Home, "cache", "wazero"),
		Level:       sandbox.Level(a.Env.Sandbox),
		Timeout:     a.Env.LogicTimeout,
		MemoryBytes: a.Env.LogicMemoryBytes,
		Logger:      a.Log,
	}, nil
}

// usualCompile is how long a compilation takes on two free cores. The bar is a guess.
const usualCompile = 10 * time.Second

// PrepareSandbox compiles level wasm, once for each version of bir, with a progress
// bar where people can see one. It costs nothing when that is done.
func (a *App) PrepareSandbox(ctx context.Context) error {
	config, err := a.sandboxConfig()
	if err != nil {
		return err
	}
	progress := mpb.NewWithContext(ctx, mpb.WithOutput(a.progressOut()), mpb.WithAutoRefresh())
	var bar *mpb.Bar
	err = sandbox.Prepare(ctx, config, func(elapsed time.Duration) {
		if bar == nil {
			bar = progress.AddBar(usualCompile.Milliseconds(), mpb.BarRemoveOnComplete(),
				mpb.PrependDecorators(decor.Name("compiling the sandbox's level wasm, once ")), mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO)))
		}
		bar.SetCurrent(min(elapsed, usualCompile*9/10).Milliseconds())
	})
	if bar != nil {
		bar.Abort(true)
	}
	progress.Wait()
	if err != nil {
		return cli.Hint(err, "BIR_SANDBOX=process does without it")
	}
	return nil
}
