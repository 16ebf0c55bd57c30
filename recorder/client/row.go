package client

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/jsontext"
)

// row is a step of which the payloads are still the bytes that came. They are
// spelled as strings in one pass; encoding/json would copy them three times.
type row struct {
	recorder.Step
	input, output []byte
}

// append appends the JSON of the step to b, and returns that as well.
func (r *row) append(b []byte) (longer []byte, step json.RawMessage) {
	start := len(b)
	b = append(b, `{"id":`...)
	b = jsontext.AppendString(b, r.ID)
	b = append(b, `,"stepIndex":`...)
	b = strconv.AppendInt(b, int64(r.StepIndex), 10)
	b = append(b, `,"type":`...)
	b = jsontext.AppendString(b, r.Type)
	b = member(b, `,"callId":`, r.CallID)
	b = member(b, `,"toolName":`, r.ToolName)
	b = member(b, `,"serverName":`, r.ServerName)
	b = member(b, `,"upstreamTool":`, r.UpstreamTool)
	b = member(b, `,"toolInput":`, r.input)
	b = member(b, `,"toolOutput":`, r.output)
	b = member(b, `,"toolError":`, r.ToolError)
	b = member(b, `,"context":`, r.Context)
	b = member(b, `,"answer":`, r.Answer)
	b = member(b, `,"status":`, r.Status)
	if !r.StartedAt.IsZero() {
		b = append(b, `,"startedAt":"`...)
		b = append(r.StartedAt.AppendFormat(b, time.RFC3339Nano), '"')
	}
	if r.DurationMS != 0 {
		b = append(b, `,"durationMs":`...)
		b = strconv.AppendFloat(b, r.DurationMS, 'f', -1, 64)
	}
	b = append(b, '}')
	return b, json.RawMessage(b[start:])
}

// member appends a member that is left out when it is empty.
func member[T ~string | ~[]byte](b []byte, name string, value T) []byte {
	if len(value) == 0 {
		return b
	}
	return jsontext.AppendString(append(b, name...), value)
}
