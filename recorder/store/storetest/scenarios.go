package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder/store"
)

func testOneScenario(t *testing.T, s store.Store) {
	want := calculated(t, s)
	wantErr(t, s.CreateScenario(t.Context(), sampleScenario(want.RunID)), store.ErrExists)
	wantErr(t, s.CreateScenario(t.Context(), sampleScenario("run_none")), store.ErrNotFound)

	for name, read := range map[string]func() (engine.Scenario, error){
		"by id":  func() (engine.Scenario, error) { return s.Scenario(t.Context(), want.ID) },
		"by run": func() (engine.Scenario, error) { return s.ScenarioOfRun(t.Context(), want.RunID) },
	} {
		got, err := read()
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	run, err := s.Run(t.Context(), want.RunID)
	must(t, err)
	if run.Run.ScenarioID != want.ID {
		t.Errorf("the run names scenario %q", run.Run.ScenarioID)
	}
	_, err = s.Scenario(t.Context(), "scn_none")
	wantErr(t, err, store.ErrNotFound)
	_, err = s.ScenarioOfRun(t.Context(), "run_none")
	wantErr(t, err, store.ErrNotFound)
}

func testListScenarios(t *testing.T, s store.Store) {
	none, err := s.ListScenarios(t.Context())
	must(t, err)
	if none == nil || len(none) != 0 {
		t.Errorf("an empty store lists %v", none)
	}
	older, newer := calculated(t, s), calculated(t, s)
	next, edit := edited(older, "return {}") // the change makes it the newest
	must(t, s.SaveEdit(t.Context(), next, edit))
	got, err := s.ListScenarios(t.Context())
	must(t, err)
	if diff := cmp.Diff([]engine.Scenario{next, newer}, got); diff != "" {
		t.Error(diff)
	}
}

func testStaleEdit(t *testing.T, s store.Store) {
	scn := calculated(t, s)
	next, edit := edited(scn, "return {a: 1}")
	must(t, s.SaveEdit(t.Context(), next, edit))

	late, lateEdit := edited(scn, "return {b: 2}")
	wantErr(t, s.SaveEdit(t.Context(), late, lateEdit), store.ErrStale)
	wantErr(t, s.ReplaceScenario(t.Context(), late, scn.ChainRevision), store.ErrStale)

	got, err := s.Scenario(t.Context(), scn.ID)
	must(t, err)
	if diff := cmp.Diff(next, got); diff != "" {
		t.Error(diff)
	}
	wantHistory(t, s, scn.ID, edit)

	gone, goneEdit := edited(sampleScenario(scn.RunID), "return {}")
	wantErr(t, s.SaveEdit(t.Context(), gone, goneEdit), store.ErrNotFound)
}

func testEditTwice(t *testing.T, s store.Store) {
	scn := calculated(t, s)
	next, edit := edited(scn, "return {a: 1}")
	must(t, s.SaveEdit(t.Context(), next, edit))
	wantErr(t, s.SaveEdit(t.Context(), next, edit), store.ErrExists)
	wantHistory(t, s, scn.ID, edit)
}

func testRacingEdits(t *testing.T, s store.Store) {
	const editors = 16
	scn := calculated(t, s)
	won := 0
	for _, err := range together(editors, func(i int) error {
		next, edit := edited(scn, fmt.Sprintf("return {a: %d}", i))
		return s.SaveEdit(t.Context(), next, edit)
	}) {
		if err == nil {
			won++
		} else if !errors.Is(err, store.ErrStale) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d edits of one revision were saved", won)
	}
	history, err := s.Edits(t.Context(), scn.ID)
	must(t, err)
	got, err := s.Scenario(t.Context(), scn.ID)
	must(t, err)
	if len(history) != 1 || history[0].After.ToolInputLogic != got.Steps[0].ToolInputLogic {
		t.Errorf("history %+v does not lead to %+v", history, got.Steps[0])
	}
}

func testHistory(t *testing.T, s store.Store) {
	scn := calculated(t, s)
	wantHistory(t, s, scn.ID)

	one, first := edited(scn, "return {a: 1}")
	must(t, s.SaveEdit(t.Context(), one, first))
	two, undo := edited(one, scn.Steps[0].ToolInputLogic)
	undo.Kind, undo.Reverts = store.EditUndo, first.ID
	must(t, s.SaveEdit(t.Context(), two, undo))
	first.RevertedBy = undo.ID
	wantHistory(t, s, scn.ID, undo, first)

	three, redo := edited(two, "return {a: 1}")
	redo.Kind, redo.Reverts = store.EditUndo, undo.ID
	must(t, s.SaveEdit(t.Context(), three, redo))
	undo.RevertedBy, first.RevertedBy = redo.ID, "" // the change holds again
	wantHistory(t, s, scn.ID, redo, undo, first)

	_, err := s.Edits(t.Context(), "scn_none")
	wantErr(t, err, store.ErrNotFound)
}

func testReplace(t *testing.T, s store.Store) {
	scn := calculated(t, s)
	next, edit := edited(scn, "return {a: 1}")
	must(t, s.SaveEdit(t.Context(), next, edit))

	fresh := sampleScenario(scn.RunID)
	fresh.ID, fresh.ChainRevision, fresh.UpdatedAt = scn.ID, next.ChainRevision+1, start.Add(time.Hour)
	must(t, s.ReplaceScenario(t.Context(), fresh, next.ChainRevision))
	got, err := s.Scenario(t.Context(), scn.ID)
	must(t, err)
	if diff := cmp.Diff(fresh, got); diff != "" {
		t.Error(diff)
	}
	wantHistory(t, s, scn.ID)
}

func wantHistory(t *testing.T, s store.Store, scenarioID string, want ...store.Edit) {
	t.Helper()
	got, err := s.Edits(t.Context(), scenarioID)
	must(t, err)
	if diff := cmp.Diff(append([]store.Edit{}, want...), got); diff != "" {
		t.Error(diff)
	}
}
