//go:build linux

package claude

import (
	"slices"
	"sync"
	"time"
)

// patience is how long a test waits for something that must come. Other suites may
// load the machine.
const patience = 2 * time.Minute

// feed is a list that grows and can be waited for.
type feed[T any] struct {
	mu    sync.Mutex
	items []T
	ended bool
	news  chan struct{} // closed at the next change; nil while nobody waits
}

func (f *feed[T]) add(items ...T) { f.change(func() { f.items = append(f.items, items...) }) }

// end says that nothing more will come.
func (f *feed[T]) end() { f.change(func() { f.ended = true }) }

func (f *feed[T]) change(apply func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	apply()
	if f.news != nil {
		close(f.news)
		f.news = nil
	}
}

// all is what there is.
func (f *feed[T]) all() []T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.items)
}

// await waits until enough holds of what there is. It is false where that will not be,
// or takes too long.
func (f *feed[T]) await(enough func([]T) bool) bool { return f.within(patience, enough) }

func (f *feed[T]) within(limit time.Duration, enough func([]T) bool) bool {
	deadline := time.After(limit)
	for {
		ok, over, news := f.look(enough)
		if ok || over {
			return ok
		}
		select {
		case <-news:
		case <-deadline:
			return false
		}
	}
}

func (f *feed[T]) look(enough func([]T) bool) (ok, over bool, news <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.news == nil {
		f.news = make(chan struct{})
	}
	return enough(f.items), f.ended, f.news
}

// over waits for the end. It is false where that takes too long.
func (f *feed[T]) over(limit time.Duration) bool {
	_ = f.within(limit, func([]T) bool { return false })
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}
