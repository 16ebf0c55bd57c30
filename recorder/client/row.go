package client

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/jsontext"
)

// row is a step of which the payloads are still the bytes that came. In a list of
// steps they may stand as the values that they are, with nothing to escape on this
// side and to decode on the other: most of the work of sending a large one.
type row struct {
	recorder.Step
	input, output, asked []byte
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
	b = payload(b, `,"toolInput":`, r.input)
	b = payload(b, `,"toolOutput":`, r.output)
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
	b = payload(b, `,"askedInput":`, r.asked)
	b = member(b, `,"agentId":`, r.AgentID)
	b = member(b, `,"agentType":`, r.AgentType)
	if r.Attempts != 0 {
		b = append(b, `,"attempts":`...)
		b = strconv.AppendInt(b, int64(r.Attempts), 10)
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

// payload appends an object or a list as it is, anything else as a string of it: a
// payload that is a string would be taken for one that was spelled as a string. Bytes
// in it that are no UTF-8 are left to the reader of the JSON, who replaces them.
func payload(b []byte, name string, value []byte) []byte {
	if len(value) > 0 && (value[0] == '{' || value[0] == '[') {
		return append(append(b, name...), value...)
	}
	return member(b, name, value)
}

// plain spells the payloads of a step as strings, which is how a single step has
// them.
func plain(step json.RawMessage) json.RawMessage {
	b := []byte("{")
	jsontext.Members(step, func(key, value []byte) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, key...), ':')
		if isPayload(key) && value[0] != '"' {
			b = jsontext.AppendString(b, value)
		} else {
			b = append(b, value...)
		}
	})
	return append(b, '}')
}

func isPayload(key []byte) bool {
	return string(key) == `"toolInput"` || string(key) == `"toolOutput"` || string(key) == `"askedInput"`
}
