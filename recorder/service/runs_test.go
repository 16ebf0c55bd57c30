package service

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/api"
)

func TestRunIsRecordedAndRead(t *testing.T) {
	a := serving(t, pool)
	run := openRun()
	resp, data := a.send("POST", "/recordings/runs", run)
	if want := `{"id":"` + run.ID + `","matched":null}`; resp.StatusCode != http.StatusCreated || strings.TrimSpace(string(data)) != want {
		t.Fatalf("%d %s", resp.StatusCode, data)
	}
	steps := rows(0, "find_device", `{"name":"P7"}`, `{"content":[]}`)
	for _, step := range steps {
		var made named
		a.call("POST", "/recordings/runs/"+run.ID+"/steps", step, http.StatusCreated, &made)
		if made.ID != step.ID {
			t.Errorf("made %s", made.ID)
		}
	}
	end := recorder.Finish{
		Output: "done", FinishedAt: recordedAt.Add(time.Minute),
		Usage: map[string]recorder.Usage{"opus": {Input: 1, Output: 2, CacheCreation: 3, CacheRead: 4}},
	}
	a.call("POST", "/recordings/runs/"+run.ID+"/finish", end, http.StatusOK, nil)

	want := recorder.RunWithSteps{Run: run, Steps: steps}
	want.Run.State, want.Run.Output, want.Run.FinishedAt = recorder.StateFinished, end.Output, end.FinishedAt
	want.Run.StepCount, want.Run.CallCount, want.Run.Usage = 2, 1, end.Usage
	var got recorder.RunWithSteps
	a.call("GET", "/recordings/runs/"+run.ID, nil, http.StatusOK, &got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestListOfStepsIsWrittenWholeOrNotAtAll(t *testing.T) {
	a := serving(t, pool)
	run, other := openRun(), openRun()
	a.call("POST", "/recordings/runs", run, http.StatusCreated, nil)
	a.call("POST", "/recordings/runs", other, http.StatusCreated, nil)
	path := "/recordings/runs/" + run.ID + "/steps"
	steps := append(rows(0, "find_device", `{"name":"P7"}`, `{"content":[]}`), rows(2, "restart", `{}`, `{}`)...)

	bad := slices.Clone(steps)
	bad[3].Type = "guess"
	a.refused("POST", path, bad, api.BadRequest)
	bad[3] = steps[3]
	bad[2].ID = "../step"
	a.refused("POST", path, bad, api.BadRequest)
	taken := rows(0, "restart", `{}`, `{}`)[0]
	a.call("POST", "/recordings/runs/"+other.ID+"/steps", taken, http.StatusCreated, nil)
	bad[2] = taken
	a.refused("POST", path, bad, CodeIDTaken)
	a.refused("POST", path, `[{"id":7}]`, api.MalformedJSON)
	a.refused("POST", path, `[{"id":"step_1"}`, api.MalformedJSON)
	a.refused("POST", path, `[7]`, api.MalformedJSON)
	a.refused("POST", "/recordings/runs/run_none/steps", steps, api.NotFound)
	var got recorder.RunWithSteps
	a.call("GET", "/recordings/runs/"+run.ID, nil, http.StatusOK, &got)
	if len(got.Steps) != 0 {
		t.Errorf("%d steps of refused lists are there", len(got.Steps))
	}

	var made manyNamed
	for range 2 {
		a.call("POST", path, steps, http.StatusCreated, &made)
	}
	if diff := cmp.Diff([]string{steps[0].ID, steps[1].ID, steps[2].ID, steps[3].ID}, made.IDs); diff != "" {
		t.Error(diff)
	}
	a.call("GET", "/recordings/runs/"+run.ID, nil, http.StatusOK, &got)
	if diff := cmp.Diff(steps, got.Steps); diff != "" {
		t.Error(diff)
	}
	a.call("POST", path, `[]`, http.StatusCreated, &made)
}

func TestPayloadInAListMayStandAsItIs(t *testing.T) {
	a := serving(t, pool)
	run := openRun()
	a.call("POST", "/recordings/runs", run, http.StatusCreated, nil)
	a.call("POST", "/recordings/runs/"+run.ID+"/steps", `[
		{"id":"step_1","type":"tool_selected","stepIndex":0,"toolInput":{ "n" : 1.0 }},
		{"id":"step_2","type":"tool_response","stepIndex":1,"toolOutput":[9007199254740993,"\u00e9"],"toolInput":"{\"a\":1}","askedInput":{"a":2}}]`, http.StatusCreated, nil)
	var got recorder.RunWithSteps
	a.call("GET", "/recordings/runs/"+run.ID, nil, http.StatusOK, &got)
	want := []recorder.Step{
		{ID: "step_1", Type: recorder.StepSelected, ToolInput: `{ "n" : 1.0 }`},
		{ID: "step_2", Type: recorder.StepResponse, StepIndex: 1, ToolInput: `{"a":1}`, ToolOutput: `[9007199254740993,"\u00e9"]`, AskedInput: `{"a":2}`},
	}
	if diff := cmp.Diff(want, got.Steps); diff != "" {
		t.Error(diff)
	}
}

func TestEveryWriteTwiceBooksOnce(t *testing.T) {
	a := serving(t, pool)
	run := openRun()
	path := "/recordings/runs/" + run.ID
	step := rows(0, "restart", `{}`, `{}`)[0]
	end := recorder.Finish{Output: "done", FinishedAt: recordedAt}
	for _, status := range []int{http.StatusCreated, http.StatusOK} {
		a.call("POST", "/recordings/runs", run, status, nil)
		a.call("POST", path+"/steps", step, http.StatusCreated, nil)
		a.call("PATCH", path+"/steps/"+step.ID, `{"context":"why"}`, http.StatusOK, nil)
		a.call("PATCH", path, `{"input":"stop"}`, http.StatusOK, nil)
		a.call("POST", path+"/finish", end, http.StatusOK, nil)
	}
	run.Input = "something else"
	a.call("POST", "/recordings/runs", run, http.StatusOK, nil)

	var list runList
	a.call("GET", "/recordings/runs", nil, http.StatusOK, &list)
	if len(list.Runs) != 1 || list.Runs[0].StepCount != 1 || list.Runs[0].Input != "stop" {
		t.Errorf("%+v", list)
	}
	var got recorder.RunWithSteps
	a.call("GET", path, nil, http.StatusOK, &got)
	step.Context = "why"
	if diff := cmp.Diff([]recorder.Step{step}, got.Steps); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	a := serving(t, pool)
	a.call("POST", "/recordings/runs", `{"id":"run_1","new":{"deep":[1]},"metadata":{"colour":"red"}}`, http.StatusCreated, nil)
	a.call("POST", "/recordings/runs/run_1/steps", `{"id":"step_1","type":"final_answer","mood":"good"}`, http.StatusCreated, nil)
}

func TestBadValuesAreNamed(t *testing.T) {
	a := serving(t, pool)
	a.call("POST", "/recordings/runs", `{"id":"run_1"}`, http.StatusCreated, nil)
	for _, c := range []struct{ method, path, body, detail string }{
		{"POST", "/recordings/runs", ``, "id must be run_"},
		{"POST", "/recordings/runs", `{"id":"step_1"}`, "id must be run_"},
		{"POST", "/recordings/runs", `{"id":"run_../../x"}`, "id must be run_"},
		{"POST", "/recordings/runs", `{"id":"run_` + strings.Repeat("a", 65) + `"}`, "id must be run_"},
		{"POST", "/recordings/runs/run_1/steps", `{"id":"step_1","type":"dance"}`, "type must be"},
		{"POST", "/recordings/runs/run_1/steps", `{"id":"step_1","type":"final_answer","stepIndex":-1}`, "stepIndex"},
		{"POST", "/recordings/runs/run_1/steps", `{"id":"step_1","type":"tool_response","attempts":-1}`, "attempts"},
		{"POST", "/recordings/runs/run_1/steps", `{"id":"step_1","type":"tool_response","status":"O K"}`, "status"},
		{"POST", "/recordings/runs/run_1/finish", `{"usage":{"opus":{"outputTokens":-1}}}`, "usage"},
		{"PATCH", "/recordings/runs/run_1", `{}`, "input is missing"},
		{"GET", "/recordings/runs?limit=many", ``, "limit"},
		{"GET", "/recordings/runs?cursor=x", ``, "cursor"},
	} {
		if doc := a.refused(c.method, c.path, c.body, api.BadRequest); !strings.Contains(doc.Detail, c.detail) {
			t.Errorf("%s %s: %s", c.path, c.body, doc.Detail)
		}
	}
}

func TestStepPatchIsChecked(t *testing.T) {
	a := serving(t, pool)
	a.call("POST", "/recordings/runs", `{"id":"run_1"}`, http.StatusCreated, nil)
	a.call("POST", "/recordings/runs/run_1/steps", `{"id":"step_1","type":"final_answer","answer":"yes"}`, http.StatusCreated, nil)
	a.refused("PATCH", "/recordings/runs/run_1/steps/step_1", `{"type":"dance"}`, api.BadRequest)
	a.refused("PATCH", "/recordings/runs/run_1/steps/step_1", `{"answer":1}`, api.MalformedJSON)
	a.call("PATCH", "/recordings/runs/run_1/steps/step_1", `{"id":"step_2","stepIndex":4}`, http.StatusOK, nil)
	var got recorder.RunWithSteps
	a.call("GET", "/recordings/runs/run_1", nil, http.StatusOK, &got)
	want := recorder.Step{ID: "step_1", StepIndex: 4, Type: recorder.StepAnswer, Answer: "yes"}
	if diff := cmp.Diff([]recorder.Step{want}, got.Steps); diff != "" {
		t.Error(diff)
	}
}

func TestStepOfAnotherRunIsAConflict(t *testing.T) {
	a := serving(t, pool)
	for _, id := range []string{"run_1", "run_2"} {
		a.call("POST", "/recordings/runs", recorder.Run{ID: id}, http.StatusCreated, nil)
	}
	const step = `{"id":"step_1","type":"final_answer"}`
	a.call("POST", "/recordings/runs/run_1/steps", step, http.StatusCreated, nil)
	a.refused("POST", "/recordings/runs/run_2/steps", step, CodeIDTaken)
}

func TestListIsPagedAndSearched(t *testing.T) {
	a := serving(t, pool)
	for i := range 5 {
		run := openRun()
		run.ID, run.Input = fmt.Sprintf("run_%d", i), fmt.Sprintf("job %d", i)
		run.StartedAt = recordedAt.Add(time.Duration(i) * time.Second)
		a.call("POST", "/recordings/runs", run, http.StatusCreated, nil)
	}
	var got []string
	for next := ""; ; {
		var list runList
		a.call("GET", "/recordings/runs?limit=2&cursor="+next, nil, http.StatusOK, &list)
		for _, run := range list.Runs {
			got = append(got, run.ID)
		}
		if next = list.NextCursor; next == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"run_4", "run_3", "run_2", "run_1", "run_0"}, got); diff != "" {
		t.Error(diff)
	}
	var list runList
	a.call("GET", "/recordings/runs?q=JOB+3", nil, http.StatusOK, &list)
	if len(list.Runs) != 1 || list.Runs[0].ID != "run_3" {
		t.Errorf("%+v", list.Runs)
	}
	if _, data := a.send("GET", "/recordings/runs?q=nothing", nil); strings.TrimSpace(string(data)) != `{"runs":[]}` {
		t.Errorf("%s", data)
	}
}

func TestDeletedRunIsGone(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	a.call("DELETE", "/recordings/runs/"+scn.RunID, nil, http.StatusNoContent, nil)
	a.refused("GET", "/recordings/runs/"+scn.RunID, nil, api.NotFound)
	a.refused("GET", "/scenarios/"+scn.ID, nil, api.NotFound)
	a.refused("GET", "/scenarios/"+scn.ID+"/edits", nil, api.NotFound)
	a.refused("DELETE", "/recordings/runs/"+scn.RunID, nil, api.NotFound)
}

// TestManyRecordersAtOnce is the hammer: every recorder sends everything twice.
func TestManyRecordersAtOnce(t *testing.T) {
	const recorders, calls = 64, 4
	a := serving(t, pool)
	done := make(chan string, recorders)
	for range recorders {
		run := openRun()
		go func() { // ends with its last request; awaited below
			defer func() { done <- run.ID }()
			a.hammer(run, calls)
		}()
	}
	for range recorders {
		id := <-done
		var got recorder.RunWithSteps
		a.call("GET", "/recordings/runs/"+id, nil, http.StatusOK, &got)
		if got.Run.StepCount != 2*calls || got.Run.CallCount != calls || got.Run.State != recorder.StateFinished {
			t.Errorf("%+v", got.Run)
		}
	}
}

func (a caller) hammer(run recorder.Run, calls int) {
	path := "/recordings/runs/" + run.ID
	twice := func(path string, body any, statuses ...int) {
		for _, status := range statuses {
			if resp, data := a.send("POST", path, body); resp.StatusCode != status {
				a.Errorf("%s: %d %s", path, resp.StatusCode, data)
			}
		}
	}
	twice("/recordings/runs", run, http.StatusCreated, http.StatusOK)
	for i := range calls {
		for _, step := range rows(2*i, "restart", `{}`, `{}`) {
			twice(path+"/steps", step, http.StatusCreated, http.StatusCreated)
		}
	}
	twice(path+"/finish", recorder.Finish{FinishedAt: recordedAt}, http.StatusOK, http.StatusOK)
}
