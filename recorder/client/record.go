package client

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/redact"
	"github.com/bir-run/bir/recorder/truncate"
)

// record is one write to the service, and one line of the spool. Each carries the
// id of what it writes, so that sending it twice books it once.
type record struct {
	Run    string           `json:"run"`
	Start  *newRun          `json:"start,omitempty"`
	Step   *recorder.Step   `json:"step,omitempty"`
	Finish *recorder.Finish `json:"finish,omitempty"`
}

// essential records are kept when there is room for nothing else.
func (r record) essential() bool { return r.Step == nil }

func (r record) send(ctx context.Context, c *Client) error {
	switch {
	case r.Start != nil:
		return c.post(ctx, "/recordings/runs", r.Start, nil)
	case r.Step != nil:
		return c.AddStep(ctx, r.Run, *r.Step)
	case r.Finish != nil:
		return c.Finish(ctx, r.Run, *r.Finish)
	}
	return nil
}

// records makes the writes for a report, free of secrets and within bounds. A
// panic in here costs the report, not the session that is being recorded.
func records(r report, next, limit int) (made []record, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			made, err = nil, fmt.Errorf("prepare report: panic: %v", cause)
		}
	}()
	switch {
	case r.start != nil:
		run := newRunOf(*r.start)
		run.Input = cleanText(run.Input, limit)
		run.Metadata = cleanMetadata(run.Metadata)
		made = []record{{Run: r.run, Start: &run}}
	case r.call != nil:
		selected, response := rows(*r.call, next, limit)
		made = []record{{Run: r.run, Step: &selected}, {Run: r.run, Step: &response}}
	case r.finish != nil:
		end := *r.finish
		end.Output = cleanText(end.Output, limit)
		made = []record{{Run: r.run, Finish: &end}}
	}
	return made, nil
}

// rows are the two rows of a call: what was asked, and what came of it.
func rows(call recorder.Call, next, limit int) (selected, response recorder.Step) {
	if call.ID == "" {
		call.ID = recorder.NewID("call")
	}
	if call.Status == "" {
		call.Status = recorder.StatusOK
	}
	row := recorder.Step{
		CallID:       call.ID,
		ToolName:     recorder.QualifiedName(call.ServerName, call.ToolName),
		ServerName:   call.ServerName,
		UpstreamTool: call.ToolName,
		StartedAt:    call.StartedAt.UTC(),
	}
	selected, response = row, row
	selected.ID, selected.StepIndex, selected.Type = recorder.NewID("step"), next, recorder.StepSelected
	selected.ToolInput = cleanJSON(call.Args, limit)
	response.ID, response.StepIndex, response.Type = recorder.NewID("step"), next+1, recorder.StepResponse
	response.ToolOutput = cleanJSON(call.Result, limit)
	response.ToolError = cleanText(call.Error, limit)
	response.Status = call.Status
	response.DurationMS = float64(call.Duration.Microseconds()) / 1000
	return selected, response
}

// cleanJSON and cleanText redact before they cut: half a secret has no shape.
func cleanJSON(raw json.RawMessage, limit int) string {
	cut, _ := truncate.JSON(redact.JSON(raw), limit)
	return string(cut)
}

func cleanText(s string, limit int) string {
	cut, _ := truncate.Text(redact.Text(s), limit)
	return cut
}

// cleanMetadata redacts the command lines by which servers were started.
func cleanMetadata(m recorder.Metadata) recorder.Metadata {
	m.CWD = redact.Text(m.CWD)
	m.Servers = maps.Clone(m.Servers)
	for name, server := range m.Servers {
		server.Command = redact.Args(server.Command)
		server.CWD = redact.Text(server.CWD)
		m.Servers[name] = server
	}
	return m
}
