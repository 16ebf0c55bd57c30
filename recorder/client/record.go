package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/jsontext"
	"github.com/bir-run/bir/recorder/redact"
	"github.com/bir-run/bir/recorder/truncate"
)

// record is one write to the service, and one line of the spool. Each carries the
// id of what it writes, so that sending it twice books it once.
type record struct {
	Run    string           `json:"run"`
	Start  *newRun          `json:"start,omitempty"`
	Step   json.RawMessage  `json:"step,omitempty"` // as it stands in a list of steps
	Finish *recorder.Finish `json:"finish,omitempty"`
}

// essential records are kept when there is room for nothing else.
func (r record) essential() bool { return r.Step == nil }

// send makes one write, or those of several steps of a run in one request.
func send(ctx context.Context, c *Client, rs ...record) error {
	switch r := rs[0]; {
	case r.Start != nil:
		return c.post(ctx, "/recordings/runs", r.Start, nil)
	case r.Step != nil:
		return c.post(ctx, runPath(r.Run, "/steps"), list(rs), nil)
	case r.Finish != nil:
		return c.Finish(ctx, r.Run, *r.Finish)
	}
	return nil
}

// sendAlone sends a step in the form that every service knows.
func sendAlone(ctx context.Context, c *Client, rs ...record) error {
	return c.post(ctx, runPath(rs[0].Run, "/steps"), encoded(plain(rs[0].Step)), nil)
}

// list is the JSON array of the records' steps.
func list(rs []record) encoded {
	size := len("[]")
	for _, r := range rs {
		size += len(r.Step) + len(",")
	}
	b := make([]byte, 0, size)
	for _, r := range rs {
		b = append(append(b, ','), r.Step...)
	}
	b[0] = '['
	return append(b, ']')
}

// line spells the record for the spool.
func (r record) line() ([]byte, error) {
	if r.Step == nil {
		return json.Marshal(r)
	}
	step := r.Step
	if bytes.IndexByte(step, '\n') >= 0 { // between the values of a payload
		step = plain(step)
	}
	b := append(make([]byte, 0, len(r.Run)+len(step)+32), `{"run":`...)
	b = jsontext.AppendString(b, r.Run)
	b = append(append(b, `,"step":`...), step...)
	return append(b, '}'), nil
}

// records makes the writes for a report, free of secrets and within bounds. A
// panic in here costs the report, not the session that is being recorded.
func (c *chain) records(r report, next int) (made []record, err error) {
	limit := c.limit
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
		selected, response := c.rows(*r.call, next)
		made = []record{{Run: r.run}, {Run: r.run}}
		c.steps, made[0].Step = selected.append(c.steps)
		c.steps, made[1].Step = response.append(c.steps)
	case r.finish != nil:
		end := *r.finish
		end.Output = cleanText(end.Output, limit)
		made = []record{{Run: r.run, Finish: &end}}
	}
	return made, nil
}

// rows are the two rows of a call: what was asked, and what came of it.
func (c *chain) rows(call recorder.Call, next int) (selected, response row) {
	if call.ID == "" {
		call.ID = recorder.NewID("call")
	}
	if call.Status == "" {
		call.Status = recorder.StatusOK
	}
	both := row{Step: recorder.Step{
		CallID:       call.ID,
		ToolName:     recorder.QualifiedName(call.ServerName, call.ToolName),
		ServerName:   call.ServerName,
		UpstreamTool: call.ToolName,
		StartedAt:    call.StartedAt.UTC(),
	}}
	selected, response = both, both
	selected.ID, selected.StepIndex, selected.Type = recorder.NewID("step"), next, recorder.StepSelected
	selected.input = c.payload(call.Args)
	response.ID, response.StepIndex, response.Type = recorder.NewID("step"), next+1, recorder.StepResponse
	response.output = c.payload(call.Result)
	response.ToolError = cleanText(call.Error, c.limit)
	response.Status = call.Status
	response.DurationMS = float64(call.Duration.Microseconds()) / 1000
	return selected, response
}

// cleanJSON and cleanText redact before they cut: half a secret has no shape.
func cleanJSON(raw json.RawMessage, limit int) []byte {
	cut, _ := truncate.JSON(redact.JSON(raw), limit)
	return cut
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
