package service

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/enginetest"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/store"
)

// Changes of the recorded scenario's first step.
const (
	better   = `{"inputLogic":"const name = params.device; return { name };"}`
	wrong    = `{"inputLogic":"return { name: params.device + '!' };"}`
	copied   = `{"inputLogic":"return { name: 'P' + 7 };"}`
	throwing = `{"inputLogic":"throw new Error('no idea')"}`
	breaking = `{"outputLogic":"return { deviceId: JSON.parse(JSON.parse(toolOutput).content[0].text).name };"}`
)

// with adds fields to a change.
func with(change, fields string) string { return change[:len(change)-1] + "," + fields + "}" }

func (a caller) edits(scenarioID string) []store.Edit {
	a.Helper()
	var list struct{ Edits []store.Edit }
	a.call("GET", "/scenarios/"+scenarioID+"/edits", nil, http.StatusOK, &list)
	return list.Edits
}

func (a caller) scenario(id string) engine.Scenario {
	a.Helper()
	var scn engine.Scenario
	a.call("GET", "/scenarios/"+id, nil, http.StatusOK, &scn)
	return scn
}

// unchanged wants a scenario and its history as they were.
func (a caller) unchanged(scn engine.Scenario) {
	a.Helper()
	if diff := cmp.Diff(scn, a.scenario(scn.ID)); diff != "" {
		a.Error(diff)
	}
	if n := len(a.edits(scn.ID)); n != 0 {
		a.Errorf("%d edits were booked", n)
	}
}

func TestCheckShowsBothSidesAndWritesNothing(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	path := "/scenarios/" + scn.ID + "/steps/1/check"

	var good, bad, none CheckReport
	a.call("POST", path, better, http.StatusOK, &good)
	if !good.OK || good.NoChange || len(good.Steps) != 2 || good.ScenarioID != scn.ID || good.StepIndex != 1 || good.ChainRevision != 1 {
		t.Errorf("%+v", good)
	}
	a.call("POST", path, wrong, http.StatusOK, &bad)
	if bad.OK || string(bad.Steps[0].Expected) != `{"name":"P7"}` || string(bad.Steps[0].Computed) != `{"name":"P7!"}` {
		t.Errorf("%+v", bad)
	}
	a.call("POST", path, `{}`, http.StatusOK, &none)
	if !none.OK || !none.NoChange {
		t.Errorf("%+v", none)
	}
	a.unchanged(scn)
}

func TestEditThatReproducesIsSaved(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	var answer saved
	a.call("PATCH", "/scenarios/"+scn.ID+"/steps/1", with(better, `"note":"clearer","expectedRevision":1`), http.StatusOK, &answer)

	want := scn
	want.Steps = append([]engine.Step(nil), scn.Steps...)
	want.Steps[0].ToolInputLogic = "const name = params.device; return { name };"
	want.Steps[0].Provenance, want.Provenance = engine.ProvenanceEdited, engine.ProvenanceEdited
	want.ChainRevision = 2
	got := a.scenario(scn.ID)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(engine.Scenario{}, "UpdatedAt")); diff != "" {
		t.Error(diff)
	}
	edit := store.Edit{
		ID: answer.Edit.ID, ScenarioID: scn.ID, StepIndex: 1, Kind: store.EditChange, Note: "clearer",
		Before: store.LogicOf(scn.Steps[0]), After: store.LogicOf(want.Steps[0]),
		RevisionBefore: 1, RevisionAfter: 2, CreatedAt: got.UpdatedAt,
	}
	if diff := cmp.Diff([]store.Edit{edit}, a.edits(scn.ID)); diff != "" {
		t.Error(diff)
	}
	if answer.ChainRevision != 2 || !answer.Report.OK || answer.Step != want.Steps[0] {
		t.Errorf("%+v", answer)
	}
}

