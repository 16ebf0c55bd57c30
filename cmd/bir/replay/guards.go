package replay

import (
	"context"

	"github.com/bir-run/bir/engine/plan"
	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// judge lets a plan ask the guard host.
type judge struct{ host *guard.Host }

func (j judge) Check(ctx context.Context, req guardsdk.Request) plan.Decision {
	found := j.host.Check(ctx, req)
	d := plan.Decision{Allow: found.Allow}
	for _, v := range found.Verdicts {
		d.Verdicts = append(d.Verdicts, plan.Verdict{
			Module:     v.Module,
			Allow:      v.Verdict.Allow,
			Code:       v.Verdict.Code,
			Reason:     v.Verdict.Reason,
			DurationMS: float64(v.Duration.Microseconds()) / 1000,
		})
	}
	return d
}
