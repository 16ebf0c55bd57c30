package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/jsontext"
)

// manyNamed answers a write of several at once.
type manyNamed struct {
	IDs []string `json:"ids"`
}

// addSteps takes one step, or a list of which all are written or none. In a list the
// payloads may stand as the JSON that they are, in place of a string of it.
func (s *server) addSteps(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(body, []byte("[")) {
		return s.addList(w, r, body)
	}
	var step recorder.Step
	if err := unmarshal(body, &step); err != nil {
		return err
	}
	if err := checkNewStep(step); err != nil {
		return err
	}
	if err := s.store.AddSteps(r.Context(), r.PathValue("id"), step); err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, named{ID: step.ID})
}

func (s *server) addList(w http.ResponseWriter, r *http.Request, body []byte) error {
	steps, err := readSteps(body)
	if err != nil {
		return err
	}
	ids := make([]string, len(steps))
	for i, step := range steps {
		if err := checkNewStep(step); err != nil {
			return refuse(CodeBadRequest, fmt.Sprintf("step %d of the list: %s", i, problemOf(err).Detail))
		}
		ids[i] = step.ID
	}
	if err := s.store.AddSteps(r.Context(), r.PathValue("id"), steps...); err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, manyNamed{IDs: ids})
}

func checkNewStep(step recorder.Step) error {
	if err := checkID(step.ID, "step"); err != nil {
		return err
	}
	return checkStep(step)
}

// readSteps reads a list of steps. Most of it is payloads, which are found and kept
// as they are; only the rest is decoded.
func readSteps(body []byte) ([]recorder.Step, error) {
	if !jsontext.Valid(body) {
		return nil, unmarshal(body, new(json.RawMessage)) // says where
	}
	var steps []recorder.Step
	var failed error
	jsontext.Members(body, func(_, element []byte) {
		step, err := readStep(element)
		if err != nil && failed == nil {
			failed = refuse(CodeMalformedJSON, fmt.Sprintf("step %d of the list: %s", len(steps), problemOf(err).Detail))
		}
		steps = append(steps, step)
	})
	return steps, failed
}

func readStep(element []byte) (step recorder.Step, err error) {
	if element[0] != '{' {
		return step, unmarshal(element, &step)
	}
	rest := []byte("{")
	var input, output, asked []byte
	jsontext.Members(element, func(key, value []byte) {
		switch {
		case value[0] != '{' && value[0] != '[':
		case string(key) == `"toolInput"`:
			input = value
			return
		case string(key) == `"toolOutput"`:
			output = value
			return
		case string(key) == `"askedInput"`:
			asked = value
			return
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, key...), ':'), value...)
	})
	if err := unmarshal(append(rest, '}'), &step); err != nil {
		return step, err
	}
	if input != nil {
		step.ToolInput = text(input)
	}
	if output != nil {
		step.ToolOutput = text(output)
	}
	if asked != nil {
		step.AskedInput = text(asked)
	}
	return step, nil
}

// text is what a decoder would have made of the payload, had it been a string.
func text(payload []byte) string { return strings.ToValidUTF8(string(payload), "\uFFFD") }