func TestEditThatDoesNotReproduceIsRefused(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	for name, c := range map[string]struct {
		change string
		copied bool
		step   int // the step that does not reproduce
	}{
		"wrong input":         {wrong, false, 1},
		"throws":              {throwing, false, 1},
		"copy":                {copied, true, 0},
		"breaks a later step": {breaking, false, 2},
		"no body":             {`{"inputLogic":""}`, false, 1},
	} {
		doc := a.refused("PATCH", "/scenarios/"+scn.ID+"/steps/1", c.change, CodeCheckFailed)
		if doc.Report == nil || doc.Report.OK || doc.Report.Copy != c.copied || doc.Detail == "" {
			t.Fatalf("%s: %+v", name, doc)
		}
		for _, step := range doc.Report.Steps {
			if step.OK == (step.StepIndex == c.step) {
				t.Errorf("%s: %+v", name, step)
			}
		}
	}
	a.unchanged(scn)
}

func TestForcedEditIsMarkedAsForced(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	path := "/scenarios/" + scn.ID + "/steps/1"
	a.refused("PATCH", path, with(wrong, `"force":true`), CodeNoteRequired)
	a.refused("PATCH", path, with(wrong, `"force":true,"note":"  "`), CodeNoteRequired)
	a.unchanged(scn)

	var answer saved
	a.call("PATCH", path, with(wrong, `"force":true,"note":"names have a mark now"`), http.StatusOK, &answer)
	if answer.Report.OK || !answer.Edit.Forced || len(answer.Edit.Problems) == 0 ||
		answer.Step.Provenance != engine.ProvenanceForced || answer.Step.Note != "names have a mark now" {
		t.Errorf("%+v", answer)
	}
	got := a.scenario(scn.ID)
	if got.Provenance != engine.ProvenanceForced || got.State != engine.StateReady {
		t.Errorf("%s, %s", got.Provenance, got.State)
	}

	var proved saved // force says "even if", and here it was not needed
	a.call("PATCH", path, with(better, `"force":true,"note":"back"`), http.StatusOK, &proved)
	if proved.Edit.Forced || proved.Step.Provenance != engine.ProvenanceEdited || proved.Step.Note != "" {
		t.Errorf("%+v", proved)
	}
}

func TestNothingToChangeIsRefused(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	path := "/scenarios/" + scn.ID + "/steps/1"
	same, err := json.Marshal(map[string]string{"inputLogic": scn.Steps[0].ToolInputLogic})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{``, `{}`, `{"unfreeze":true}`, string(same)} {
		a.refused("PATCH", path, body, CodeNothingToChange)
	}
	a.refused("PATCH", path, `{"freeze":true,"unfreeze":true}`, api.BadRequest)
	a.refused("PATCH", path, with(better, `"id":"run_1"`), api.BadRequest)
	for _, step := range []string{"0", "3", "-1", "x"} {
		a.refused("PATCH", "/scenarios/"+scn.ID+"/steps/"+step, better, api.NotFound)
	}
	a.unchanged(scn)
}

func TestLostUpdateIsRefused(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	const editors = 8
	statuses := make(chan int, editors)
	for i := range editors {
		go func() { // ends with its request; awaited below
			body := with(fmt.Sprintf(`{"inputLogic":"return { name: params.device }; // %d"}`, i), `"expectedRevision":1`)
			resp, _ := a.send("PATCH", "/scenarios/"+scn.ID+"/steps/1", body)
			statuses <- resp.StatusCode
		}()
	}
	count := map[int]int{}
	for range editors {
		count[<-statuses]++
	}
	if diff := cmp.Diff(map[int]int{http.StatusOK: 1, http.StatusConflict: editors - 1}, count); diff != "" {
		t.Error(diff)
	}
	a.refused("PATCH", "/scenarios/"+scn.ID+"/steps/2", `{"freeze":true,"expectedRevision":1}`, CodeStaleRevision)
	if got := a.scenario(scn.ID); got.ChainRevision != 2 || len(a.edits(scn.ID)) != 1 {
		t.Errorf("revision %d", got.ChainRevision)
	}
}

func TestEditSentTwiceIsBookedOnce(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	body := with(better, `"id":"`+recorder.NewID("sedit")+`","expectedRevision":1`)
	var first, second saved
	a.call("PATCH", "/scenarios/"+scn.ID+"/steps/1", body, http.StatusOK, &first)
	a.call("PATCH", "/scenarios/"+scn.ID+"/steps/1", body, http.StatusOK, &second)
	second.Report = first.Report // the retry checks nothing
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	if n := len(a.edits(scn.ID)); n != 1 {
		t.Errorf("%d edits", n)
	}
	other := a.calculated()
	a.refused("PATCH", "/scenarios/"+other.ID+"/steps/1", body, CodeIDTaken)
	a.unchanged(other)
}

