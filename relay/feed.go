package relay

import (
	"bytes"
	"io"
	"math"
	"sync"
	"sync/atomic"
)

// never is the number of a line that no host reaches.
const never = math.MaxInt64

// feed is what the host says on its way to an upstream, which can be exchanged for
// another between two lines. It counts lines: a request belongs to the upstream that
// got any of its line, since that may have run it.
type feed struct {
	mayReturn bool // when the upstream has ended, another may come
	// lost is the number of the first line that did not go to an upstream that is gone.
	lost atomic.Int64

	mu     sync.Mutex // guards all below, and writing
	change *sync.Cond
	seam
	broken bool // the upstream takes nothing more
	over   bool // and there will be no other
	skip   bool // the line under way began at an upstream that is gone
	lines  int64
}

func newFeed(to io.Writer, mayReturn bool) *feed {
	f := &feed{mayReturn: mayReturn, seam: seam{to: to}}
	f.change = sync.NewCond(&f.mu)
	return f
}

// Write passes a piece of the host's stream on. It takes everything: what no
// upstream takes is dropped. Between two upstreams it waits.
func (f *feed) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	size := len(b)
	for len(b) > 0 {
		for f.broken && f.mayReturn && !f.over {
			f.change.Wait()
		}
		if f.broken {
			break
		}
		n, err := f.passLocked(b)
		b, f.broken = b[n:], err != nil
	}
	return size, nil
}

// passLocked writes b, but of a line that began at another upstream nothing.
func (f *feed) passLocked(b []byte) (n int, err error) {
	switch {
	case f.skip:
		n = bytes.IndexByte(b, '\n') + 1
		if f.skip = n == 0; f.skip {
			n = len(b)
		}
	default:
		n, err = f.seam.Write(b)
	}
	if f.mayReturn { // the count is of no use otherwise
		f.lines += int64(bytes.Count(b[:n], []byte{'\n'}))
	}
	return n, err
}

// insert puts a line of ours into the stream. It waits while the upstream does not
// read.
func (f *feed) insert(line []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken {
		return io.ErrClosedPipe
	}
	return f.seam.insert(line)
}

// cut says that the upstream has ended and another may come.
func (f *feed) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = true
	f.skip = f.skip || f.midLine
	lost := f.lines
	if f.skip {
		lost++
	}
	f.lost.Store(lost)
}

// resume goes on with another upstream.
func (f *feed) resume(to io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seam = seam{to: to}
	f.broken = false
	f.change.Broadcast()
}

// giveUp says that no upstream will answer any more. It takes no lock: a write to an
// upstream that does not read may hold it.
func (f *feed) giveUp() { f.lost.Store(never) }

// isOver says whether giveUp was called.
func (f *feed) isOver() bool { return f.lost.Load() == never }

// close lets go of a writer that waits for another upstream.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken, f.over = true, true
	f.change.Broadcast()
}

// isLost says whether a line went, or would go, to an upstream that is gone.
func (f *feed) isLost(line int64) bool { return line < f.lost.Load() }
