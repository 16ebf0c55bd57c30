package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/clean"
	"github.com/bir-run/bir/recorder/jsontext"
	"github.com/bir-run/bir/recorder/redact"
)

// record is one write to the service, and one line of the spool. Each carries the
// id of what it writes, so that sending it twice books it once.
type record struct {
	Run    string           `json:"run"`
	Start  *newRun          `json:"start,omitempty"`
	Step   json.RawMessage  `json:"step,omitempty"` // as it stands in a list of steps
	Finish *recorder.Finish `json:"finish,omitempty"`

	in *buffer // that Step stands in; nil when it came from the spool
}

// essential records are kept when there is room for nothing else.
func (r record) essential() bool { return r.Step == nil }

// send makes one write, or those of several steps of a run in one request.
func send(ctx context.Context, c *Client, rs ...record) error {
	switch r := rs[0]; {
	case r.Start != nil:
		return c.post(ctx, "/recordings/runs", r.Start, nil)
	case r.Step != nil:
		return c.post(ctx, runPath(r.Run, "/steps"), array(rs), nil)
	case r.Finish != nil:
		return c.Finish(ctx, r.Run, *r.Finish)
	}
	return nil
}

// sendAlone sends a step in the form that every service knows.
func sendAlone(ctx context.Context, c *Client, rs ...record) error {
	return c.post(ctx, runPath(rs[0].Run, "/steps"), api.Encoded(plain(rs[0].Step)), nil)
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

// records makes the writes for a report, free of secrets and within bounds, and
// counts the rows of the run. A panic in here costs the report, not the session that
// is being recorded.
func (c *chain) records(r report, st *runState) (made []record, err error) {
	limit := c.limit
	defer func() {
		if cause := recover(); cause != nil {
			made, err = nil, fmt.Errorf("prepare report: panic: %v", cause)
		}
	}()
	switch {
	case r.start != nil:
		run := newRunOf(*r.start)
		run.Input = clean.Text(run.Input, limit)
		run.Metadata = cleanMetadata(run.Metadata)
		made = []record{{Run: r.run, Start: &run}}
	case r.call != nil:
		selected, response := c.rows(*r.call, st.next)
		made = c.appendRows(make([]record, 0, 2), st, r.run, selected, response)
	case r.finish != nil:
		end := *r.finish
		end.Output = clean.Text(end.Output, limit)
		if end.Output != "" {
			made = c.appendRows(made, st, r.run, answerRow(end, st.next))
		}
		made = append(made, record{Run: r.run, Finish: &end})
	}
	return made, nil
}

// appendRows makes records of rows.
func (c *chain) appendRows(made []record, st *runState, run string, rows ...row) []record {
	for i := range rows {
		step := record{Run: run, in: c.steps}
		c.steps.bytes, step.Step = rows[i].append(c.steps.bytes)
		made = append(made, step)
		st.next = max(st.next, rows[i].StepIndex+1) // whoever numbers rows may leave some out
	}
	return made
}

// rows are the two rows of a call: what was asked, and what came of it.
func (c *chain) rows(call recorder.Call, next int) (selected, response row) {
	if call.ID == "" {
		call.ID = recorder.NewID("call")
	}
	if call.Status == "" {
		call.Status = recorder.StatusOK
	}
	place := placed(call.Place, next)
	both := row{Step: recorder.Step{
		CallID:    call.ID,
		ToolName:  call.ToolName,
		StartedAt: call.StartedAt.UTC(),
		AgentID:   call.AgentID,
		AgentType: call.AgentType,
	}}
	if call.ServerName != "" { // a built-in tool has one name
		both.ToolName = recorder.QualifiedName(call.ServerName, call.ToolName)
		both.ServerName, both.UpstreamTool = call.ServerName, call.ToolName
	}
	selected, response = both, both
	selected.ID, selected.StepIndex, selected.Type = place.RowIDs[0], place.Index, recorder.StepSelected
	selected.input = c.payload(call.Args)
	if asked := c.payload(call.Asked); !bytes.Equal(asked, selected.input) {
		selected.asked = asked
	}
	selected.Context = clean.Text(call.Context, c.limit)
	response.ID, response.StepIndex, response.Type = place.RowIDs[1], place.Index+1, recorder.StepResponse
	response.output = c.payload(call.Result)
	response.ToolError = clean.Text(call.Error, c.limit)
	response.Status = call.Status
	response.DurationMS = float64(call.Duration.Microseconds()) / 1000
	if call.Attempts > 1 {
		response.Attempts = call.Attempts
	}
	return selected, response
}

// placed fills what the reporter left to the recorder: where the rows stand, where it
// named no rows, and the ids of rows that have none.
func placed(p recorder.Place, next int) recorder.Place {
	if p == (recorder.Place{}) {
		p.Index = next
	}
	for i, id := range p.RowIDs {
		if id == "" {
			p.RowIDs[i] = recorder.NewID("step")
		}
	}
	return p
}

// answerRow is the run's last row. Its output is clean already.
func answerRow(end recorder.Finish, next int) row {
	place := placed(end.Answer, next)
	return row{Step: recorder.Step{
		ID: place.RowIDs[0], StepIndex: place.Index, Type: recorder.StepAnswer, Answer: end.Output, StartedAt: end.FinishedAt.UTC(),
	}}
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
