package recorder

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

func TestIDsAreDifferentAndSort(t *testing.T) {
	const makers, each = 8, 500
	made := make([][]string, makers)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			for range each {
				made[i] = append(made[i], NewID("step"))
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, ids := range made {
		if !slices.IsSorted(ids) {
			t.Error("ids of one maker are not in the order they were made")
		}
		for _, id := range ids {
			if seen[id] || !strings.HasPrefix(id, "step_") || len(id) != len("step_")+36 {
				t.Fatalf("id %q", id)
			}
			seen[id] = true
		}
	}
}

func TestQualifiedNameHasNoOddCharacter(t *testing.T) {
	if got := QualifiedName("my fleet", "read.file-é"); got != "mcp__my_fleet__read_file-_" {
		t.Errorf("got %s", got)
	}
}

func BenchmarkNewID(b *testing.B) {
	for b.Loop() {
		NewID("step")
	}
}

func TestAnIDIsAPrefixAndAUUIDv7(t *testing.T) {
	id := NewID("run")
	parsed, err := uuid.Parse(strings.TrimPrefix(id, "run_"))
	if err != nil || parsed.Version() != 7 || id != "run_"+parsed.String() {
		t.Errorf("id %q: %v", id, err)
	}
}
