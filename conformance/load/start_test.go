//go:build unix

package load

import (
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/stage"
	"github.com/bir-run/bir/control/client"
)

// maxResident is what the control server may have resident after many steps.
const maxResident = 60 << 20

// BenchmarkStart measures from nothing to a control server that answers, and to guards
// that are ready, with what they are compiled to in the cache.
func BenchmarkStart(b *testing.B) {
	stage.New(b).Bir("guard", "list") // which compiles them into the cache that all projects share
	var answers, ready time.Duration
	var resident int64
	for range b.N {
		p := stage.New(b)
		began := time.Now()
		file := p.StartControl()
		answers += time.Since(began)
		p.Await("the guards", func(h client.Health) bool { return h.Guards == "ready" })
		ready += time.Since(began)
		now, _ := p.Resident(file.PID)
		resident = max(resident, now)
		p.Bir("down")
	}
	b.ReportMetric(ms(answers)/float64(b.N), "ms-answers")
	b.ReportMetric(ms(ready)/float64(b.N), "ms-guards-ready")
	b.ReportMetric(float64(resident)/(1<<20), "MiB")
}

// BenchmarkTenThousandSteps is one long turn of a built-in tool.
func BenchmarkTenThousandSteps(b *testing.B) {
	const steps = 10_000
	for range b.N {
		p, times := stage.New(b), &took{}
		pid := p.StartControl().PID
		p.Await("the guards", func(h client.Health) bool { return h.Guards == "ready" })
		s := p.NewSession()
		s.Direct, s.Took = true, times.add
		s.Start()
		s.Prompt("many")
		for range steps {
			s.Post(s.Pre("Bash", map[string]any{"command": "ls"}), map[string]any{"stdout": "a\nb"})
		}
		h := p.Await("the steps", func(h client.Health) bool { return h.Steps >= steps })
		now, peak := p.Resident(pid)
		if now > maxResident {
			b.Errorf("%d MiB resident after %d steps", now>>20, h.Steps)
		}
		s.Stop("done")
		s.End()
		b.ReportMetric(float64(now)/(1<<20), "MiB")
		b.ReportMetric(float64(peak)/(1<<20), "MiB-peak")
		b.ReportMetric(ms(times.at("PreToolUse", 0.5)), "ms-PreToolUse-p50")
		b.ReportMetric(ms(times.at("PreToolUse", 0.99)), "ms-PreToolUse-p99")
	}
}
