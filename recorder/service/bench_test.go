package service

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bir-run/bir/recorder"
)

// BenchmarkIngest sends steps of 2 KB as many recorders do, each on a connection
// of its own.
func BenchmarkIngest(b *testing.B) {
	a := serving(b, pool)
	a.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer a.client.CloseIdleConnections()
	run := openRun()
	a.call("POST", "/recordings/runs", run, http.StatusCreated, nil)
	output := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 2000) + `"}]}`
	var index atomic.Int64
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			step := recorder.Step{
				ID: recorder.NewID("step"), StepIndex: int(index.Add(1)), Type: recorder.StepResponse,
				CallID: "toolu_1", ToolName: "mcp__fleet__restart", ToolOutput: output, Status: recorder.StatusOK,
			}
			if resp, data := a.send("POST", "/recordings/runs/"+run.ID+"/steps", step); resp.StatusCode != http.StatusCreated {
				b.Errorf("%d %s", resp.StatusCode, data)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
