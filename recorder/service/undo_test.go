package service

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/store"
)

const deeper = `{"inputLogic":"const { device } = params; return { name: device };"}`

// handsOnMore lets the first step hand on one value more.
const handsOnMore = `{"outputLogic":"const data = JSON.parse(JSON.parse(toolOutput).content[0].text); return { deviceId: data.id, again: data.id };"}`

func (a caller) edit(scenarioID string, step string, body string) store.Edit {
	a.Helper()
	var answer saved
	a.call("PATCH", "/scenarios/"+scenarioID+"/steps/"+step, body, http.StatusOK, &answer)
	return answer.Edit
}

func (a caller) undo(scenarioID, edit string) saved {
	a.Helper()
	var answer saved
	a.call("POST", "/scenarios/"+scenarioID+"/edits/"+edit+"/revert", nil, http.StatusOK, &answer)
	return answer
}

func TestUndoWalksBack(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	first := a.edit(scn.ID, "1", better)
	frozen := a.edit(scn.ID, "2", `{"freeze":true}`)
	second := a.edit(scn.ID, "1", deeper)

	for _, want := range []store.Edit{second, frozen, first} {
		got := a.undo(scn.ID, "latest")
		if got.Edit.Kind != store.EditUndo || got.Edit.Reverts != want.ID || store.LogicOf(got.Step) != want.Before {
			t.Errorf("undo of %s gave %+v", want.ID, got)
		}
	}
	a.refused("POST", "/scenarios/"+scn.ID+"/edits/latest/revert", nil, CodeUndoRefused)

	got := a.scenario(scn.ID)
	if got.ChainRevision != 7 || got.Provenance != engine.ProvenanceCalculated {
		t.Errorf("revision %d, %s", got.ChainRevision, got.Provenance)
	}
	if diff := cmp.Diff(scn.Steps, got.Steps); diff != "" {
		t.Error(diff)
	}
}

func TestUndoOfOneStepLeavesTheOthers(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	first := a.edit(scn.ID, "1", better)
	a.edit(scn.ID, "2", `{"freeze":true}`)
	if got := a.undo(scn.ID, "latest/revert?step=1&x="); got.Edit.Reverts != first.ID {
		t.Errorf("%+v", got.Edit)
	}
	path := "/scenarios/" + scn.ID + "/edits/"
	a.refused("POST", path+"latest/revert?step=1", nil, CodeUndoRefused)
	a.refused("POST", path+"latest/revert?step=x", nil, api.BadRequest)
	a.refused("POST", path+first.ID+"/revert?step=1", nil, api.BadRequest)
}

func TestUndoneEditIsRedoneByUndoingTheUndo(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	edit := a.edit(scn.ID, "1", better)
	undo := a.undo(scn.ID, edit.ID).Edit
	path := "/scenarios/" + scn.ID + "/edits/"
	a.refused("POST", path+edit.ID+"/revert", nil, CodeUndoRefused) // undone already

	redo := a.undo(scn.ID, undo.ID)
	if store.LogicOf(redo.Step) != edit.After {
		t.Errorf("%+v", redo.Step)
	}
	history := a.edits(scn.ID)
	if len(history) != 3 || history[0].ID != redo.Edit.ID || history[1].RevertedBy != redo.Edit.ID || history[2].RevertedBy != "" {
		t.Errorf("%+v", history)
	}
	if again := a.undo(scn.ID, "latest"); again.Edit.Reverts != edit.ID {
		t.Errorf("%+v", again.Edit)
	}
}

func TestUndoOutOfOrderIsRefused(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	first := a.edit(scn.ID, "1", better)
	a.edit(scn.ID, "1", deeper)
	path := "/scenarios/" + scn.ID + "/edits/"
	a.refused("POST", path+first.ID+"/revert", `{"force":true,"note":"please"}`, CodeUndoRefused)
	a.refused("POST", path+"sedit_none/revert", nil, api.NotFound)
	a.refused("POST", path+"latest/revert", `{"expectedRevision":1}`, CodeStaleRevision)
	if n := len(a.edits(scn.ID)); n != 2 {
		t.Errorf("%d edits", n)
	}
}

// TestUndoThatBreaksLaterStepsIsRefused: step 2 comes to rely on what an edit of
// step 1 hands on, so that taking the edit back would break it.
func TestUndoThatBreaksLaterStepsIsRefused(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	edit := a.edit(scn.ID, "1", handsOnMore)
	a.edit(scn.ID, "2", `{"inputLogic":"if (!respParams.again) throw new Error('gone'); return { id: respParams.again };"}`)

	path := "/scenarios/" + scn.ID + "/edits/" + edit.ID + "/revert"
	doc := a.refused("POST", path, nil, CodeUndoRefused)
	if doc.Report == nil || len(doc.Report.Problems) != 1 || len(doc.Report.Steps) != 2 || doc.Report.Steps[1].OK {
		t.Fatalf("%+v", doc)
	}
	a.refused("POST", path, `{"force":true}`, CodeNoteRequired)

	var answer saved
	a.call("POST", path, `{"force":true,"note":"step 2 is next"}`, http.StatusOK, &answer)
	if !answer.Edit.Forced || answer.Step.Provenance != engine.ProvenanceForced || answer.Step.ToolOutputLogic != scn.Steps[0].ToolOutputLogic {
		t.Errorf("%+v", answer)
	}
}

func TestUndoOfAForcedEditNeedsNoForce(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	a.edit(scn.ID, "1", with(breaking, `"force":true,"note":"try"`))
	if got := a.undo(scn.ID, "latest"); got.Edit.Forced || got.Step != scn.Steps[0] {
		t.Errorf("%+v", got)
	}
}

func TestUndoSentTwiceIsBookedOnce(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	a.edit(scn.ID, "1", better)
	a.edit(scn.ID, "1", deeper)
	body := `{"id":"` + recorder.NewID("sedit") + `"}`
	for range 2 {
		a.call("POST", "/scenarios/"+scn.ID+"/edits/latest/revert", body, http.StatusOK, nil)
	}
	if n := len(a.edits(scn.ID)); n != 3 {
		t.Errorf("%d edits", n)
	}
}

func TestUndoIsNotBlamedForWhatIsBrokenAlready(t *testing.T) {
	a := serving(t, pool)
	scn := a.calculated()
	edit := a.edit(scn.ID, "1", handsOnMore)
	a.edit(scn.ID, "2", `{"inputLogic":"return { id: respParams.deviceId + '-b' };","force":true,"note":"new ids"}`)
	if got := a.undo(scn.ID, edit.ID); got.Edit.Forced || got.Step != scn.Steps[0] {
		t.Errorf("%+v", got)
	}
}
