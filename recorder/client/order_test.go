package client

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
)

// TestRunsThatGoOnAtOnceAreSentTogether holds the service up until all is reported.
func TestRunsThatGoOnAtOnceAreSentTogether(t *testing.T) {
	const calls, runs = 100, 5
	f := newFake(t)
	reported := make(chan struct{})
	f.setFail(func(string) int { <-reported; return 0 })
	s := open(t, f.config(t))
	for i := range runs {
		s.StartRun(recorder.Run{ID: fmt.Sprint("run_", i)})
	}
	for n := range calls {
		for i := range runs {
			s.RecordCall(fmt.Sprint("run_", i), recorder.Call{ServerName: "s", ToolName: fmt.Sprint("t", n), Args: json.RawMessage(`{}`)})
		}
	}
	for i := range runs {
		s.FinishRun(fmt.Sprint("run_", i), recorder.Finish{})
	}
	close(reported)
	for range runs {
		f.waitFinished(t)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.steps) != 2*calls*runs {
		t.Errorf("%d rows", len(f.steps))
	}
	next := map[string]int{}
	for _, step := range f.steps { // of one run after the other, and each in its order
		if step.Type == recorder.StepSelected {
			next[step.UpstreamTool]++
		}
	}
	for n := range calls {
		if next[fmt.Sprint("t", n)] != runs {
			t.Errorf("call %d is there %d times", n, next[fmt.Sprint("t", n)])
		}
	}
	if f.requests > 40 {
		t.Errorf("%d requests for %d runs of %d calls", f.requests, runs, calls)
	}
}

func TestReportsOfARunKeepTheirOrderAndNonePassesAFlush(t *testing.T) {
	flush := make(chan struct{})
	of := func(run string, n int) report { return report{run: run, bytes: n} }
	reports := []report{
		of("b", 1), of("a", 1), of("b", 2), of("c", 1), of("a", 2),
		{flushed: flush},
		of("a", 3), of("b", 3), of("a", 4),
		{flushed: flush}, {flushed: flush},
		of("c", 2),
	}
	byRun(reports)
	var got []string
	for _, r := range reports {
		if r.flushed != nil {
			got = append(got, "flush")
			continue
		}
		got = append(got, fmt.Sprint(r.run, r.bytes))
	}
	want := []string{"b1", "b2", "a1", "a2", "c1", "flush", "a3", "a4", "b3", "flush", "flush", "c2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
