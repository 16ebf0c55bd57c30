package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/store"
)

func testRunComesBack(t *testing.T, s store.Store) {
	want := booked(t, s)
	got, err := s.Run(t.Context(), want.ID)
	must(t, err)
	if diff := cmp.Diff(recorder.RunWithSteps{Run: want, Steps: []recorder.Step{}}, got); diff != "" {
		t.Error(diff)
	}
	_, err = s.Run(t.Context(), "run_none")
	wantErr(t, err, store.ErrNotFound)
}

func testRunTwice(t *testing.T, s store.Store) {
	first := booked(t, s)
	second := first
	second.Input = "something else"
	created, err := s.CreateRun(t.Context(), second)
	if err != nil || created {
		t.Errorf("the second time: created %v, %v", created, err)
	}
	got, err := s.Run(t.Context(), first.ID)
	must(t, err)
	if got.Run.Input != first.Input {
		t.Errorf("input is %q, want the first one", got.Run.Input)
	}
}

func testListOrder(t *testing.T, s store.Store) {
	var want []string
	for i := range 3 {
		run := sampleRun(i)
		create(t, s, run)
		want = append([]string{run.ID}, want...)
	}
	twin := sampleRun(2) // the same moment; the later id counts as newer
	create(t, s, twin)
	want = append([]string{twin.ID}, want...)

	page, err := s.ListRuns(t.Context(), store.RunQuery{})
	must(t, err)
	if diff := cmp.Diff(want, ids(page.Runs)); diff != "" {
		t.Error(diff)
	}
	if page.NextCursor != "" {
		t.Error("the last page has a cursor")
	}
}

