package service

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bir-run/bir/recorder"
)

// BenchmarkIngest is what a recorded call takes in the service, from the request to
// the database: lists of calls with payloads that stand as they are, as recorders
// send them, of 64 KiB at the most.
func BenchmarkIngest(b *testing.B) {
	const line = `path/to/file.go: \"name\" 0x7f3a if err != nil { return café }\n`
	for _, c := range []struct{ size, together int }{{100, 128}, {10 << 10, 24}, {64 << 10, 4}} {
		b.Run(fmt.Sprint(c.size), func(b *testing.B) {
			a := serving(b, pool)
			run := openRun()
			a.call("POST", "/recordings/runs", run, http.StatusCreated, nil)
			output := `{"content":[{"type":"text","text":"` + strings.Repeat(line, c.size/len(line)+1)[:c.size/len(line)*len(line)] + `"}],"isError":false}`
			b.SetBytes(int64(len(output)))
			b.ReportAllocs()
			var list bytes.Buffer
			n, before := 0, cpuTime()
			for ; b.Loop(); n++ {
				list.WriteByte("[,"[min(1, list.Len())])
				appendCall(&list, 2*n, output)
				if n%c.together == c.together-1 {
					list.WriteByte(']')
					a.call("POST", "/recordings/runs/"+run.ID+"/steps", list.String(), http.StatusCreated, nil)
					list.Reset()
				}
			}
			b.ReportMetric(float64(cpuTime()-before)/float64(n), "cpu-ns/op")
		})
	}
}

// appendCall writes the two rows of a call.
func appendCall(list *bytes.Buffer, index int, output string) {
	const row = `{"id":%q,"stepIndex":%d,"type":%q,"callId":"toolu_01A09q90qw90lq917835lq9","toolName":"mcp__fleet__echo",` +
		`"serverName":"fleet","upstreamTool":"echo",%s,"startedAt":"2026-11-02T09:30:00.123456789Z"}`
	fmt.Fprintf(list, row, recorder.NewID("step"), index, recorder.StepSelected, `"toolInput":{"size":100}`)
	list.WriteByte(',')
	fmt.Fprintf(list, row, recorder.NewID("step"), index+1, recorder.StepResponse, `"toolOutput":`+output+`,"status":"ok","durationMs":1.25`)
}
