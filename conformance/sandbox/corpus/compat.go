package corpus

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

// PublicCode compares the public corpus with Node, where it is present. It holds the lists of known differences: a new one
// fails, and so does one that is gone and still listed.
func (s Suite) PublicCode(t *testing.T) {
	snippets := readPublic[snippet](t, "jscompat-public.json")
	for i := range snippets {
		snippets[i].Node.Message = ""
	}
	s.compareWithNode(t, snippets, "compat-differences.txt")
}

// OwnCode compares our own corpus with what record.mjs saw; it needs no Node.
func (s Suite) OwnCode(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(s.Testdata, "compat", "*.json"))
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
	s.compareWithNode(t, all, "own-differences.txt")
}

// tally is what became of a group's snippets.
type tally struct{ same, all int }

func (s Suite) compareWithNode(t *testing.T, snippets []snippet, differences string) {
	t.Helper()
	known := readIDs(t, filepath.Join(s.Testdata, differences))
	pool := s.Pool(t, sandbox.Config{})
	total, groups := tally{}, map[string]tally{}
	for _, snip := range snippets {
		result, err := pool.Eval(t.Context(), Raw(snip.Body), sandbox.Args{Raw: snip.Args})
		group, _, _ := strings.Cut(snip.ID, "/")
		count := groups[group]
		listed := slices.Contains(known, snip.ID)
		switch {
		case snip.is(result, err):
			total.same++
			count.same++
			if listed {
				t.Errorf("%s: as in Node now; take it off the list", snip.ID)
			}
		case !listed:
			t.Errorf("%s: gave %s %v, Node %s %s %s", snip.ID, result.Value, err, snip.Node.Type, snip.Node.Value, snip.Node.Message)
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
