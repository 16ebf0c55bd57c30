package service

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/sandbox"
)

// noEvaluator is a sandbox that cannot be started.
type noEvaluator struct{}

func (noEvaluator) Eval(context.Context, sandbox.Body, sandbox.Args) (sandbox.Result, error) {
	return sandbox.Result{}, &sandbox.Error{Type: sandbox.TypeSandbox, Message: "no worker could be started"}
}

func TestRunIsCalculatedOnce(t *testing.T) {
	a := serving(t, pool)
	run := a.record()
	a.refused("GET", "/recordings/runs/"+run.ID+"/scenario", nil, api.NotFound)

	var first, again, ofRun, byID engine.Scenario
	a.call("POST", "/recordings/runs/"+run.ID+"/calculate", nil, http.StatusOK, &first)
	if first.State != engine.StateReady || first.RunID != run.ID || first.ChainRevision != 1 || first.CreatedAt.IsZero() {
		t.Errorf("%+v", first)
	}
	a.call("POST", "/recordings/runs/"+run.ID+"/calculate", nil, http.StatusOK, &again)
	a.call("GET", "/recordings/runs/"+run.ID+"/scenario", nil, http.StatusOK, &ofRun)
	a.call("GET", "/scenarios/"+first.ID, nil, http.StatusOK, &byID)
	for _, got := range []engine.Scenario{again, ofRun, byID} {
		if diff := cmp.Diff(first, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestCalculatingAtOnceGivesOneScenario(t *testing.T) {
	const callers = 8
	a := serving(t, pool)
	run := a.record()
	ids := make(chan string, callers)
	for range callers {
		go func() { // ends with its request; awaited below
			_, data := a.send("POST", "/recordings/runs/"+run.ID+"/calculate", nil)
			_, rest, _ := strings.Cut(string(data), `"id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			ids <- id
		}()
	}
	first := <-ids
	for range callers - 1 {
		if id := <-ids; id != first || id == "" {
			t.Errorf("%q beside %q", id, first)
		}
	}
}

func TestForcedCalculationKeepsTheID(t *testing.T) {
	a := serving(t, pool)
	first := a.calculated()
	var second engine.Scenario
	a.call("POST", "/recordings/runs/"+first.RunID+"/calculate?force=1", nil, http.StatusOK, &second)
	if second.ChainRevision != 2 {
		t.Errorf("revision %d", second.ChainRevision)
	}
	second.ChainRevision, second.UpdatedAt = first.ChainRevision, first.UpdatedAt
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}

func TestCalculationNeverWipesOutEditsUnasked(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	path := "/recordings/runs/" + scn.RunID + "/calculate?force=1"
	a.call("PATCH", "/scenarios/"+scn.ID+"/steps/1", better, http.StatusOK, nil)
	a.refused("POST", path, nil, CodeScenarioHasEdits)

	a.call("POST", "/scenarios/"+scn.ID+"/edits/latest/revert", nil, http.StatusOK, nil)
	a.call("POST", path, nil, http.StatusOK, nil) // undone: nothing is lost

	a.call("PATCH", "/scenarios/"+scn.ID+"/steps/1", better, http.StatusOK, nil)
	var fresh engine.Scenario
	a.call("POST", path+"&discardEdits=1", nil, http.StatusOK, &fresh)
	if diff := cmp.Diff(scn.Steps, fresh.Steps); diff != "" {
		t.Error(diff)
	}
	if left := a.edits(scn.ID); len(left) != 0 {
		t.Errorf("%d edits are left", len(left))
	}
}

func TestNothingToCalculateSaysSo(t *testing.T) {
	a := serving(t, pool)
	a.call("POST", "/recordings/runs", `{"id":"run_1","input":"hello"}`, http.StatusCreated, nil)
	a.refused("POST", "/recordings/runs/run_1/calculate", nil, CodeNothingToCalculate)
	a.refused("POST", "/recordings/runs/run_2/calculate", nil, api.NotFound)
}

func TestWithoutASandboxNothingIsCalculated(t *testing.T) {
	a := serving(t, noEvaluator{})
	run := a.record()
	a.refused("POST", "/recordings/runs/"+run.ID+"/calculate", nil, CodeSandboxUnavailable)
	a.refused("GET", "/recordings/runs/"+run.ID+"/scenario", nil, api.NotFound)
}

func TestScenariosAreSummarized(t *testing.T) {
	a := serving(t, pool)
	if _, data := a.send("GET", "/scenarios", nil); strings.TrimSpace(string(data)) != `{"scenarios":[]}` {
		t.Errorf("%s", data)
	}
	scn := a.calculated()
	a.call("PATCH", "/scenarios/"+scn.ID+"/steps/2", `{"freeze":true}`, http.StatusOK, nil)
	var list struct{ Scenarios []Summary }
	a.call("GET", "/scenarios", nil, http.StatusOK, &list)
	want := Summary{
		ID: scn.ID, RunID: scn.RunID, Intent: scn.Intent, State: engine.StateReady, Provenance: engine.ProvenanceEdited,
		StepCount: 2, FrozenCount: 1, ChainRevision: 2, CreatedAt: scn.CreatedAt, UpdatedAt: list.Scenarios[0].UpdatedAt,
	}
	if diff := cmp.Diff([]Summary{want}, list.Scenarios); diff != "" {
		t.Error(diff)
	}
	var run recorder.RunWithSteps
	a.call("GET", "/recordings/runs/"+scn.RunID, nil, http.StatusOK, &run)
	if run.Run.ScenarioID != scn.ID {
		t.Errorf("the run names %q", run.Run.ScenarioID)
	}
}
