package client

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/bir-run/bir/recorder/jsontext"
)

// append appends the report as JSON. encoding/json would look at every byte of the
// payloads twice more, and there is a report for each call.
func (r *StepReport) append(b []byte) []byte {
	b = slices.Grow(b, len(r.Args)+len(r.Result)+len(r.Error)+512)
	b = append(b, `{"id":`...)
	b = jsontext.AppendString(b, r.ID)
	b = append(b, `,"proxyId":`...)
	b = jsontext.AppendString(b, r.ProxyID)
	b = append(b, `,"serverName":`...)
	b = jsontext.AppendString(b, r.ServerName)
	b = append(b, `,"toolName":`...)
	b = jsontext.AppendString(b, r.ToolName)
	b = member(b, `,"toolUseId":`, r.ToolUseID)
	b = member(b, `,"callId":`, r.CallID)
	b = member(b, `,"fingerprint":`, r.Fingerprint)
	b = payload(b, `,"args":`, r.Args)
	b = payload(b, `,"result":`, r.Result)
	b = member(b, `,"error":`, r.Error)
	b = append(b, `,"status":`...)
	b = jsontext.AppendString(b, string(r.Status))
	b = append(b, `,"startedAt":"`...)
	b = r.StartedAt.AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","durationMs":`...)
	b = strconv.AppendFloat(b, r.DurationMS, 'f', -1, 64)
	if r.Lost != 0 {
		b = append(b, `,"lost":`...)
		b = strconv.AppendInt(b, int64(r.Lost), 10)
	}
	return append(b, '}')
}

// appendAll is the JSON array of the reports.
func appendAll(reports []StepReport) []byte {
	b := []byte{'['}
	for i := range reports {
		if i > 0 {
			b = append(b, ',')
		}
		b = reports[i].append(b)
	}
	return append(b, ']')
}

// member appends a member that is left out when it is empty.
func member(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return jsontext.AppendString(append(b, name...), value)
}

func payload(b []byte, name string, value json.RawMessage) []byte {
	if len(value) == 0 {
		return b
	}
	return append(append(b, name...), value...)
}
