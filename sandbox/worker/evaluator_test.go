package worker

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is too large for any machine, and what is broken, are told apart: the second is
// nobody's fault but ours.
func TestAPanicIsMemoryOnlyWhereItIsOfASize(t *testing.T) {
	e := New(Limits{MemoryBytes: 64 << 20, ResultBytes: 1 << 20})
	n := -1
	for name, tt := range map[string]struct {
		panics func()
		want   string
	}{
		"size":  {func() { _ = make([]byte, n) }, typeMemory},
		"index": {func() { _ = []byte{}[n] }, typeSandbox},
		"words": {func() { panic("makeslice: ") }, typeSandbox},
	} {
		var got string
		func() {
			defer func() { got = e.broken(recover()).Type }()
			tt.panics()
		}()
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
