package bench

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

const (
	rounds = 3
	turns  = 10 // of each target in a round
)

// sizes are the results that are asked for, and how many calls of each make a round.
var sizes = []struct {
	name         string
	bytes, calls int
}{
	{"100B", 100, 1000}, {"10KiB", 10 << 10, 500}, {"1MiB", 1 << 20, 40},
}

// figures are what one target did in one round.
type figures struct {
	p50, perCall, cpu float64 // µs
}

// BenchmarkAgainstAPump reports the median of the latency of one call after the
// other, the calls a second with 16 under way, the CPU time per 1,000 calls of the
// program and the server behind it, and what these are as multiples of the pump's.
// The service's own CPU time is in none of them.
func BenchmarkAgainstAPump(b *testing.B) {
	home, all := service(b), targets(b)
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			found := map[string][]figures{}
			for b.Loop() {
				for range rounds {
					for name, f := range round(b, all, home, size.bytes, size.calls) {
						found[name] = append(found[name], f)
					}
				}
			}
			report(b, found)
		})
	}
}

// round opens every target and makes the calls in slices that alternate between
// them, so that a bad moment of the machine hits them all.
func round(b *testing.B, all []target, home string, size, calls int) map[string]figures {
	b.Helper()
	open := openAll(b, all, home)
	single, together := map[string][]time.Duration{}, map[string]time.Duration{}
	for _, s := range open {
		s.check(size)
		s.calls(calls/5, size) // warm
	}
	for range turns {
		for name, s := range open {
			for range calls / turns {
				single[name] = append(single[name], s.call(size))
			}
		}
		for name, s := range open {
			together[name] += s.calls(4*calls/turns, size)
		}
	}
	idle := closeAll(openAll(b, all, home))
	found := map[string]figures{}
	for name, cpu := range closeAll(open) {
		slices.Sort(single[name])
		found[name] = figures{
			p50:     micros(single[name][len(single[name])/2]),
			perCall: micros(together[name]) / float64(4*calls),
			cpu:     micros(cpu-idle[name]) / float64(5*calls+calls/5),
		}
	}
	return found
}

func openAll(b *testing.B, all []target, home string) map[string]*session {
	sessions := map[string]*session{}
	for _, t := range all {
		sessions[t.name] = open(b, t, home)
	}
	return sessions
}

func closeAll(sessions map[string]*session) map[string]time.Duration {
	cpu := map[string]time.Duration{}
	for name, s := range sessions {
		cpu[name] = s.close()
	}
	return cpu
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// report gives the medians over the rounds; a ratio is the median of the ratios of
// each round.
func report(b *testing.B, found map[string][]figures) {
	for _, m := range []struct {
		name  string
		value func(figures) float64
	}{
		{"p50-µs", func(f figures) float64 { return f.p50 }},
		{"calls/s", func(f figures) float64 { return 1e6 / f.perCall }},
		{"ms-cpu/1000", func(f figures) float64 { return f.cpu }},
	} {
		for _, name := range slices.Sorted(maps.Keys(found)) {
			var values, ratios []float64
			for i, f := range found[name] {
				values = append(values, m.value(f))
				ratios = append(ratios, m.value(f)/m.value(found["pump"][i]))
			}
			b.ReportMetric(median(values), fmt.Sprintf("%s:%s", name, m.name))
			b.ReportMetric(median(ratios), fmt.Sprintf("%s/pump:%s", name, m.name))
		}
	}
	b.ReportMetric(0, "ns/op") // a round says nothing
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
