// Package storetest is the contract of store.Store as tests. Every implementation
// runs it; a rule that only one database keeps does not belong here.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/store"
)

// start is when the first run of a test began. It is whole to the microsecond,
// which every database keeps.
var start = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

// Run runs the contract. open gives a new, empty store, and closes it when its
// test ends.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	suites := map[string]func(*testing.T, store.Store){
		"RunComesBackAsBooked":              testRunComesBack,
		"SameRunTwiceKeepsTheFirst":         testRunTwice,
		"RunsAreListedNewestFirst":          testListOrder,
		"PagesNeitherRepeatNorSkip":         testPages,
		"CursorOfElsewhereIsRefused":        testBadCursor,
		"SearchTakesTextLiterally":          testSearch,
		"InputCanBeReplaced":                testSetInput,
		"DeletedRunTakesEverythingAlong":    testDelete,
		"StepsComeBackInOrder":              testSteps,
		"SameStepTwiceIsBookedOnce":         testStepTwice,
		"StepOfAnotherRunIsRefused":         testStepOfOther,
		"StepsAreBookedAllOrNone":           testStepsTogether,
		"LongListIsBookedInPartsThatAreNew": testLongList,
		"StepNeedsItsRun":                   testStepWithoutRun,
		"StepChangeIsAllOrNothing":          testUpdateStep,
		"FirstFinishStays":                  testFinish,
		"LateStepIsKept":                    testLateStep,
		"CanceledContextWritesNothing":      testCanceled,
		"ManyWritersLoseNothing":            testManyWriters,
		"RunHasOneScenario":                 testOneScenario,
		"ScenariosAreListedNewestFirst":     testListScenarios,
		"EditNeedsItsRevision":              testStaleEdit,
		"SameEditTwiceIsBookedOnce":         testEditTwice,
		"OneOfManyEditsWins":                testRacingEdits,
		"HistoryIsNewestFirst":              testHistory,
		"ReplacingDropsTheHistory":          testReplace,
	}
	for name, test := range suites {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func sampleRun(n int) recorder.Run {
	return recorder.Run{
		ID:        recorder.NewID("run"),
		Framework: "mcp",
		Input:     fmt.Sprintf("restart pump %d", n),
		State:     recorder.StateOpen,
		StartedAt: start.Add(time.Duration(n) * time.Minute),
		Metadata: recorder.Metadata{
			Recorder:       "bir",
			Tier:           recorder.TierBound,
			Host:           recorder.App{App: "claude-code", Version: "2.1"},
			CWD:            "/home/ann/plant",
			WrappedServers: []string{"fleet"},
			Servers:        map[string]recorder.Server{"fleet": {Transport: "stdio", Command: []string{"fleetd", "-v"}}},
			SessionID:      "3f6c",
		},
	}
}

func sampleStep(index int) recorder.Step {
	return recorder.Step{
		ID:           recorder.NewID("step"),
		StepIndex:    index,
		Type:         recorder.StepResponse,
		CallID:       "toolu_1",
		ToolName:     "mcp__fleet__restart",
		ServerName:   "fleet",
		UpstreamTool: "restart",
		ToolInput:    `{"pump":7,"note":"größe\u2028"}`,
		ToolOutput:   `{"content":[{"type":"text","text":"ok"}]}`,
		ToolError:    "none",
		Context:      "the pump is stuck",
		Answer:       "done",
		Status:       recorder.StatusOK,
		StartedAt:    start,
		DurationMS:   1.25,
		AskedInput:   `{"pump":8}`,
		AgentID:      "a1b2",
		AgentType:    "Explore",
		Attempts:     2,
	}
}

func sampleScenario(runID string) engine.Scenario {
	return engine.Scenario{
		Version:       engine.FormatVersion,
		ID:            recorder.NewID("scn"),
		RunID:         runID,
		Intent:        "restart pump 7",
		State:         engine.StateReady,
		ChainRevision: 1,
		ParamsObject: map[string]engine.Param{
			"pump": {SampleValue: []byte("7"), Description: "the pump", Kind: engine.KindTarget, Type: "number"},
		},
		Steps: []engine.Step{{
			StepIndex: 1, ToolName: "mcp__fleet__restart", ServerName: "fleet", UpstreamTool: "restart",
			ToolInputLogic: "return {pump: params.pump}", ToolOutputLogic: "return {}",
			Provenance: engine.ProvenanceCalculated,
		}},
		Provenance: engine.ProvenanceCalculated,
		CreatedAt:  start,
		UpdatedAt:  start,
	}
}

// edited is s with another input logic, and the edit that leads there.
func edited(s engine.Scenario, logic string) (engine.Scenario, store.Edit) {
	next := s
	next.Steps = append([]engine.Step(nil), s.Steps...)
	next.Steps[0].ToolInputLogic = logic
	next.ChainRevision++
	next.UpdatedAt = s.UpdatedAt.Add(time.Second)
	return next, store.Edit{
		ID: recorder.NewID("sedit"), ScenarioID: s.ID, StepIndex: 1, Kind: store.EditChange,
		Before: store.LogicOf(s.Steps[0]), After: store.LogicOf(next.Steps[0]),
		Forced: true, Note: "on purpose", Problems: []string{"step 1 gave 8 for 7"},
		RevisionBefore: s.ChainRevision, RevisionAfter: next.ChainRevision, CreatedAt: next.UpdatedAt,
	}
}

func booked(t *testing.T, s store.Store) recorder.Run {
	t.Helper()
	run := sampleRun(0)
	create(t, s, run)
	return run
}

// create books a run that is new.
func create(t *testing.T, s store.Store, run recorder.Run) {
	t.Helper()
	created, err := s.CreateRun(t.Context(), run)
	must(t, err)
	if !created {
		t.Fatalf("%s is said to be there already", run.ID)
	}
}

func calculated(t *testing.T, s store.Store) engine.Scenario {
	t.Helper()
	scn := sampleScenario(booked(t, s).ID)
	must(t, s.CreateScenario(t.Context(), scn))
	return scn
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// together calls fn n times at once and returns what the calls gave.
func together(n int, fn func(i int) error) []error {
	gate := make(chan struct{})
	results := make(chan error, n)
	for i := range n {
		go func() { // ends with fn; every result is awaited below
			<-gate
			results <- fn(i)
		}()
	}
	close(gate)
	errs := make([]error, n)
	for i := range errs {
		errs[i] = <-results
	}
	return errs
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