func TestWithoutASandboxNothingIsSaved(t *testing.T) {
	st, err := at(t.TempDir())(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scn := servingOn(t, st, pool).calculated()
	broken := servingOn(t, st, noEvaluator{})
	forced := with(better, `"force":true,"note":"please"`)
	broken.refused("PATCH", "/scenarios/"+scn.ID+"/steps/1", forced, CodeSandboxUnavailable)
	broken.refused("POST", "/scenarios/"+scn.ID+"/steps/1/check", better, CodeSandboxUnavailable)
	broken.unchanged(scn)
}

func TestHandMadeMarkIsLiftedOnlyWhenAsked(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	path := "/scenarios/" + scn.ID + "/steps/1"
	patch := func(body string) engine.Step {
		var answer saved
		a.call("PATCH", path, body, http.StatusOK, &answer)
		return answer.Step
	}
	if step := patch(`{"freeze":true}`); !step.Frozen || step.FrozenReason != FrozenByHand {
		t.Errorf("%+v", step)
	}
	a.refused("PATCH", path, `{"freeze":true}`, CodeNothingToChange)
	for _, body := range []string{better, with(wrong, `"force":true,"note":"x"`)} {
		if step := patch(body); !step.Frozen {
			t.Errorf("%s lifted the mark", body)
		}
	}
	if step := patch(with(better, `"unfreeze":true`)); step.Frozen || step.FrozenReason != "" {
		t.Errorf("%+v", step)
	}
}

// TestMarkOfTheCalculationNeedsAComputedInput records a text that only the model
// knew, which is frozen, beside a value that is explained.
func TestMarkOfTheCalculationNeedsAComputedInput(t *testing.T) {
	const prose = "Checked everything by ear; nothing rattles any more, so tomorrow somebody else may look at it once again."
	a := serving(t, pool)
	run := openRun()
	a.call("POST", "/recordings/runs", run, http.StatusCreated, nil)
	steps := append(
		rows(0, "find_device", `{"name":"P7"}`, enginetest.TextResult(`{"id":"dev-41"}`)),
		rows(2, "restart", `{"note":"`+prose+`"}`, enginetest.TextResult(`{"ok":true}`))...)
	for _, step := range steps {
		a.call("POST", "/recordings/runs/"+run.ID+"/steps", step, http.StatusCreated, nil)
	}
	var scn engine.Scenario
	a.call("POST", "/recordings/runs/"+run.ID+"/calculate", nil, http.StatusOK, &scn)
	if !scn.Steps[1].Frozen {
		t.Fatalf("step 2 is not frozen: %+v", scn.Steps[1])
	}
	path := "/scenarios/" + scn.ID + "/steps/2"
	rewritten := `{"inputLogic":"const note = '` + prose + `'; return { note };"}`
	for _, body := range []string{`{"unfreeze":true}`, rewritten} {
		if doc := a.refused("PATCH", path, body, CodeCheckFailed); doc.Report == nil || !doc.Report.Copy {
			t.Errorf("%s: %+v", body, doc)
		}
	}
	a.unchanged(scn)

	computed := `{"inputLogic":"return { note: params.device === 'P7' ? '` + prose + `' : params.device };"}`
	var answer saved
	a.call("PATCH", path, computed, http.StatusOK, &answer)
	if answer.Step.Frozen || answer.Step.FrozenReason != "" {
		t.Errorf("%+v", answer.Step)
	}
}

func TestScenarioThatComputesNothingIsNotReady(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	a.edit(scn.ID, "1", `{"freeze":true}`)
	if got := a.scenario(scn.ID); got.State != engine.StateReady {
		t.Errorf("%s with a step left: %s", got.State, got.Problem)
	}
	a.edit(scn.ID, "2", `{"freeze":true}`)
	if got := a.scenario(scn.ID); got.State != engine.StateFailed || got.Problem == "" {
		t.Errorf("%s with every step frozen", got.State)
	}
	a.undo(scn.ID, "latest")
	if got := a.scenario(scn.ID); got.State != engine.StateReady || got.Problem != "" {
		t.Errorf("%s after the undo: %s", got.State, got.Problem)
	}
}
