package sandbox_test

import (
	"encoding/json"
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
}

type nodeResult struct {
	Type  string          `json:"type"` // value, undefined or error
	Value json.RawMessage `json:"value"`
	Name  string          `json:"name"`
}

// TestOrdinaryCodeRunsAsInNode holds the list of known differences: a new one
// fails, and so does one that is gone and still listed.
func TestOrdinaryCodeRunsAsInNode(t *testing.T) {
	snippets := readCorpus[snippet](t, "jscompat-public.json")
	known := readIDs(t, "compat-differences.txt")
	pool := newPool(t, sandbox.Config{})
	same := 0
	for _, s := range snippets {
		result, err := pool.Eval(t.Context(), raw(s.Body), sandbox.Args{Raw: s.Args})
		isSame := s.Node.is(result, err) || s.Node24 != nil && s.Node24.is(result, err)
		listed := slices.Contains(known, s.ID)
		switch {
		case isSame:
			same++
			if listed {
				t.Errorf("%s: as in Node now; take it off the list", s.ID)
			}
		case !listed:
			t.Errorf("%s: gave %s %v, Node %s %s %s", s.ID, result.Value, err, s.Node.Type, s.Node.Value, s.Node.Name)
		}
	}
	t.Logf("%d of %d as in Node", same, len(snippets))
}

func (n nodeResult) is(result sandbox.Result, err error) bool {
	switch {
	case n.Type == "error":
		return err != nil && (n.Name == "rejected" || strings.HasPrefix(err.Error(), n.Name))
	case err != nil:
		return false
	case n.Type == "undefined":
		return string(result.Value) == "null"
	}
	return sameJSON(n.Value, result.Value)
}
