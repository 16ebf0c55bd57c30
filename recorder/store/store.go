// Package store says what the service needs of a database: runs, steps,
// scenarios and the edits made to them. It holds no SQL; its children sqlite and
// postgres do, and storetest is the contract that both must pass.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder"
)

// What a caller branches on. Every method may also return an error that is none
// of these, and then nothing was written.
var (
	// ErrNotFound says that the run, step or scenario is not there.
	ErrNotFound = errors.New("not found")
	// ErrExists says that the id is taken by a row of another run, or that the run
	// has a scenario already.
	ErrExists = errors.New("already exists")
	// ErrStale says that the scenario has moved on from the expected revision.
	ErrStale = errors.New("the scenario was changed meanwhile")
	// ErrFull says that there is no room left for the write.
	ErrFull = errors.New("no space left for the store")
	// ErrDamaged says that the database cannot be read as one.
	ErrDamaged = errors.New("the database is damaged")
	// ErrNewer says that a newer version of bir wrote the database.
	ErrNewer = errors.New("the database was written by a newer version of bir")
	// ErrCursor says that a cursor did not come from ListRuns.
	ErrCursor = errors.New("not a cursor of this list")
)

// Store keeps everything the service knows. A method either did all of its work
// or none of it, whatever ends the process meanwhile.
type Store interface {
	Runs
	Scenarios
	// Close waits for writes under way and releases the database.
	Close() error
}

// Runs keeps recordings. Writes are idempotent by id: the second time changes
// nothing and is no error.
type Runs interface {
	// CreateRun books an open run and says whether it is new. A second run under the
	// same id is ignored, even when it differs: what was recorded first stays.
	CreateRun(ctx context.Context, run recorder.Run) (created bool, err error)
	// ListRuns lists newest first.
	ListRuns(ctx context.Context, q RunQuery) (RunPage, error)
	// Run reads a run and its steps as of one moment.
	Run(ctx context.Context, id string) (recorder.RunWithSteps, error)
	// SetInput replaces the prompt of a run.
	SetInput(ctx context.Context, runID, input string) error
	// DeleteRun removes a run with its steps, its scenario and the edits of that.
	DeleteRun(ctx context.Context, id string) error

	// AddSteps books steps, all or none, also on a finished run: an import or a late
	// retry may bring some. ErrExists when an id belongs to a step of another run.
	AddSteps(ctx context.Context, runID string, steps ...recorder.Step) error
	// UpdateStep applies change to a stored step; its id stays. An error of change
	// is returned as it is and nothing is written.
	UpdateStep(ctx context.Context, runID, stepID string, change func(*recorder.Step) error) error
	// FinishRun closes a run. The first end stays, but lossy, once true, is kept:
	// a partial trace must never look complete.
	FinishRun(ctx context.Context, runID string, end recorder.Finish) error
}

// Scenarios keeps one scenario a run, and its history. A change is written only
// over the revision that it was made from.
type Scenarios interface {
	// CreateScenario stores the first scenario of a run. ErrExists when it has one.
	CreateScenario(ctx context.Context, s engine.Scenario) error
	// ReplaceScenario puts s in place of the scenario with its id and drops the
	// history, which belonged to the old one. ErrStale unless the stored revision
	// is expected.
	ReplaceScenario(ctx context.Context, s engine.Scenario, expected int) error
	// ListScenarios lists newest change first.
	ListScenarios(ctx context.Context) ([]engine.Scenario, error)
	// Scenario reads one scenario.
	Scenario(ctx context.Context, id string) (engine.Scenario, error)
	// ScenarioOfRun reads the scenario of a run. ErrNotFound when either is missing.
	ScenarioOfRun(ctx context.Context, runID string) (engine.Scenario, error)
	// SaveEdit stores s with the edit that led to it. ErrStale unless the stored
	// revision is e.RevisionBefore; ErrExists when the edit is booked already.
	SaveEdit(ctx context.Context, s engine.Scenario, e Edit) error
	// Edits lists the history of a scenario, newest first.
	Edits(ctx context.Context, scenarioID string) ([]Edit, error)
}

// RunQuery selects runs. The zero value is the newest page of all.
type RunQuery struct {
	Text   string // part of the prompt, the folder or a tool's name, or the whole id
	Cursor string // RunPage.NextCursor of the page before
	Limit  int    // DefaultLimit when not positive, at most MaxLimit
}

// The bounds of RunQuery.Limit.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Bounded is the limit that applies.
func (q RunQuery) Bounded() int {
	if q.Limit <= 0 {
		return DefaultLimit
	}
	return min(q.Limit, MaxLimit)
}

// RunPage is one page of runs.
type RunPage struct {
	Runs       []recorder.Run
	NextCursor string // empty on the last page
}

// EditKind tells a change from the undoing of one.
type EditKind string

// The kinds of Edit.
const (
	EditChange EditKind = "edit"
	EditUndo   EditKind = "undo"
)

// Edit is one saved change of one step. Edits are only ever added.
type Edit struct {
	ID             string    `json:"id"` // "sedit_" and a UUIDv7
	ScenarioID     string    `json:"scenarioId"`
	StepIndex      int       `json:"stepIndex"`
	Kind           EditKind  `json:"kind"`
	Before         StepLogic `json:"before"`
	After          StepLogic `json:"after"`
	Forced         bool      `json:"forced"` // saved although the check had problems
	Note           string    `json:"note,omitempty"`
	Problems       []string  `json:"problems,omitempty"` // what the check said, one sentence each
	RevisionBefore int       `json:"revisionBefore"`
	RevisionAfter  int       `json:"revisionAfter"`
	CreatedAt      time.Time `json:"createdAt"`
	Reverts        string    `json:"reverts,omitempty"`    // the edit that this one undoes
	RevertedBy     string    `json:"revertedBy,omitempty"` // filled by MarkReverted
}

// StepLogic is the part of a scenario's step that an edit changes.
type StepLogic struct {
	ToolInputLogic  string            `json:"toolInputLogic"`
	ToolOutputLogic string            `json:"toolOutputLogic"`
	Frozen          bool              `json:"frozen"`
	FrozenReason    string            `json:"frozenReason,omitempty"`
	Provenance      engine.Provenance `json:"provenance"`
	Note            string            `json:"note,omitempty"`
}

// LogicOf takes the editable part of a step.
func LogicOf(s engine.Step) StepLogic {
	return StepLogic{
		ToolInputLogic:  s.ToolInputLogic,
		ToolOutputLogic: s.ToolOutputLogic,
		Frozen:          s.Frozen,
		FrozenReason:    s.FrozenReason,
		Provenance:      s.Provenance,
		Note:            s.Note,
	}
}

// Apply puts the logic into a step and leaves the rest of it alone.
func (l StepLogic) Apply(s *engine.Step) {
	s.ToolInputLogic = l.ToolInputLogic
	s.ToolOutputLogic = l.ToolOutputLogic
	s.Frozen = l.Frozen
	s.FrozenReason = l.FrozenReason
	s.Provenance = l.Provenance
	s.Note = l.Note
}

// MarkReverted fills RevertedBy in a whole history, newest first. An undo that
// was itself undone reverts nothing, so the answer is worked out each time
// instead of being kept in a row that every further undo would have to correct.
func MarkReverted(history []Edit) {
	revertedBy := map[string]string{}
	for i := range history {
		e := &history[i]
		e.RevertedBy = revertedBy[e.ID]
		if e.Reverts != "" && e.RevertedBy == "" {
			revertedBy[e.Reverts] = e.ID
		}
	}
}
