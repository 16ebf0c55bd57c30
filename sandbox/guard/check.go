package guard

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bir-run/bir/sandbox/guardsdk"
)

// Decision is what the guards say together.
type Decision struct {
	Allow    bool            `json:"allow"`
	Verdicts []ModuleVerdict `json:"verdicts"` // in the order of asking
}

// Denial is the verdict that decided; ok is false when all allowed.
func (d Decision) Denial() (v ModuleVerdict, ok bool) {
	for _, v := range d.Verdicts {
		if !v.Verdict.Allow {
			return v, true
		}
	}
	return ModuleVerdict{}, false
}

// ModuleVerdict is what one module said, or what the host said for it.
type ModuleVerdict struct {
	Module   string           `json:"module"`
	SHA256   string           `json:"sha256,omitempty"`
	Builtin  bool             `json:"builtin"`
	Kind     guardsdk.Kind    `json:"kind"`
	Verdict  guardsdk.Verdict `json:"verdict"`
	Duration time.Duration    `json:"duration"`          // nanoseconds
	Memory   uint64           `json:"memory,omitempty"`  // bytes of the instance's memory after the call
	Failure  string           `json:"failure,omitempty"` // why the module itself gave no verdict
	Printed  string           `json:"printed,omitempty"` // to standard error, its start
}

// Check asks every module that answers questions of the request's kind, one after
// the other, and stops at the first denial. A module that is not ready denies
// whatever the kind, since nobody knows what it would answer. The host fills the
// request's ABI, Strings and Config.
func (h *Host) Check(ctx context.Context, req guardsdk.Request) Decision {
	decision := h.consult(ctx, req, false)
	for _, v := range decision.Verdicts {
		h.logVerdict(ctx, v, req)
	}
	return decision
}

// Explain asks as Check does, but goes on after a denial, so that people see what
// each guard says. Nothing hangs on the answer: it is neither logged nor counted.
func (h *Host) Explain(ctx context.Context, req guardsdk.Request) Decision {
	return h.consult(ctx, req, true)
}

// question is a request ready for the modules.
type question struct {
	kind guardsdk.Kind
	json []byte // without a module's own settings
}

func newQuestion(req guardsdk.Request) (question, error) {
	full, err := complete(req)
	if err != nil {
		return question{}, fmt.Errorf("the request is not well formed: %w", err)
	}
	data, err := encode(full)
	if err != nil {
		return question{}, fmt.Errorf("the request is not well formed: %w", err)
	}
	return question{req.Kind, data}, nil
}

func (h *Host) consult(ctx context.Context, req guardsdk.Request, everyone bool) Decision {
	q, err := newQuestion(req)
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
		v, asked := e.ask(ctx, q)
		if !asked {
			continue
		}
		decision.Verdicts = append(decision.Verdicts, v)
		decision.Allow = decision.Allow && v.Verdict.Allow
		if everyone {
			continue
		}
		h.tallies.book(h.pinKey(e.sighting), v)
		if !decision.Allow {
			break
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

// ask puts the question to one module. asked is false when the module is ready and
// does not answer questions of this kind.
func (e *entry) ask(ctx context.Context, q question) (v ModuleVerdict, asked bool) {
	v = ModuleVerdict{Module: e.name, Builtin: e.scope == ScopeBuiltIn, Kind: q.kind}
	verdict, refused := e.refusal()
	if refused {
		if e.isLoaded() {
			v.SHA256 = e.module.SHA256
		}
		v.Verdict, v.Failure = verdict, verdict.Code
		return v, true
	}
	v.SHA256 = e.module.SHA256
	if !slices.Contains(e.program.kinds, q.kind) {
		return v, false
	}
	e.program.judge(ctx, q, &v)
	return v, true
}

// judge fills in the verdict that the module gives, or a denial in its place.
func (p *program) judge(ctx context.Context, q question, v *ModuleVerdict) {
	started := time.Now()
	a := p.ask(ctx, q.kind, withConfig(q.json, p.settings.config))
	v.Duration, v.Memory, v.Printed = time.Since(started), a.memory, a.printed
	failed := a.failed
	if failed == nil {
		verdict, err := parseVerdict(a.verdict)
		if err == nil {
			v.Verdict = verdict
			return
		}
		failed = &failure{CodeBadVerdict, err.Error()}
	}
	v.Failure = failed.detail
	v.Verdict = guardsdk.Denied(failed.code, fmt.Sprintf("guard %s gave no verdict (%s), which counts as no", v.Module, failed.detail))
}
