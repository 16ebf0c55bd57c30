package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/redact"
)

// newRun is what opens a run. State, counts and the scenario are the service's.
type newRun struct {
	ID        string            `json:"id"`
	Framework string            `json:"framework"`
	Input     string            `json:"input"`
	Metadata  recorder.Metadata `json:"metadata"`
	StartedAt time.Time         `json:"startedAt,omitzero"`
}

func newRunOf(run recorder.Run) newRun {
	return newRun{ID: run.ID, Framework: run.Framework, Input: run.Input, Metadata: run.Metadata, StartedAt: run.StartedAt}
}

// CreateRun opens a run under its own id; the same id again changes nothing.
func (c *Client) CreateRun(ctx context.Context, run recorder.Run) error {
	return c.post(ctx, "/recordings/runs", newRunOf(run), nil)
}

// Runs lists runs, the newest first: those that query matches, from cursor on
// ("" for the start), limit of them (0 for the service's default). The next
// cursor is empty on the last page.
func (c *Client) Runs(ctx context.Context, query, cursor string, limit int) ([]recorder.Run, string, error) {
	values := url.Values{}
	for key, value := range map[string]string{"q": query, "cursor": cursor} {
		if value != "" {
			values.Set(key, value)
		}
	}
	if limit > 0 {
		values.Set("limit", strconv.Itoa(limit))
	}
	var page struct {
		Runs       []recorder.Run `json:"runs"`
		NextCursor string         `json:"nextCursor"`
	}
	err := c.get(ctx, withQuery("/recordings/runs", values), &page)
	return page.Runs, page.NextCursor, err
}

// Run returns one run with its steps.
func (c *Client) Run(ctx context.Context, id string) (recorder.RunWithSteps, error) {
	var run recorder.RunWithSteps
	err := c.get(ctx, runPath(id, ""), &run)
	return run, err
}

// Patch changes what is not nil of a run.
type Patch struct {
	Input *string `json:"input,omitempty"`
}

// PatchRun changes a run. A prompt is redacted first: the person who gives it
// does not expect it to be stored with a token in it.
func (c *Client) PatchRun(ctx context.Context, id string, p Patch) error {
	if p.Input != nil {
		input := redact.Text(*p.Input)
		p.Input = &input
	}
	return c.patch(ctx, runPath(id, ""), p, nil)
}

// DeleteRun deletes a run with its steps and scenario.
func (c *Client) DeleteRun(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, runPath(id, ""), nil, nil)
}

// AddStep adds a row to an open run; the same id again changes nothing.
func (c *Client) AddStep(ctx context.Context, runID string, step recorder.Step) error {
	return c.post(ctx, runPath(runID, "/steps"), step, nil)
}

// StepPatch changes what is not nil of a step.
type StepPatch struct {
	ToolInput  *string          `json:"toolInput,omitempty"`
	ToolOutput *string          `json:"toolOutput,omitempty"`
	ToolError  *string          `json:"toolError,omitempty"`
	Context    *string          `json:"context,omitempty"`
	Status     *recorder.Status `json:"status,omitempty"`
}

// PatchStep changes a row that was added before.
func (c *Client) PatchStep(ctx context.Context, runID, stepID string, p StepPatch) error {
	return c.patch(ctx, runPath(runID, "/steps/"+url.PathEscape(stepID)), p, nil)
}

// Finish closes a run.
func (c *Client) Finish(ctx context.Context, runID string, end recorder.Finish) error {
	return c.post(ctx, runPath(runID, "/finish"), end, nil)
}

// Recalculate says what happens to a scenario that is there already: by default
// it is returned as it is.
type Recalculate struct {
	Force        bool // calculate it anew
	DiscardEdits bool // even if it was edited by hand
}

