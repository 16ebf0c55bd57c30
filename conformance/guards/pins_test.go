package guards_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/bir-run/bir/sandbox/guards/pinguard"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// pinPair is a call of the model's beside a step, with the label that a careful
// person gave it: is this call the step?
type pinPair struct {
	Rule   string          `json:"rule"`
	Server string          `json:"server"`
	Tool   string          `json:"tool"`
	Model  json.RawMessage `json:"model"`
	Step   json.RawMessage `json:"step"`
	Same   bool            `json:"same"`
}

func (p pinPair) request() guardsdk.Request {
	return guardsdk.Request{ABI: guardsdk.ABI, Kind: guardsdk.KindPin, Server: p.Server, Tool: p.Tool, Args: p.Step, ModelArgs: p.Model}
}

// pinFile holds whole calls, and groups of calls that differ in one argument only.
type pinFile struct {
	Calls  []pinPair `json:"calls"`
	Groups []struct {
		Rule      string      `json:"rule"`
		Server    string      `json:"server"`
		Tool      string      `json:"tool"`
		Arg       string      `json:"arg"`
		Same      [][2]string `json:"same"`
		Different [][2]string `json:"different"`
	} `json:"groups"`
}

func pinPairs(t testing.TB) []pinPair {
	t.Helper()
	var file pinFile
	readJSON(t, "pins.json", &file)
	pairs := file.Calls
	for _, g := range file.Groups {
		for same, texts := range map[bool][][2]string{true: g.Same, false: g.Different} {
			for _, pair := range texts {
				pairs = append(pairs, pinPair{Rule: g.Rule, Server: g.Server, Tool: g.Tool, Same: same,
					Model: object(g.Arg, pair[0]), Step: object(g.Arg, pair[1])})
			}
		}
	}
	return pairs
}

func readJSON(t testing.TB, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func object(key, text string) json.RawMessage {
	data, err := json.Marshal(map[string]string{key: text})
	if err != nil {
		panic(err)
	}
	return data
}

func TestPinGuardAgreesWithTheLabels(t *testing.T) {
	pairs := pinPairs(t)
	if len(pairs) < 300 {
		t.Fatalf("only %d pairs", len(pairs))
	}
	var s score
	for _, p := range pairs {
		v := pinguard.Check(p.request())
		if s.count(p.Rule, v.Allow, p.Same) {
			continue
		}
		t.Logf("%s: %s for the step %s: labelled the same: %v, and the guard says %+v", p.Tool, p.Model, p.Step, p.Same, v)
	}
	s.report(t)
}

func TestEveryStepIsItself(t *testing.T) {
	for _, p := range pinPairs(t) {
		for _, args := range []json.RawMessage{p.Model, p.Step} {
			p.Model, p.Step = args, args
			if v := pinguard.Check(p.request()); !v.Allow {
				t.Errorf("%s %s is not itself: %+v", p.Tool, args, v)
			}
		}
	}
}

func TestDenialsAreWrittenForPeople(t *testing.T) {
	for _, p := range pinPairs(t) {
		if v := pinguard.Check(p.request()); !v.Allow && (len(v.Reason) < 30 || v.Code == "") {
			t.Errorf("%s for %s: %+v", p.Model, p.Step, v)
		}
	}
}
