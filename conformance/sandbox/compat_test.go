package sandbox_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox"
)

type snippet struct {
	ID   string      `json:"id"`
	Body string      `json:"body"`
	Args orderedArgs `json:"args"`
	Node nodeResult  `json:"node"`

	// Node24 is there where Node 20 lacks the feature: either answer is right.
	Node24 *nodeResult `json:"node24"`
	// Refused is the sentence with which bodies are refused what is not for them.
	Refused string `json:"refused"`
}

type nodeResult struct {
	Type    string          `json:"type"` // value, undefined or error
	Value   json.RawMessage `json:"value"`
	Name    string          `json:"name"`
	Message string          `json:"message"` // compared in our own corpus only
}

// TestOrdinaryCodeRunsAsInNode holds the lists of known differences: a new one
// fails, and so does one that is gone and still listed.
func TestOrdinaryCodeRunsAsInNode(t *testing.T) {
	snippets := readCorpus[snippet](t, "jscompat-public.json")
	for i := range snippets {
		snippets[i].Node.Message = ""
	}
	atBothLevels(t, func(t *testing.T, level sandbox.Level) { compareWithNode(t, level, snippets, "compat-differences.txt") })
}

// TestOwnCorpusRunsAsInNode compares with what record.mjs saw; it needs no Node.
func TestOwnCorpusRunsAsInNode(t *testing.T) {
	files, err := filepath.Glob("testdata/compat/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("corpus: %d files, %v", len(files), err)
	}
	var all []snippet
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var some []snippet
		if err := json.Unmarshal(data, &some); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, some...)
	}
	if len(all) < 400 {
		t.Errorf("only %d snippets", len(all))
	}
	atBothLevels(t, func(t *testing.T, level sandbox.Level) { compareWithNode(t, level, all, "own-differences.txt") })
}

// tally is what became of a group's snippets.
type tally struct{ same, all int }

func compareWithNode(t *testing.T, level sandbox.Level, snippets []snippet, differences string) {
	t.Helper()
	known := readIDs(t, differences)
	pool := newPool(t, sandbox.Config{Level: level})
	total, groups := tally{}, map[string]tally{}
	for _, s := range snippets {
		result, err := pool.Eval(t.Context(), raw(s.Body), sandbox.Args{Raw: s.Args})
		group, _, _ := strings.Cut(s.ID, "/")
		count := groups[group]
		listed := slices.Contains(known, s.ID)
		switch {
		case s.is(result, err):
			total.same++
			count.same++
			if listed {
				t.Errorf("%s: as in Node now; take it off the list", s.ID)
			}
		case !listed:
			t.Errorf("%s: gave %s %v, Node %s %s %s", s.ID, result.Value, err, s.Node.Type, s.Node.Value, s.Node.Message)
		}
		total.all++
		count.all++
		groups[group] = count
	}
	for group, count := range groups {
		t.Logf("%s: %d of %d", group, count.same, count.all)
	}
	t.Logf("%d of %d as in Node", total.same, total.all)
}

func (s snippet) is(result sandbox.Result, err error) bool {
	if s.Refused != "" {
		return err != nil && strings.Contains(err.Error(), s.Refused)
	}
	return s.Node.is(result, err) || s.Node24 != nil && s.Node24.is(result, err)
}

func (n nodeResult) is(result sandbox.Result, err error) bool {
	switch {
	case n.Type == "error":
		named := err != nil && (n.Name == "rejected" || strings.HasPrefix(err.Error(), n.Name))
		return named && strings.Contains(err.Error(), n.Message)
	case err != nil:
		return false
	case n.Type == "undefined":
		return string(result.Value) == "null"
	}
	return sameJSON(n.Value, result.Value)
}
