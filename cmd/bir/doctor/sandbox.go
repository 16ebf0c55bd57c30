package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/sandbox"
)

// evaluator runs bodies at each level that is in use, and one that must be stopped.
func evaluator(ctx context.Context, a *app.App) []Finding {
	var found []Finding
	for _, level := range levels(sandbox.Level(a.Env.Sandbox)) {
		found = append(found, atLevel(ctx, a, level)...)
	}
	return found
}

// levels are those that a setting makes use of.
func levels(setting sandbox.Level) []sandbox.Level {
	if setting == sandbox.LevelAuto {
		return []sandbox.Level{sandbox.LevelProcess, sandbox.LevelWasm}
	}
	return []sandbox.Level{setting}
}

// endlessTime is what the doctor gives a body without an end. A busy machine needs some
// of it to begin; the person waits for all of it.
const endlessTime = 200 * time.Millisecond

func atLevel(ctx context.Context, a *app.App, level sandbox.Level) []Finding {
	const fix = "run bir-sandbox --version"
	if level == sandbox.LevelWasm {
		if err := a.PrepareSandbox(ctx); err != nil {
			return []Finding{bad("sandbox", err, "set BIR_SANDBOX=process to do without it")}
		}
	}
	pool, err := a.PoolWith(app.Limits{Level: level})
	if err != nil {
		return []Finding{bad("sandbox", err, "build bir-sandbox beside bir with make")}
	}
	defer pool.Close()
	body := sandbox.Body{Kind: sandbox.KindRaw, Source: "return 6 * 7;"}
	first, err := timed(ctx, pool, body)
	if err != nil {
		return []Finding{bad("sandbox", err, fix)}
	}
	warm, err := timed(ctx, pool, body)
	if err != nil {
		return []Finding{bad("sandbox", err, fix)}
	}
	resting := pool.Stats()
	_, err = timed(ctx, pool, sandbox.Body{Kind: sandbox.KindRaw, Source: "for (;;) {}", Timeout: endlessTime})
	var fault *sandbox.Error
	if !errors.As(err, &fault) || fault.Type != sandbox.TypeTimeout {
		return []Finding{bad("sandbox", fmt.Errorf("a body without an end was not stopped: %w", err), "")}
	}
	return []Finding{
		good("sandbox", "level %s; first evaluation %.1f ms, warm %.2f ms, an endless body stopped after %s", level, ms(first), ms(warm), endlessTime),
		good("sandbox", "level %s; held by %s", level, strings.Join(resting.Levels[level].Confinement, ", ")),
		good("sandbox", "level %s; %s", level, counted(pool.Stats(), resting.ResidentBytes)),
	}
}

func timed(ctx context.Context, pool *sandbox.Pool, body sandbox.Body) (time.Duration, error) {
	started := time.Now()
	_, err := pool.Eval(ctx, body, sandbox.Args{})
	return time.Since(started), err
}

// counted are a pool's counters in a line.
func counted(s sandbox.Stats, residentBytes int64) string {
	line := fmt.Sprintf("%d evaluations by %d workers", s.Evaluations(), s.Started())
	for _, why := range slices.Sorted(maps.Keys(s.Kills)) {
		line += fmt.Sprintf(", %d killed: %s", s.Kills[why], why)
	}
	if residentBytes > 0 {
		line += fmt.Sprintf(", %d MB resident at rest", residentBytes>>20)
	}
	return line
}