func testPages(t *testing.T, s store.Store) {
	var want []string
	for i := range 7 {
		run := sampleRun(i / 2) // some at the same moment
		create(t, s, run)
		want = append([]string{run.ID}, want...)
	}
	var got []string
	for cursor := ""; ; {
		page, err := s.ListRuns(t.Context(), store.RunQuery{Limit: 3, Cursor: cursor})
		must(t, err)
		got = append(got, ids(page.Runs)...)
		if cursor = page.NextCursor; cursor == "" {
			break
		}
		create(t, s, sampleRun(100+len(got))) // newer: on no later page
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func testBadCursor(t *testing.T, s store.Store) {
	for _, cursor := range []string{"?", "bm90IG9uZQ", "MTIz"} {
		_, err := s.ListRuns(t.Context(), store.RunQuery{Cursor: cursor})
		wantErr(t, err, store.ErrCursor)
	}
}

func testSearch(t *testing.T, s store.Store) {
	plain := booked(t, s)
	odd := sampleRun(1)
	odd.Input, odd.Metadata.CWD = `100%_done\`, `/srv/o'hara`
	create(t, s, odd)
	must(t, s.AddSteps(t.Context(), odd.ID, sampleStep(0)))

	for text, want := range map[string][]string{
		"PUMP 0":        {plain.ID}, // case does not matter
		plain.ID:        {plain.ID},
		plain.ID[:20]:   {}, // an id counts only whole
		"0%_d":          {odd.ID},
		`done\`:         {odd.ID},
		"_":             {odd.ID},
		"p_mp":          {},
		"o'hara":        {odd.ID},
		"fleet__restar": {odd.ID}, // by a tool it called
		"plant":         {plain.ID},
	} {
		page, err := s.ListRuns(t.Context(), store.RunQuery{Text: text})
		must(t, err)
		if diff := cmp.Diff(want, ids(page.Runs)); diff != "" {
			t.Errorf("search %q: %s", text, diff)
		}
	}
}

func testSetInput(t *testing.T, s store.Store) {
	run := booked(t, s)
	must(t, s.SetInput(t.Context(), run.ID, "stop pump 9"))
	got, err := s.Run(t.Context(), run.ID)
	must(t, err)
	if got.Run.Input != "stop pump 9" {
		t.Errorf("input is %q", got.Run.Input)
	}
	wantErr(t, s.SetInput(t.Context(), "run_none", ""), store.ErrNotFound)
}

func testDelete(t *testing.T, s store.Store) {
	scn := calculated(t, s)
	must(t, s.AddSteps(t.Context(), scn.RunID, sampleStep(0)))
	next, edit := edited(scn, "return {}")
	must(t, s.SaveEdit(t.Context(), next, edit))

	must(t, s.DeleteRun(t.Context(), scn.RunID))
	_, err := s.Run(t.Context(), scn.RunID)
	wantErr(t, err, store.ErrNotFound)
	_, err = s.Scenario(t.Context(), scn.ID)
	wantErr(t, err, store.ErrNotFound)
	_, err = s.Edits(t.Context(), scn.ID)
	wantErr(t, err, store.ErrNotFound)
	wantErr(t, s.DeleteRun(t.Context(), scn.RunID), store.ErrNotFound)
}

func testSteps(t *testing.T, s store.Store) {
	run := booked(t, s)
	want := []recorder.Step{sampleStep(0), sampleStep(1), sampleStep(2)}
	want[0].Type = recorder.StepSelected
	want[2] = recorder.Step{ID: want[2].ID, StepIndex: 2, Type: recorder.StepAnswer, Answer: "done"}
	for _, step := range slices.Backward(want) {
		must(t, s.AddSteps(t.Context(), run.ID, step))
	}
	got, err := s.Run(t.Context(), run.ID)
	must(t, err)
	if diff := cmp.Diff(want, got.Steps); diff != "" {
		t.Error(diff)
	}
	if got.Run.StepCount != 3 || got.Run.CallCount != 1 {
		t.Errorf("counts %d steps and %d calls", got.Run.StepCount, got.Run.CallCount)
	}
}

func testStepTwice(t *testing.T, s store.Store) {
	run := booked(t, s)
	step := sampleStep(0)
	must(t, s.AddSteps(t.Context(), run.ID, step))
	again := step
	again.ToolOutput = "{}"
	must(t, s.AddSteps(t.Context(), run.ID, again))
	got, err := s.Run(t.Context(), run.ID)
	must(t, err)
	if diff := cmp.Diff([]recorder.Step{step}, got.Steps); diff != "" {
		t.Error(diff)
	}
}

func testStepOfOther(t *testing.T, s store.Store) {
	step := sampleStep(0)
	must(t, s.AddSteps(t.Context(), booked(t, s).ID, step))
	wantErr(t, s.AddSteps(t.Context(), booked(t, s).ID, step), store.ErrExists)
}

func testStepsTogether(t *testing.T, s store.Store) {
	taken := sampleStep(0)
	must(t, s.AddSteps(t.Context(), booked(t, s).ID, taken))
	run := booked(t, s)
	first, second, third := sampleStep(0), sampleStep(1), sampleStep(2)
	wantErr(t, s.AddSteps(t.Context(), run.ID, first, taken, second), store.ErrExists)
	got, err := s.Run(t.Context(), run.ID)
	must(t, err)
	if len(got.Steps) != 0 {
		t.Errorf("%d steps of a refused batch are there", len(got.Steps))
	}
	must(t, s.AddSteps(t.Context(), run.ID, first, second))
	must(t, s.AddSteps(t.Context(), run.ID, second, third)) // in part a retry
	got, err = s.Run(t.Context(), run.ID)
	must(t, err)
	if diff := cmp.Diff([]recorder.Step{first, second, third}, got.Steps); diff != "" {
		t.Error(diff)
	}
	wantErr(t, s.AddSteps(t.Context(), "run_none", sampleStep(0), sampleStep(1)), store.ErrNotFound)
}

// testLongList books more steps than a store may take in one piece, some of which are
// there already, or belong to another run.
func testLongList(t *testing.T, s store.Store) {
	run := booked(t, s)
	var want []recorder.Step
	for i := range 41 {
		want = append(want, sampleStep(i))
	}
	must(t, s.AddSteps(t.Context(), run.ID, want[7:9]...))
	must(t, s.AddSteps(t.Context(), run.ID, append(slices.Clone(want), want[3])...)) // one of them twice
	got, err := s.Run(t.Context(), run.ID)
	must(t, err)
	if diff := cmp.Diff(want, got.Steps); diff != "" {
		t.Error(diff)
	}
	other := booked(t, s)
	more := []recorder.Step{}
	for i := range 41 {
		more = append(more, sampleStep(i))
	}
	more[5] = want[40]
	wantErr(t, s.AddSteps(t.Context(), other.ID, more...), store.ErrExists)
	if got, err = s.Run(t.Context(), other.ID); err != nil || len(got.Steps) != 0 {
		t.Errorf("%d steps of a refused list are there, %v", len(got.Steps), err)
	}
}

func testStepWithoutRun(t *testing.T, s store.Store) {
	wantErr(t, s.AddSteps(t.Context(), "run_none", sampleStep(0)), store.ErrNotFound)
}

func testUpdateStep(t *testing.T, s store.Store) {
	run, step := booked(t, s), sampleStep(0)
	must(t, s.AddSteps(t.Context(), run.ID, step))

	refused := errors.New("refused")
	err := s.UpdateStep(t.Context(), run.ID, step.ID, func(st *recorder.Step) error {
		st.Answer = "half"
		return refused
	})
	wantErr(t, err, refused)
	must(t, s.UpdateStep(t.Context(), run.ID, step.ID, func(st *recorder.Step) error {
		st.ID, st.ToolOutput, st.Status = "step_other", `{"late":true}`, recorder.StatusToolError
		return nil
	}))

	step.ToolOutput, step.Status = `{"late":true}`, recorder.StatusToolError
	got, err := s.Run(t.Context(), run.ID)
	must(t, err)
	if diff := cmp.Diff([]recorder.Step{step}, got.Steps); diff != "" {
		t.Error(diff)
	}
	keep := func(*recorder.Step) error { return nil }
	wantErr(t, s.UpdateStep(t.Context(), run.ID, "step_none", keep), store.ErrNotFound)
	wantErr(t, s.UpdateStep(t.Context(), booked(t, s).ID, step.ID, keep), store.ErrNotFound)
}

func testFinish(t *testing.T, s store.Store) {
	run := booked(t, s)
	end := recorder.Finish{Output: "done", FinishedAt: start.Add(time.Hour), Usage: map[string]recorder.Usage{
		"opus": {Input: 1, Output: 2, CacheCreation: 3, CacheRead: 1 << 40}, "haiku": {},
	}}
	must(t, s.FinishRun(t.Context(), run.ID, end))
	must(t, s.FinishRun(t.Context(), run.ID, recorder.Finish{
		Output: "other", Lossy: true, FinishedAt: start, Usage: map[string]recorder.Usage{"opus": {Input: 9}},
	}))
	must(t, s.FinishRun(t.Context(), run.ID, end)) // a retry does not make it whole again

	got, err := s.Run(t.Context(), run.ID)
	must(t, err)
	run.State, run.Output, run.FinishedAt, run.Metadata.Lossy = recorder.StateFinished, "done", end.FinishedAt, true
	run.Usage = end.Usage
	if diff := cmp.Diff(run, got.Run); diff != "" {
		t.Error(diff)
	}
	wantErr(t, s.FinishRun(t.Context(), "run_none", end), store.ErrNotFound)
}

func testLateStep(t *testing.T, s store.Store) {
	run := booked(t, s)
	must(t, s.FinishRun(t.Context(), run.ID, recorder.Finish{FinishedAt: start}))
	must(t, s.AddSteps(t.Context(), run.ID, sampleStep(0)))
	got, err := s.Run(t.Context(), run.ID)
	must(t, err)
	if len(got.Steps) != 1 || got.Run.State != recorder.StateFinished {
		t.Errorf("%d steps, state %s", len(got.Steps), got.Run.State)
	}
}

func testCanceled(t *testing.T, s store.Store) {
	run := sampleRun(0)
	if _, err := s.CreateRun(canceled(t), run); err == nil {
		t.Error("a canceled write succeeded")
	}
	_, err := s.Run(t.Context(), run.ID)
	wantErr(t, err, store.ErrNotFound)
}

// testManyWriters is the hammer: writers of every kind and readers, at once.
func testManyWriters(t *testing.T, s store.Store) {
	const writers, each = 64, 8
	run := booked(t, s)
	for _, err := range together(writers, func(i int) error {
		own := sampleRun(i)
		_, err := s.CreateRun(t.Context(), own)
		for n := range each {
			step := sampleStep(i*each + n)
			err = errors.Join(err,
				s.AddSteps(t.Context(), run.ID, step),
				s.AddSteps(t.Context(), run.ID, step), // retried
				s.UpdateStep(t.Context(), run.ID, step.ID, func(st *recorder.Step) error {
					st.Context = fmt.Sprint(i)
					return nil
				}))
			_, readErr := s.Run(t.Context(), own.ID)
			err = errors.Join(err, readErr)
		}
		return errors.Join(err, s.FinishRun(t.Context(), own.ID, recorder.Finish{FinishedAt: start}))
	}) {
		if err != nil {
			t.Error(err)
		}
	}
	got, err := s.Run(t.Context(), run.ID)
	must(t, err)
	for i, step := range got.Steps {
		if step.StepIndex != i || step.Context != fmt.Sprint(i/each) {
			t.Fatalf("row %d is step %d of writer %s", i, step.StepIndex, step.Context)
		}
	}
	if len(got.Steps) != writers*each {
		t.Errorf("%d steps, want %d", len(got.Steps), writers*each)
	}
}

func ids(runs []recorder.Run) []string {
	list := []string{}
	for _, r := range runs {
		list = append(list, r.ID)
	}
	return list
}
