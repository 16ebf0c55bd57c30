package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkStart is the time from the start of the program to the first byte of the
// server at the host.
func BenchmarkStart(b *testing.B) {
	home := b.TempDir()
	for _, t := range targets(b) {
		b.Run(t.name, func(b *testing.B) {
			for b.Loop() {
				s := open(b, t, home)
				b.StopTimer()
				s.close()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkMemory reports what the proxy occupies when it waits, after small calls,
// and after large ones.
func BenchmarkMemory(b *testing.B) {
	home, all := service(b), targets(b)
	for b.Loop() {
		s := open(b, all[len(all)-1], home)
		b.ReportMetric(resident(b, s.cmd.Process.Pid), "MiB-idle")
		s.calls(5_000, 1000)
		b.ReportMetric(resident(b, s.cmd.Process.Pid), "MiB-after-1kB")
		s.calls(100, 1<<20)
		b.ReportMetric(resident(b, s.cmd.Process.Pid), "MiB-after-1MiB")
		s.close()
	}
}

// resident is a process's resident memory in MiB.
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("no /proc here")
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
