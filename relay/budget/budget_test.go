package budget

import (
	"context"
	"sync"
	"testing"
	"time"
)

func TestOneMessageMayGoBeyond(t *testing.T) {
	b := New(1 << 20)
	one, two, three := Lease{Of: b}, Lease{Of: b}, Lease{Of: b}
	ctx := t.Context()
	for _, step := range []struct {
		l     *Lease
		bytes int
	}{{&one, 100 << 10}, {&one, 800 << 10}, {&two, freeBytes}, {&two, 10 << 20}, {&two, 20 << 20}} {
		if err := step.l.Grow(ctx, step.bytes); err != nil {
			t.Fatal(err)
		}
	}
	hurried, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if three.Grow(hurried, 500<<10) == nil {
		t.Fatal("a third message had memory that is not there")
	}
	got := make(chan error)
	go func() { got <- three.Grow(ctx, 500<<10) }()
	one.End()
	if err := <-got; err != nil {
		t.Error(err)
	}
	two.End()
	three.End()
	if b.free != 1<<20 || len(b.beyond) != 0 {
		t.Errorf("%d bytes are free, %d beyond", b.free, len(b.beyond))
	}
}

func TestManyMessagesAllComeToTheirEnd(t *testing.T) {
	b := New(1 << 20)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			l := Lease{Of: b}
			for range 20 {
				for size := 50 << 10; size < 2<<20; size *= 2 {
					if err := l.Grow(t.Context(), size); err != nil {
						t.Error(err)
					}
				}
				l.End()
			}
		})
	}
	all.Wait()
	if b.free != 1<<20 || len(b.beyond) != 0 {
		t.Errorf("%d bytes are free, %d beyond", b.free, len(b.beyond))
	}
}
