package guardsdk

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bir-run/bir/sandbox/internal/rawjson"
)

// decode reads a request by hand: inside a module encoding/json would take longer
// than the guard itself. A test holds the two against each other.
func decode(data []byte) (Request, error) {
	var req Request
	c := rawjson.At(data)
	c.Object(func(key string) {
		switch key {
		case "abi":
			req.ABI = c.Int()
		case "kind":
			req.Kind = Kind(c.String())
		case "parameter":
			req.Parameter = c.String()
		case "value":
			req.Value = c.Raw()
		case "sample":
			req.Sample = c.Raw()
		case "tools":
			c.Array(func() { req.Tools = append(req.Tools, c.String()) })
		case "server":
			req.Server = c.String()
		case "tool":
			req.Tool = c.String()
		case "args":
			req.Args = c.Raw()
		case "modelArgs":
			req.ModelArgs = c.Raw()
		case "plan":
			decodePlan(c, &req.Plan)
		case "strings":
			c.Array(func() { req.Strings = append(req.Strings, decodeString(c)) })
		case "config":
			req.Config = c.Raw()
		default:
			c.Raw()
		}
	})
	return req, c.End()
}

func decodePlan(c *rawjson.Cursor, plan *Plan) {
	c.Object(func(key string) {
		switch key {
		case "scenarioId":
			plan.ScenarioID = c.String()
		case "risk":
			plan.Risk = Risk(c.String())
		case "stepIndex":
			plan.StepIndex = c.Int()
		case "stepCount":
			plan.StepCount = c.Int()
		case "toolCalls":
			plan.ToolCalls = c.Int()
		case "now":
			plan.Now = c.String()
		case "dry":
			plan.Dry = c.Bool()
		default:
			c.Raw()
		}
	})
}

func decodeString(c *rawjson.Cursor) (s String) {
	c.Object(func(key string) {
		switch key {
		case "path":
			s.Path = c.String()
		case "value":
			s.Value = c.String()
		default:
			c.Raw()
		}
	})
	return s
}

func encode(v Verdict) []byte {
	out := append([]byte(`{"allow":`), strconv.FormatBool(v.Allow)...)
	if v.Code != "" {
		out = appendQuoted(append(out, `,"code":`...), v.Code)
	}
	if v.Reason != "" {
		out = appendQuoted(append(out, `,"reason":`...), v.Reason)
	}
	return append(out, '}')
}

func appendQuoted(out []byte, text string) []byte {
	out = append(out, '"')
	for _, r := range strings.ToValidUTF8(text, string(utf8.RuneError)) {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r < ' ':
			const hex = "0123456789abcdef"
			out = append(out, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}