// Calculate returns the scenario of a run, calculated where there is none yet.
func (c *Client) Calculate(ctx context.Context, runID string, again Recalculate) (json.RawMessage, error) {
	values := url.Values{}
	if again.Force {
		values.Set("force", "1")
	}
	if again.DiscardEdits {
		values.Set("discardEdits", "1")
	}
	var raw json.RawMessage
	err := c.post(ctx, withQuery(runPath(runID, "/calculate"), values), nil, &raw)
	return raw, err
}

// ScenarioOfRun returns the scenario that was calculated from a run.
func (c *Client) ScenarioOfRun(ctx context.Context, runID string) (json.RawMessage, error) {
	return c.raw(ctx, runPath(runID, "/scenario"))
}

// Scenarios returns {"scenarios": [...]}, a summary of each.
func (c *Client) Scenarios(ctx context.Context) (json.RawMessage, error) {
	return c.raw(ctx, "/scenarios")
}

// Scenario returns one scenario.
func (c *Client) Scenario(ctx context.Context, id string) (json.RawMessage, error) {
	return c.raw(ctx, scenarioPath(id, ""))
}

// Consent goes with what changes a scenario.
type Consent struct {
	Force            bool   `json:"force,omitempty"` // although the check found problems
	Note             string `json:"note,omitempty"`  // why; required with Force
	ExpectedRevision *int   `json:"expectedRevision,omitempty"`
}

// Change is a change of one step's bodies.
type Change struct {
	Consent
	InputLogic  *string `json:"inputLogic,omitempty"`
	OutputLogic *string `json:"outputLogic,omitempty"`
	Freeze      bool    `json:"freeze,omitempty"`
	Unfreeze    bool    `json:"unfreeze,omitempty"`
}

// Check tries a change against the recording and writes nothing.
func (c *Client) Check(ctx context.Context, scenarioID string, step int, change Change) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.post(ctx, scenarioPath(scenarioID, "/steps/"+strconv.Itoa(step)+"/check"), change, &raw)
	return raw, err
}

// Edit checks a change and saves it.
func (c *Client) Edit(ctx context.Context, scenarioID string, step int, change Change) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.patch(ctx, scenarioPath(scenarioID, "/steps/"+strconv.Itoa(step)), change, &raw)
	return raw, err
}

// Edits returns {"edits": [...]}, the history of a scenario.
func (c *Client) Edits(ctx context.Context, scenarioID string) (json.RawMessage, error) {
	return c.raw(ctx, scenarioPath(scenarioID, "/edits"))
}

// RevertTarget names the edit to undo: by its id, else the newest that can be
// undone, of one step where Step is not 0.
type RevertTarget struct {
	Edit string
	Step int
}

// Revert undoes an edit.
func (c *Client) Revert(ctx context.Context, scenarioID string, target RevertTarget, consent Consent) (json.RawMessage, error) {
	edit, values := target.Edit, url.Values{}
	if edit == "" {
		edit = "latest"
	}
	if target.Step > 0 {
		values.Set("step", strconv.Itoa(target.Step))
	}
	var raw json.RawMessage
	err := c.post(ctx, withQuery(scenarioPath(scenarioID, "/edits/"+url.PathEscape(edit)+"/revert"), values), consent, &raw)
	return raw, err
}

// Health is how the service says that it is there.
type Health struct {
	OK        bool      `json:"ok"`
	PID       int       `json:"pid"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"`
}

// Health asks whether the service answers.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	err := c.get(ctx, "/healthz", &h)
	return h, err
}

// Shutdown asks the service to end once it has answered what it was asked.
func (c *Client) Shutdown(ctx context.Context) error {
	return c.post(ctx, "/shutdown", nil, nil)
}

func (c *Client) raw(ctx context.Context, path string) (json.RawMessage, error) {
	var raw json.RawMessage
	err := c.get(ctx, path, &raw)
	return raw, err
}

func runPath(id, rest string) string { return "/recordings/runs/" + url.PathEscape(id) + rest }

func scenarioPath(id, rest string) string { return "/scenarios/" + url.PathEscape(id) + rest }

func withQuery(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}
