package bench

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var mcpbench = flag.String("mcpbench", "", "path of the mcpbench program")

// serverVar makes this test binary a server that answers every call at once.
const serverVar = "BENCH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverVar) != "" {
		serve(os.Stdin, os.Stdout)
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

var padding = strings.Repeat("x", 1000)

// serve answers the calls that ask writes: their id stands between fixed texts.
func serve(in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	fmt.Fprintln(out, `{"jsonrpc":"2.0","method":"notifications/ready"}`)
	for lines.Scan() {
		rest, _ := strings.CutPrefix(lines.Text(), `{"jsonrpc":"2.0","id":`)
		id, _, _ := strings.Cut(rest, ",")
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`+"\n", id, padding)
	}
}

func build(b *testing.B) string {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "bir-proxy")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "github.com/bir-run/bir/cmd/bir-proxy")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// session is one proxy with its server.
type session struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(b *testing.B, argv ...string) *session {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	// Nothing listens on port 9: what is recorded goes to the spool.
	cmd.Env = append(os.Environ(), serverVar+"=1", "BIR_HOME="+b.TempDir(), "BIR_AUTH_URL=http://127.0.0.1:9")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return &session{cmd, in, bufio.NewReader(out)}
}

func (s *session) line(b *testing.B) {
	b.Helper()
	if _, err := s.out.ReadSlice('\n'); err != nil {
		b.Fatal(err)
	}
}

func (s *session) call(b *testing.B, id int) {
	b.Helper()
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a","arguments":{}}}`+"\n", id); err != nil {
		b.Fatal(err)
	}
	s.line(b)
}

func (s *session) end(b *testing.B) {
	b.Helper()
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStart is the time from the start of the proxy to the first byte of the
// server at the host; direct is the same without the proxy.
func BenchmarkStart(b *testing.B) {
	proxy := build(b)
	for name, wrapper := range map[string][]string{"direct": nil, "proxy": {proxy, "--"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := start(b, append(wrapper, os.Args[0])...)
				s.line(b)
				b.StopTimer()
				s.end(b)
				b.StartTimer()
			}
		})
	}
}

// BenchmarkMemory reports what the proxy occupies when it waits, and after 10,000
// recorded calls.
func BenchmarkMemory(b *testing.B) {
	proxy := build(b)
	for b.Loop() {
		s := start(b, proxy, "--", os.Args[0])
		s.line(b)
		b.ReportMetric(resident(b, s.cmd.Process.Pid), "MiB-idle")
		for id := range 10_000 {
			s.call(b, id)
		}
		b.ReportMetric(resident(b, s.cmd.Process.Pid), "MiB-used")
		s.end(b)
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

// BenchmarkAgainstAPump reports the proxy's p50, throughput and CPU as multiples of
// a byte pump's, for results of 1 KiB to 1 MiB.
func BenchmarkAgainstAPump(b *testing.B) {
	if *mcpbench == "" {
		b.Skip("give -args -mcpbench PATH")
	}
	proxy := build(b)
	for b.Loop() {
		report := filepath.Join(b.TempDir(), "report.json")
		cmd := exec.Command(*mcpbench, "compare", "-q", "-json", report, "-ref", "pump",
			"-sizes", "1k,10k,64k,1m", "-n", "1000,500,300,40", "-tn", "4000,2000,600,60",
			"-t", "direct={self} serve",
			"-t", "pump={self} pump -mode poll -- {self} serve",
			"-t", "recpump={self} recpump -delay 5ms -- {self} serve",
			"-t", "relay="+proxy+" --no-record -- {self} serve",
			"-t", "proxy="+proxy+" -- {self} serve")
		cmd.Env = append(os.Environ(), "BIR_HOME="+b.TempDir(), "BIR_AUTH_URL=http://127.0.0.1:9")
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		b.Logf("%s", out)
		ratios(b, report)
	}
}

func ratios(b *testing.B, report string) {
	b.Helper()
	text, err := os.ReadFile(report)
	if err != nil {
		b.Fatal(err)
	}
	var r struct {
		Targets []struct {
			Target struct{ Name string }
			Rounds []map[string]float64
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		b.Fatal(err)
	}
	rounds := map[string][]map[string]float64{}
	for _, t := range r.Targets {
		rounds[t.Target.Name] = t.Rounds
	}
	for _, target := range []string{"relay", "proxy"} {
		for _, key := range []string{"lat.1KiB.p50", "lat.64KiB.p50", "lat.1MiB.p50", "thr.1KiB.calls", "thr.1MiB.calls", "cpu.1KiB.root", "cpu.1MiB.root"} {
			b.ReportMetric(medianRatio(rounds[target], rounds["pump"], key), target+":"+key)
		}
	}
}

func medianRatio(of, to []map[string]float64, key string) float64 {
	var all []float64
	for i := range min(len(of), len(to)) {
		all = append(all, of[i][key]/to[i][key])
	}
	slices.Sort(all)
	return all[len(all)/2]
}
