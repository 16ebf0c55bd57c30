// Package derive finds a new prompt's parameters without a model: the prompt is
// aligned with the recorded one, and what stands where a parameter's sample stood
// is its value. The value is taken whole, however odd it looks, so that a guard
// can see it; nothing is cleaned away here.
package derive

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/bir-run/bir/engine"
)

// Result is what a prompt gave.
type Result struct {
	Params     map[string]json.RawMessage `json:"params"`
	Missing    []string                   `json:"missing,omitempty"` // targets that the prompt does not name
	Confidence float64                    `json:"confidence"`        // 0 to 1, from the words around the values
	SameTask   bool                       `json:"sameTask"`
	Note       string                     `json:"note,omitempty"` // what differs, for people
}

// minReadable is the confidence below which the prompts have so little in common
// that a value cut out of the new one would mean nothing.
const minReadable = 0.4

// MinConfidence is the confidence below which a prompt is another task.
const MinConfidence = 0.75

// Align derives the parameters of a new prompt. A setting that is not named takes
// its sample; a target that is not named is missing.
func Align(recordedPrompt string, params map[string]engine.Param, newPrompt string) Result {
	result := Result{Params: map[string]json.RawMessage{}}
	recorded := template(recordedPrompt, params)
	given := tokens(newPrompt)
	pairs := align(recorded, given)
	found, judged := fill(recorded, given, pairs, newPrompt)
	result.Confidence = math.Round(judged.confidence()*100) / 100
	if result.Confidence < minReadable {
		found = nil
	}
	for _, name := range sortedNames(params) {
		p := params[name]
		text, ok := found[name]
		switch {
		case ok:
			result.Params[name] = typed(text, p)
		case p.Kind == engine.KindSetting:
			result.Params[name] = p.SampleValue
		default:
			result.Missing = append(result.Missing, name)
		}
	}
	result.SameTask = result.Confidence >= MinConfidence && !judged.turned
	result.Note = judged.note()
	return result
}

// typed writes a value in the type of its parameter. What does not read as that
// type stays a string, and is for the guards to refuse.
func typed(text string, p engine.Param) json.RawMessage {
	trimmed := strings.TrimSpace(text)
	switch p.Type {
	case "number":
		if number := strings.ReplaceAll(trimmed, ",", ""); json.Valid([]byte(number)) && isNumber(number) {
			return json.RawMessage(number)
		}
		if n, ok := numberWords[strings.ToLower(trimmed)]; ok {
			return json.RawMessage(fmt.Sprint(n))
		}
	case "boolean":
		if b := strings.ToLower(trimmed); b == "true" || b == "false" {
			return json.RawMessage(b)
		}
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`) // a string marshals
	}
	return quoted
}

func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9')
}

var numberWords = map[string]int{
	"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
	"seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "twenty": 20,
}
