package turn

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/control/order"
	"github.com/bir-run/bir/recorder"
)

var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func newRun() *Run {
	r := &Run{ID: "run_1", Session: "s", Started: noon, Windows: []Window{{From: noon}}}
	r.Restore()
	return r
}

// call adds a call that began and, where end is not 0, ended.
func (r *Run) call(id string, began, end int) *correlate.Call {
	c := &correlate.Call{ID: id, Tool: "Read", Began: at(began)}
	if end != 0 {
		c.End = &correlate.End{At: at(end), Status: recorder.StatusOK}
	}
	r.Begin(c)
	return c
}

func ids(calls []recorder.Call) (ids []string) {
	for _, c := range calls {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestCallsAreReportedInTheOrderOfTheirEndsOnceAllIsKnown(t *testing.T) {
	r := newRun()
	r.call("slow", 1, 5)
	r.call("quick", 2, 3).Said = true
	if n, last := r.Number(at(5), time.Time{}); n != 2 || last {
		t.Errorf("%d numbered, last %v", n, last)
	}
	if diff := cmp.Diff([]string{"quick"}, ids(r.Flush(false))); diff != "" {
		t.Error(diff)
	}
	r.See(&View{Said: map[string]string{"slow": "to be sure", "later": "and then"}})
	calls := r.Flush(false)
	if len(calls) != 1 || calls[0].Context != "to be sure" || calls[0].Place.Index != 2 {
		t.Errorf("%+v", calls)
	}
	r.call("later", 6, 7)
	if c := r.Calls["later"]; c.Context != "and then" || len(r.Said) > 0 {
		t.Errorf("%+v, %v", c, r.Said)
	}
	if !r.Known("slow") || !r.IsDone("slow") || !r.Known("later") || r.IsDone("later") || r.Known("none") {
		t.Error("which calls are known is not")
	}
}

func TestAStrayReportHoldsUpWhatEndedAfterIt(t *testing.T) {
	r := newRun()
	r.call("a", 1, 3)
	if n, _ := r.Number(at(3), at(2)); n != 0 {
		t.Error("it was numbered before what may come first")
	}
	if n, _ := r.Number(at(3).Add(order.Grace), time.Time{}); n != 1 {
		t.Error("it was never numbered")
	}
}

func TestALateHalfChangesNothingThatIsReported(t *testing.T) {
	r := newRun()
	r.call("a", 1, 2).Tool = "mcp__fleet__read"
	r.Number(at(2), time.Time{})
	half := client.StepReport{ToolUseID: "a", ToolName: "read", StartedAt: at(1), Result: json.RawMessage(`{"n":1.0}`)}
	if !r.Late(half) || r.HeldCall("a").Wire == nil {
		t.Error("a held call does not take it")
	}
	r.Flush(true)
	if !r.Late(half) || r.HeldCall("a") != nil {
		t.Error("a reported call is not known again")
	}
	if half.ToolUseID = "b"; r.Late(half) {
		t.Error("another call is taken for it")
	}
}

func TestRowsOfACallHaveTheSameIDsAfterACrash(t *testing.T) {
	report := func(r *Run) (calls []recorder.Call) {
		r.Closed, r.Answer = at(9), "done"
		r.EndOpen(at(9), func(*correlate.Call) bool { return true }, false)
		if _, last := r.Number(at(9), time.Time{}); !last {
			t.Error("it is not the last")
		}
		return r.Flush(true)
	}
	r := newRun()
	r.call("a", 1, 2)
	r.call("open", 3, 0)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again Run
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	again.Restore()
	first, second := report(r), report(&again)
	if diff := cmp.Diff(first, second); diff != "" || len(first) != 2 || first[0].Place.RowIDs[0] == first[0].Place.RowIDs[1] {
		t.Errorf("%d calls: %s", len(first), diff)
	}
	end := r.Finish()
	if diff := cmp.Diff(end, again.Finish()); diff != "" || end.Answer.Index != 4 || !end.FinishedAt.Equal(at(9)) || !end.Lossy {
		t.Errorf("%+v %s", end, diff)
	}
}

func TestMessagesBelongToTheStretchInWhichTheMainThreadWorked(t *testing.T) {
	r := newRun()
	r.Agents["agent"] = "explorer"
	r.Shut(at(10))
	r.Stopped = at(10)
	r.Resume(at(20))
	if !r.Stopped.IsZero() {
		t.Error("it is still stopped")
	}
	for second, want := range map[int]bool{-1: false, 0: true, 10: true, 15: false, 20: true, 99: true} {
		if got := r.Owns("", at(second)); got != want {
			t.Errorf("at %d: %v", second, got)
		}
	}
	if !r.Owns("agent", at(15)) || r.Owns("other", at(5)) {
		t.Error("subagents are not told apart by who began them")
	}
}
