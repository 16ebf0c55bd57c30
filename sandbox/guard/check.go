package guard

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/bir-run/bir/sandbox/guardsdk"
)

// Decision is what the guards say together.
type Decision struct {
	Allow    bool            `json:"allow"`
	Verdicts []ModuleVerdict `json:"verdicts"` // in the order of asking, up to the first denial
}

// Denial is the verdict that decided; ok is false when all allowed.
func (d Decision) Denial() (v ModuleVerdict, ok bool) {
	if d.Allow || len(d.Verdicts) == 0 {
		return ModuleVerdict{}, false
	}
	return d.Verdicts[len(d.Verdicts)-1], true
}

// ModuleVerdict is what one module said, or what the host said for it.
type ModuleVerdict struct {
	Module   string           `json:"module"`
	SHA256   string           `json:"sha256,omitempty"`
	Builtin  bool             `json:"builtin"`
	Kind     guardsdk.Kind    `json:"kind"`
	Verdict  guardsdk.Verdict `json:"verdict"`
	Duration time.Duration    `json:"duration"`
	Failure  string           `json:"failure,omitempty"` // why the module itself gave no verdict
	Printed  string           `json:"printed,omitempty"` // to standard error, its start
}

// Check asks every module that answers questions of the request's kind, one after
// the other, and stops at the first denial. A module that is not ready denies
// whatever the kind, since nobody knows what it would answer. The host fills the
// request's ABI, Strings and Config.
func (h *Host) Check(ctx context.Context, req guardsdk.Request) Decision {
	decision := h.check(ctx, req)
	for _, v := range decision.Verdicts {
		h.logVerdict(ctx, v, req)
	}
	return decision
}

func (h *Host) check(ctx context.Context, req guardsdk.Request) Decision {
	full, err := complete(req)
	if err != nil {
		return deniedByHost(req.Kind, CodeBadRequest, err.Error())
	}
	entries, err := h.refresh(ctx)
	if err != nil {
		return deniedByHost(req.Kind, CodeNotReady, "the guards cannot be asked: "+err.Error())
	}
	h.await(ctx, entries)
	decision := Decision{Allow: true}
	for _, e := range entries {
		verdict, asked := e.ask(ctx, full)
		if !asked {
			continue
		}
		decision.Verdicts = append(decision.Verdicts, verdict)
		if !verdict.Verdict.Allow {
			decision.Allow = false
			return decision
		}
	}
	return decision
}

func deniedByHost(kind guardsdk.Kind, code, reason string) Decision {
	return Decision{Verdicts: []ModuleVerdict{{Module: "host", Builtin: true, Kind: kind,
		Verdict: guardsdk.Denied(code, reason)}}}
}

// await gives modules under way the time that the configuration allows.
func (h *Host) await(ctx context.Context, entries []*entry) {
	if h.cfg.CompileWait == 0 || !slices.ContainsFunc(entries, func(e *entry) bool { return !e.isLoaded() }) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, h.cfg.CompileWait)
	defer cancel()
	for _, e := range entries {
		select {
		case <-e.loaded:
		case <-ctx.Done():
			return
		}
	}
}

// ask puts the request to one module. asked is false when the module is ready and
// does not answer questions of this kind.
func (e *entry) ask(ctx context.Context, req guardsdk.Request) (v ModuleVerdict, asked bool) {
	v = ModuleVerdict{Module: e.name, Builtin: e.scope == ScopeBuiltIn, Kind: req.Kind}
	verdict, refused := e.refusal()
	if refused {
		if e.isLoaded() {
			v.SHA256 = e.module.SHA256
		}
		v.Verdict, v.Failure = verdict, verdict.Code
		return v, true
	}
	v.SHA256 = e.module.SHA256
	if !slices.Contains(e.program.kinds, req.Kind) {
		return v, false
	}
	e.program.judge(ctx, req, &v)
	return v, true
}

// judge fills in the verdict that the module gives, or a denial in its place.
func (p *program) judge(ctx context.Context, req guardsdk.Request, v *ModuleVerdict) {
	started := time.Now()
	defer func() { v.Duration = time.Since(started) }()
	request, err := encode(req, p.settings.config)
	if err != nil {
		v.Verdict = guardsdk.Denied(CodeBadRequest, "the request is not well formed: "+err.Error())
		return
	}
	answer, printed, failed := p.ask(ctx, req.Kind, request)
	v.Printed = printed
	if failed == nil {
		verdict, err := parseVerdict(answer)
		if err == nil {
			v.Verdict = verdict
			return
		}
		failed = &failure{CodeBadVerdict, err.Error()}
	}
	v.Failure = failed.detail
	v.Verdict = guardsdk.Denied(failed.code, fmt.Sprintf("guard %s gave no verdict (%s), which counts as no", v.Module, failed.detail))
}

// logVerdict writes every denial. A guard's author may have put a value of the
// request into the reason; the log gets it without.
func (h *Host) logVerdict(ctx context.Context, v ModuleVerdict, req guardsdk.Request) {
	level, event := slog.LevelWarn, "guard.deny"
	if v.Verdict.Allow {
		level, event = slog.LevelDebug, "guard.allow"
		if !h.cfg.Trace {
			return
		}
	}
	h.log.Log(ctx, level, event, "module", v.Module, "sha256", v.SHA256, "kind", v.Kind,
		"code", v.Verdict.Code, "reason", withoutValues(v.Verdict.Reason, req), "ms", v.Duration.Seconds()*1000)
	if h.cfg.Trace && v.Printed != "" {
		h.log.Debug("guard.printed", "module", v.Module, "text", withoutValues(v.Printed, req))
	}
}

// minValueBytes is the length from which a string of the request is taken out of
// a logged sentence; shorter ones are in any sentence by chance.
const minValueBytes = 4

func withoutValues(text string, req guardsdk.Request) string {
	full, err := complete(req)
	if err != nil {
		return text // the host's own sentence about a request that it could not read
	}
	for _, s := range full.Strings {
		if len(s.Value) >= minValueBytes {
			text = strings.ReplaceAll(text, s.Value, "[value]")
		}
	}
	return text
}
