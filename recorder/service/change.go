package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder/api"
)

// FrozenByHand is the reason of a step that its owner froze. Only its owner
// takes it back; a saved body lifts the mark that a calculation set.
const FrozenByHand = "frozen by hand"

// consent is what edits and undos have in common in their bodies.
type consent struct {
	ID               string `json:"id"` // of the edit; made here when empty
	Force            bool   `json:"force"`
	Note             string `json:"note"`
	ExpectedRevision *int   `json:"expectedRevision"`
}

func (c consent) validate() error {
	if c.Force && strings.TrimSpace(c.Note) == "" {
		return api.Refuse(CodeNoteRequired, "")
	}
	if c.ID != "" {
		return checkID(c.ID, "sedit")
	}
	return nil
}

// expects guards against a change made from what is no longer there.
func (c consent) expects(scn engine.Scenario) error {
	if c.ExpectedRevision != nil && *c.ExpectedRevision != scn.ChainRevision {
		return api.Refuse(CodeStaleRevision,
			fmt.Sprintf("the scenario is at revision %d, not %d", scn.ChainRevision, *c.ExpectedRevision))
	}
	return nil
}

// change is the body of a check and of an edit.
type change struct {
	consent
	InputLogic  *string `json:"inputLogic"`
	OutputLogic *string `json:"outputLogic"`
	Freeze      bool    `json:"freeze"`
	Unfreeze    bool    `json:"unfreeze"`
}

func (c change) validate() error {
	if c.Freeze && c.Unfreeze {
		return api.Refuse(api.BadRequest, "freeze and unfreeze exclude each other")
	}
	return c.consent.validate()
}

// apply puts the change into a step.
func (c change) apply(step engine.Step) engine.Step {
	next := step
	if c.InputLogic != nil {
		next.ToolInputLogic = *c.InputLogic
	}
	if c.OutputLogic != nil {
		next.ToolOutputLogic = *c.OutputLogic
	}
	switch {
	case c.Freeze && !step.Frozen:
		next.Frozen, next.FrozenReason = true, FrozenByHand
	case c.Unfreeze, !c.Freeze && lifts(step, next):
		next.Frozen, next.FrozenReason = false, ""
	}
	return next
}

// lifts says that a new input body takes away the mark which said that there was
// none.
func lifts(before, after engine.Step) bool {
	return frozenByCalculation(before) && before.ToolInputLogic != after.ToolInputLogic
}

func frozenByCalculation(step engine.Step) bool {
	return step.Frozen && step.FrozenReason != FrozenByHand
}

// withStep is scn with another step, one revision on. The steps are copied: scn
// stays as it was read.
func withStep(scn engine.Scenario, at int, step engine.Step) engine.Scenario {
	next := scn
	next.Steps = slices.Clone(scn.Steps)
	next.Steps[at] = step
	next.ChainRevision++
	next.Provenance = provenanceOf(next.Steps)
	return next
}

// provenanceOf a scenario is that of its least proved step.
func provenanceOf(steps []engine.Step) engine.Provenance {
	found := engine.ProvenanceCalculated
	for _, step := range steps {
		switch step.Provenance {
		case engine.ProvenanceForced:
			return engine.ProvenanceForced
		case engine.ProvenanceEdited:
			found = engine.ProvenanceEdited
		}
	}
	return found
}

// mark says on the step where its logic comes from now.
func mark(step *engine.Step, forced bool, note string) {
	step.Provenance, step.Note = engine.ProvenanceEdited, ""
	if forced {
		step.Provenance, step.Note = engine.ProvenanceForced, note
	}
}
