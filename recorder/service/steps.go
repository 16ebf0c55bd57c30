package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/jsontext"
)

// manyNamed answers a write of several at once.
type manyNamed struct {
	IDs []string `json:"ids"`
}

// bodies are where lists are read. Their memory goes round: most of what storing a
// recording allocates would be these, and the collector would be at work all the time.
var bodies = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// maxKeptBody bounds a buffer that is kept; recorders send 256 KiB at a time.
const maxKeptBody = 1 << 20

// addSteps takes one step, or a list of which all are written or none. In a list the
// payloads may stand as the JSON that they are, in place of a string of it.
func (s *server) addSteps(w http.ResponseWriter, r *http.Request) error {
	buffer := bodies.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= maxKeptBody {
			bodies.Put(buffer)
		}
	}()
	body, err := readBody(r, buffer)
	if err != nil {
		return err
	}
	if body = bytes.TrimLeft(body, " \t\r\n"); bytes.HasPrefix(body, []byte("[")) {
		return s.addList(w, r, body)
	}
	var step recorder.Step
	if err := api.Unmarshal(body, &step); err != nil {
		return err
	}
	if err := checkNewStep(step); err != nil {
		return err
	}
	if err := s.store.AddSteps(r.Context(), r.PathValue("id"), step); err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusCreated, named{ID: step.ID})
}

// readBody reads the whole body into the buffer, of which the body is a part.
func readBody(r *http.Request, buffer *bytes.Buffer) ([]byte, error) {
	buffer.Reset()
	_, err := buffer.ReadFrom(r.Body)
	var tooLarge *http.MaxBytesError
	if err != nil && !errors.As(err, &tooLarge) { // which is a problem of its own
		return nil, api.Refuse(api.BadRequest, "the body could not be read to its end")
	}
	return buffer.Bytes(), err
}

func (s *server) addList(w http.ResponseWriter, r *http.Request, body []byte) error {
	steps, err := readSteps(body)
	if err != nil {
		return err
	}
	ids := make([]string, len(steps))
	for i, step := range steps {
		if err := checkNewStep(step); err != nil {
			return api.Refuse(api.BadRequest, fmt.Sprintf("step %d of the list: %s", i, refusalOf(err).Detail))
		}
		ids[i] = step.ID
	}
	if err := s.store.AddSteps(r.Context(), r.PathValue("id"), steps...); err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusCreated, manyNamed{IDs: ids})
}

func checkNewStep(step recorder.Step) error {
	if err := checkID(step.ID, "step"); err != nil {
		return err
	}
	return checkStep(step)
}

// readSteps reads a list of steps in one pass. Most of it is payloads, which are found
// and kept as they are: the steps share one copy of the body.
func readSteps(body []byte) ([]recorder.Step, error) {
	r := stepReader{text: string(body), valid: utf8.Valid(body)}
	if !jsontext.Rows(body, r.read) {
		return nil, api.Unmarshal(body, new(json.RawMessage)) // says where
	}
	return r.steps, r.err
}

// stepReader collects the steps of a list and the first error in one.
type stepReader struct {
	text  string
	valid bool // the text is UTF-8
	steps []recorder.Step
	err   error
}

func (r *stepReader) read(element jsontext.Span, members []jsontext.Member) {
	var step recorder.Step
	if !r.readPlain(&step, members) {
		var err error
		if step, err = decodeStep([]byte(r.text[element.Start:element.End])); err != nil && r.err == nil {
			r.err = api.Refuse(api.MalformedJSON, fmt.Sprintf("step %d of the list: %s", len(r.steps), refusalOf(err).Detail))
		}
	}
	r.steps = append(r.steps, step)
}

// readPlain reads a step whose strings need no decoding, but for payloads that were
// spelled as strings, and says whether it is one.
func (r *stepReader) readPlain(step *recorder.Step, members []jsontext.Member) bool {
	for _, m := range members {
		if !readMember(step, string(m.Key), r.text[m.Start:m.End]) {
			return false
		}
	}
	return r.valid && len(members) > 0
}

// readMember is one piece: a table. It is false for what a decoder has to look at:
// escapes, null, names that differ in case, a value of another type.
func readMember(step *recorder.Step, key, value string) bool {
	switch key {
	case "id":
		return readString(&step.ID, value)
	case "stepIndex":
		return readInt(&step.StepIndex, value)
	case "type":
		return readString(&step.Type, value)
	case "callId":
		return readString(&step.CallID, value)
	case "toolName":
		return readString(&step.ToolName, value)
	case "serverName":
		return readString(&step.ServerName, value)
	case "upstreamTool":
		return readString(&step.UpstreamTool, value)
	case "toolInput":
		return readPayload(&step.ToolInput, value)
	case "toolOutput":
		return readPayload(&step.ToolOutput, value)
	case "toolError":
		return readString(&step.ToolError, value)
	case "context":
		return readString(&step.Context, value)
	case "answer":
		return readString(&step.Answer, value)
	case "status":
		return readString(&step.Status, value)
	case "startedAt":
		return step.StartedAt.UnmarshalJSON([]byte(value)) == nil
	case "durationMs":
		var err error
		step.DurationMS, err = strconv.ParseFloat(value, 64)
		return err == nil
	case "askedInput":
		return readPayload(&step.AskedInput, value)
	case "agentId":
		return readString(&step.AgentID, value)
	case "agentType":
		return readString(&step.AgentType, value)
	case "attempts":
		return readInt(&step.Attempts, value)
	}
	return false
}

func readString[T ~string](field *T, value string) bool {
	if value[0] != '"' || strings.IndexByte(value, '\\') >= 0 {
		return false
	}
	*field = T(value[1 : len(value)-1])
	return true
}

func readPayload(field *string, value string) bool {
	switch {
	case value[0] == '{' || value[0] == '[':
		*field = value
		return true
	case value[0] == '"' && strings.IndexByte(value, '\\') >= 0:
		return json.Unmarshal([]byte(value), field) == nil
	}
	return readString(field, value)
}

func readInt(field *int, value string) (ok bool) {
	var err error
	*field, err = strconv.Atoi(value)
	return err == nil
}

// decodeStep reads any step of a list.
func decodeStep(element []byte) (step recorder.Step, err error) {
	if element[0] != '{' {
		return step, api.Unmarshal(element, &step)
	}
	rest := []byte("{")
	payloads := map[string][]byte{}
	jsontext.Members(element, func(key, value []byte) {
		name := string(key)
		delete(payloads, name) // the last of several counts
		if (value[0] == '{' || value[0] == '[') && (name == `"toolInput"` || name == `"toolOutput"` || name == `"askedInput"`) {
			payloads[name] = value
			return
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, key...), ':'), value...)
	})
	if err := api.Unmarshal(append(rest, '}'), &step); err != nil {
		return step, err
	}
	for name, field := range map[string]*string{`"toolInput"`: &step.ToolInput, `"toolOutput"`: &step.ToolOutput, `"askedInput"`: &step.AskedInput} {
		if value, ok := payloads[name]; ok {
			*field = text(value)
		}
	}
	return step, nil
}

// text is what a decoder would have made of the payload, had it been a string.
func text(payload []byte) string { return strings.ToValidUTF8(string(payload), "\uFFFD") }
