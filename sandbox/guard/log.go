package guard

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/bir-run/bir/sandbox/guardsdk"
)

// logVerdict writes every denial. A guard's author may have put a value of the
// request into the reason; the log gets it without.
func (h *Host) logVerdict(ctx context.Context, v ModuleVerdict, req guardsdk.Request) {
	level, event := slog.LevelWarn, "guard.deny"
	if v.Verdict.Allow {
		level, event = slog.LevelInfo, "guard.allow"
		if !h.cfg.Trace {
			return
		}
	}
	h.log.Log(ctx, level, event, "module", v.Module, "sha256", v.SHA256, "kind", v.Kind,
		"code", v.Verdict.Code, "reason", withoutValues(v.Verdict.Reason, req), "ms", v.Duration.Seconds()*1000)
	if h.cfg.Trace && v.Printed != "" {
		h.log.Info("guard.printed", "module", v.Module, "text", withoutValues(v.Printed, req))
	}
}

// minValueBytes is the length from which a value of the request is taken out of a
// logged sentence; shorter ones are in any sentence by chance.
const minValueBytes = 4

// withoutValues takes out the request's strings and numbers, also as a quoted text
// has them, the longest first: a value may be part of another.
func withoutValues(text string, req guardsdk.Request) string {
	var values []string
	for _, part := range partsOf(req) {
		w := &walker{}
		if len(part.json) == 0 || w.run("", part.json) != nil {
			continue // then the text is the host's own, which quotes nothing
		}
		values = append(values, w.numbers...)
		for _, s := range w.found {
			quoted := strconv.Quote(s.Value)
			values = append(values, s.Value, quoted[1:len(quoted)-1])
		}
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, v := range values {
		if len(v) >= minValueBytes {
			text = strings.ReplaceAll(text, v, "[value]")
		}
	}
	return text
}
