//go:build unix

package load

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/stage"
	"github.com/bir-run/bir/recorder"
)

func TestMain(m *testing.M) { os.Exit(stage.Run(m)) }

// size is a load.
type size struct{ sessions, servers, calls int }

// took collects how long hooks and calls took.
type took struct {
	mu    sync.Mutex // guards times
	times map[string][]time.Duration
}

func (t *took) add(what string, d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.times == nil {
		t.times = map[string][]time.Duration{}
	}
	t.times[what] = append(t.times[what], d)
}

// at is the time that a share of them took at most.
func (t *took) at(what string, share float64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Sorted(slices.Values(t.times[what]))
	if len(all) == 0 {
		return 0
	}
	return all[min(len(all)-1, int(share*float64(len(all))))]
}

// play has every session make every call, servers and sessions all at once.
func (z size) play(p *stage.Project, times *took) {
	var sessions sync.WaitGroup
	for range z.sessions {
		s := p.NewSession()
		s.Direct, s.Took = true, times.add
		s.Start()
		var servers []*stage.Server
		for n := range z.servers {
			servers = append(servers, s.Connect(fmt.Sprintf("s%d", n)))
		}
		sessions.Go(func() { z.session(s, servers, times) })
	}
	sessions.Wait()
}

func (z size) session(s *stage.Session, servers []*stage.Server, times *took) {
	s.Prompt("load " + s.ID)
	var calling sync.WaitGroup
	for n, server := range servers {
		calling.Go(func() {
			for i := range z.calls {
				text := fmt.Sprintf("%d-%d", n, i)
				use := s.Pre(fmt.Sprintf("mcp__s%d__echo", n), map[string]any{"text": text})
				began := time.Now()
				id := server.Begin(use, "echo")
				answer, ok := server.Answer(id)
				times.add("call", time.Since(began))
				if !ok || string(answer) != stage.Said(id, text) {
					s.Errorf("call %s was answered %q", text, answer)
					return
				}
				s.Post(use, []any{map[string]any{"type": "text", "text": text}})
			}
		})
	}
	calling.Wait()
	s.Stop("done " + s.ID)
	for _, server := range servers {
		server.Leave()
	}
	s.End()
}

// judge holds that every run is there, whole and in order.
func (z size) judge(p *stage.Project, runs []recorder.RunWithSteps) {
	p.Helper()
	if len(runs) != z.sessions {
		p.Errorf("%d runs of %d", len(runs), z.sessions)
	}
	for _, run := range runs {
		calls, answer := p.Calls(run)
		session := run.Run.Metadata.SessionID
		if run.Run.Input != "load "+session || answer != "done "+session || run.Run.Metadata.Lossy || len(calls) != z.servers*z.calls {
			p.Errorf("session %s: prompt %q, answer %q, lossy %v, %d calls", session, run.Run.Input, answer, run.Run.Metadata.Lossy, len(calls))
		}
		z.inOrder(p, calls)
	}
}

// inOrder holds that each server's calls, which were made one after the other, stand
// so, with what the wire said.
func (z size) inOrder(p *stage.Project, calls []stage.Call) {
	p.Helper()
	next := map[string]int{}
	for _, call := range calls {
		server := strings.TrimSuffix(strings.TrimPrefix(call.Tool, "mcp__s"), "__echo")
		text := fmt.Sprintf("%s-%d", server, next[server])
		next[server]++
		if want := fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"n":1.0}`, text); call.Output != want || call.Status != recorder.StatusOK {
			p.Errorf("call %s has %s, %s", text, call.Output, call.Status)
			return
		}
	}
}

func TestEveryRunIsCompleteUnderLoad(t *testing.T) {
	z := size{sessions: 4, servers: 3, calls: 25}
	p := stage.New(t)
	p.StartControl()
	z.play(p, &took{})
	z.judge(p, p.Runs())
}

// BenchmarkLoad is the whole load: it takes a minute.
func BenchmarkLoad(b *testing.B) {
	z := size{sessions: 20, servers: 5, calls: 200}
	for range b.N {
		p, times := stage.New(b), &took{}
		p.Bir("guard", "list") // so that none are compiled meanwhile
		pid := p.StartControl().PID
		began, computed := time.Now(), p.CPU(pid)
		z.play(p, times)
		spent, computed := time.Since(began), p.CPU(pid)-computed
		now, peak := p.Resident(pid)
		z.judge(p, p.Runs())
		calls := float64(z.sessions * z.servers * z.calls)
		b.ReportMetric(calls/spent.Seconds(), "calls/s")
		b.ReportMetric(ms(computed)/calls, "ms-cpu-daemon/call")
		b.ReportMetric(float64(now)/(1<<20), "MiB-daemon")
		b.ReportMetric(float64(peak)/(1<<20), "MiB-daemon-peak")
		for _, what := range []string{"PreToolUse", "PostToolUse", "call"} {
			b.ReportMetric(ms(times.at(what, 0.5)), "ms-"+what+"-p50")
			b.ReportMetric(ms(times.at(what, 0.99)), "ms-"+what+"-p99")
		}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
