package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox"
)

// corpora are kept beside the checkout, not in it.
const corporaFolder = "shared/corpora"

// readCorpus reads a corpus from the first folder above this one that has corpora
// in or beside it.
func readCorpus[T any](t *testing.T, name string) []T {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, corporaFolder, name))
		if err == nil {
			var entries []T
			if err := json.Unmarshal(data, &entries); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return entries
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skipf("no %s/%s in a folder above: this corpus is not checked here", corporaFolder, name)
		}
		dir = parent
	}
}

// orderedArgs reads an object's keys in their order: a corpus names a body's
// parameters that way.
type orderedArgs []sandbox.Arg

func (a *orderedArgs) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		*a = append(*a, sandbox.Arg{Name: fmt.Sprint(name), Value: value})
	}
	return nil
}

// sameJSON compares values, not text: keys in any order, numbers by value.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	xs, _ := json.Marshal(x)
	ys, _ := json.Marshal(y)
	return bytes.Equal(xs, ys)
}

// readIDs reads a list of ids, one a line, with comments.
func readIDs(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for line := range strings.Lines(string(data)) {
		if id := strings.TrimSpace(line); id != "" && !strings.HasPrefix(id, "#") {
			ids = append(ids, id)
		}
	}
	if !slices.IsSorted(ids) {
		t.Errorf("%s is not sorted", name)
	}
	return ids
}
