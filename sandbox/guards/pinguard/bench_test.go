package pinguard_test

import (
	"encoding/json"
	"testing"

	"github.com/bir-run/bir/sandbox/guards/pinguard"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

func BenchmarkCheck(b *testing.B) {
	for name, c := range map[string][3]string{
		"command":   {"Bash", `{"command":"npm run lint 2>&1 | tail -20"}`, `{"command":"npm run lint -- --fix 2>&1 | tail -20"}`},
		"statement": {"run_query", `{"sql":"select id from users where id = 1"}`, `{"sql":"select id from users where id = 2"}`},
		"other":     {"navigate_page", `{"url":"https://fleet.internal/eu","timeout":5}`, `{"url":"https://fleet.internal/eu","timeout":5,"wait":true}`},
	} {
		b.Run(name, func(b *testing.B) {
			req := guardsdk.Request{Kind: guardsdk.KindPin, Tool: c[0], ModelArgs: json.RawMessage(c[1]), Args: json.RawMessage(c[2])}
			for b.Loop() {
				if v := pinguard.Check(req); !v.Allow {
					b.Fatal(v)
				}
			}
		})
	}
}
