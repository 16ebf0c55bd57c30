package derive_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/derive"
)

func target(sample string) engine.Param {
	return engine.Param{SampleValue: json.RawMessage(sample), Kind: engine.KindTarget, Type: "string"}
}

func number(sample string, kind engine.ParamKind) engine.Param {
	return engine.Param{SampleValue: json.RawMessage(sample), Kind: kind, Type: "number"}
}

var fleet = map[string]engine.Param{"region": target(`"eu-west"`)}

const fleetPrompt = "find the riskiest device in region eu-west and write its report"

func TestValuesStandWhereTheSamplesStood(t *testing.T) {
	issue := map[string]engine.Param{"issue": number("42", engine.KindTarget), "repo": target(`"acme/api"`)}
	top := map[string]engine.Param{"top": number("3", engine.KindSetting), "city": target(`"Berlin"`), "format": {SampleValue: json.RawMessage(`"csv"`), Kind: engine.KindSetting, Type: "string"}}
	const topPrompt = "show the top 3 sensors in Berlin as csv"
	title := map[string]engine.Param{"title": target(`"Broken pump"`)}
	tests := map[string]struct {
		recorded string
		params   map[string]engine.Param
		prompt   string
		want     map[string]string
		missing  []string
		same     bool
	}{
		"another region":           {fleetPrompt, fleet, "find the riskiest device in region us-east and write its report", map[string]string{"region": `"us-east"`}, nil, true},
		"the same prompt":          {fleetPrompt, fleet, fleetPrompt, map[string]string{"region": `"eu-west"`}, nil, true},
		"politeness":               {fleetPrompt, fleet, "Please find the riskiest device in region us-east and write its report, thanks!", map[string]string{"region": `"us-east"`}, nil, true},
		"a synonym":                {fleetPrompt, fleet, "get the riskiest device in region us-east and write the report", map[string]string{"region": `"us-east"`}, nil, true},
		"several words":            {fleetPrompt, fleet, "find the riskiest device in region north of the river and write its report", map[string]string{"region": `"north of the river"`}, nil, true},
		"a hostile value is whole": {fleetPrompt, fleet, "find the riskiest device in region eu-west; rm -rf / and write its report", map[string]string{"region": `"eu-west; rm -rf /"`}, nil, true},
		"hostile at the end":       {"read region eu-west", fleet, "read region eu-west; rm -rf /", map[string]string{"region": `"eu-west; rm -rf /"`}, nil, true},
		"quotes are not the value": {fleetPrompt, fleet, `find the riskiest device in region "us east" and write its report`, map[string]string{"region": `"us east"`}, nil, true},
		"a target is missing":      {fleetPrompt, fleet, "find the riskiest device and write its report", map[string]string{}, []string{"region"}, true},
		"another superlative":      {fleetPrompt, fleet, "find the safest device in region us-east and write its report", map[string]string{"region": `"us-east"`}, nil, false},
		"another task":             {fleetPrompt, fleet, "delete all logs older than a week", map[string]string{}, []string{"region"}, false},
		"a negation":               {fleetPrompt, fleet, "find the riskiest device in region us-east and do not write its report", map[string]string{"region": `"us-east"`}, nil, false},
		"numbers stay numbers":     {"summarise issue 42 of acme/api", issue, "summarise issue 7 of acme/web", map[string]string{"issue": "7", "repo": `"acme/web"`}, nil, true},
		"a number that is none":    {"summarise issue 42 of acme/api", issue, "summarise issue 7; drop of acme/web", map[string]string{"issue": `"7; drop"`, "repo": `"acme/web"`}, nil, true},
		"settings":                 {topPrompt, top, "show the top 5 sensors in Paris as json", map[string]string{"top": "5", "city": `"Paris"`, "format": `"json"`}, nil, true},
		"a setting left out":       {topPrompt, top, "show the top sensors in Paris as csv", map[string]string{"top": "3", "city": `"Paris"`, "format": `"csv"`}, nil, true},
		"trailing punctuation":     {"weather in Berlin?", map[string]engine.Param{"city": target(`"Berlin"`)}, "weather in Paris?", map[string]string{"city": `"Paris"`}, nil, true},
		"a quoted sample":          {`open an issue titled "Broken pump"`, title, `open an issue titled "Leaking valve in hall 3"`, map[string]string{"title": `"Leaking valve in hall 3"`}, nil, true},
		"unicode":                  {"weather in Köln", map[string]engine.Param{"city": target(`"Köln"`)}, "weather in 東京", map[string]string{"city": `"東京"`}, nil, true},
		"twice the same":           {"compare eu-west with the mean of eu-west", fleet, "compare us-east with the mean of us-east", map[string]string{"region": `"us-east"`}, nil, true},
		"an empty prompt":          {fleetPrompt, fleet, "", map[string]string{}, []string{"region"}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := derive.Align(test.recorded, test.params, test.prompt)
			values := map[string]string{}
			for name, raw := range got.Params {
				values[name] = string(raw)
			}
			if diff := cmp.Diff(test.want, values); diff != "" {
				t.Errorf("params (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.missing, got.Missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			if got.SameTask != test.same {
				t.Errorf("same task: %v at %v (%s)", got.SameTask, got.Confidence, got.Note)
			}
		})
	}
}

func TestWordsThatDifferLowerTheConfidence(t *testing.T) {
	exact := derive.Align(fleetPrompt, fleet, "find the riskiest device in region us-east and write its report")
	more := derive.Align(fleetPrompt, fleet, "find the riskiest device in region us-east and quickly write its report")
	if exact.Confidence != 1 || more.Confidence >= exact.Confidence {
		t.Errorf("confidence %v, and with another word %v", exact.Confidence, more.Confidence)
	}
}

func FuzzAlignNeverInventsAValue(f *testing.F) {
	f.Add(fleetPrompt, "eu-west", "find it in region x")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, recorded, sample, prompt string) {
		quoted, err := json.Marshal(sample)
		if err != nil {
			t.Skip()
		}
		got := derive.Align(recorded, map[string]engine.Param{"p": target(string(quoted))}, prompt)
		raw, ok := got.Params["p"]
		if ok == (len(got.Missing) == 1) {
			t.Fatalf("a target is found or missing, not both: %v", got)
		}
		if ok && !json.Valid(raw) {
			t.Fatalf("%s is not JSON", raw)
		}
	})
}
