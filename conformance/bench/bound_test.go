package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/recorder/process"
)

// BenchmarkBoundProxy compares a proxy that reports to the project's control server
// with one that records on its own: the median of the latency of one call after the
// other, in slices that alternate. The control server and the service run on the same
// machine, and what they do shows where it has few cores.
func BenchmarkBoundProxy(b *testing.B) {
	home := service(b)
	control(b, home)
	dir, err := built.Dir()
	if err != nil {
		b.Fatal(err)
	}
	proxy := built.Path(dir, "bir-proxy")
	all := []target{
		{name: "standalone", role: roleServer, argv: []string{proxy, "--standalone", "--"}},
		{name: "bound", role: roleServer, argv: []string{proxy, "--"}},
	}
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			var ratios, times []float64
			for b.Loop() {
				for range rounds {
					p50 := alternate(b, all, home, size.bytes, size.calls)
					ratios = append(ratios, p50["bound"]/p50["standalone"])
					times = append(times, p50["bound"])
				}
			}
			b.ReportMetric(median(times), "bound:p50-µs")
			b.ReportMetric(median(ratios), "bound/standalone:p50")
			b.ReportMetric(0, "ns/op") // a round says nothing
		})
	}
}

// alternate returns the median of each target's calls in microseconds.
func alternate(b *testing.B, all []target, home string, size, calls int) map[string]float64 {
	b.Helper()
	open := openAll(b, all, home)
	single := map[string][]time.Duration{}
	for _, s := range open {
		s.check(size)
		s.calls(10, size) // warm
	}
	for range turns {
		for name, s := range open {
			for range calls / turns {
				single[name] = append(single[name], s.call(size))
			}
		}
	}
	closeAll(open)
	p50 := map[string]float64{}
	for name, times := range single {
		slices.Sort(times)
		p50[name] = micros(times[len(times)/2])
	}
	return p50
}

// control starts the control server of this folder's project, and ends it.
func control(b *testing.B, home string) {
	b.Helper()
	dir, err := built.Dir()
	if err != nil {
		b.Fatal(err)
	}
	cwd, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	root := locate.Root(cwd)
	cmd := exec.Command(built.Path(dir, "bir-control"), "--root", root, "--detach")
	cmd.Env = append(os.Environ(), "BIR_HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatal(fmt.Errorf("%w: %s", err, out))
	}
	file, err := locate.Read(home, root)
	if err != nil {
		b.Fatal(err)
	}
	c, err := client.New(file)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		defer c.Close()
		if err := c.Shutdown(context.Background(), client.Shutdown{}); err != nil {
			b.Error(err)
		}
		for late := time.Now().Add(10 * time.Second); process.Alive(file.PID) && time.Now().Before(late); {
			time.Sleep(10 * time.Millisecond) // it writes into home until it has ended
		}
	})
}
